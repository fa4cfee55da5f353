# As x86_64.cmake.
set(PLAIT_LLVM_TARGET AArch64)
set(PLAIT_TIERS baseline)
set(PLAIT_FLAGS_baseline -march=armv8-a)
