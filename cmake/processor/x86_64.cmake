# The tiers that kernels are compiled for (src/core/processor/x86_64/tiers.hpp), and LLVM's name of the target.
set(PLAIT_LLVM_TARGET X86)
set(PLAIT_TIERS baseline avx2 avx512)
set(PLAIT_FLAGS_baseline -march=x86-64-v2)
set(PLAIT_FLAGS_avx2 -march=x86-64-v3)
set(PLAIT_FLAGS_avx512 -march=x86-64-v4 -mprefer-vector-width=512)
# GCC 12 fuses the products of complex arithmetic in spite of -ffp-contract=off where the target has FMA.
set(PLAIT_FLAGS_avx2_complex -march=x86-64-v3 -mno-fma)
# What no wider vectors help is compiled once and shared.
set(PLAIT_NOT_FOR_avx2 complex_math)
set(PLAIT_NOT_FOR_avx512 complex_math complex)  # codegen/loops/processor/x86_64/shared.cpp
