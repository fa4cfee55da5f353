# Toolchain: Debian's cross compiler, with libraries of arm64 unpacked into PLAIT_SYSROOT; qemu runs what is built.
# scripts/aarch64.sh makes that folder.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES PLAIT_SYSROOT)
set(PLAIT_SYSROOT ${CMAKE_CURRENT_LIST_DIR}/../build-aarch64/sysroot CACHE PATH "Unpacked packages of arm64")
set(CMAKE_FIND_ROOT_PATH ${PLAIT_SYSROOT} /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE BOTH)  # headers alone, Catch2, are the same for all
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE BOTH)
set(libraries ${PLAIT_SYSROOT}/usr/lib/aarch64-linux-gnu)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static -cpu neoverse-n1 -L /usr/aarch64-linux-gnu
    -E LD_LIBRARY_PATH=${libraries}:${PLAIT_SYSROOT}/lib/aarch64-linux-gnu:${libraries}/openblas-pthread)
# llvm-config of this machine names LLVM's archives; those of the target are here.
set(PLAIT_LLVM_ROOT ${PLAIT_SYSROOT}/usr/lib/llvm-19 CACHE PATH "LLVM of the target")
set(CMAKE_CXX_FLAGS_INIT "-idirafter ${PLAIT_SYSROOT}/usr/include")  # Python's
foreach(kind EXE SHARED MODULE)
  set(CMAKE_${kind}_LINKER_FLAGS_INIT -L${libraries})
endforeach()
