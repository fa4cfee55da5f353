# The port of the checkout that it lies in; a registry's would fetch a release.
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)
# BUILD_SHARED_LIBS is what the triplet says. Of the JIT asked for and LLVM not found, an error.
set(llvm OFF)
if("jit" IN_LIST FEATURES)
  set(llvm REQUIRED)
endif()
vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}" OPTIONS -DPLAIT_LLVM=${llvm} -DPLAIT_TESTS=OFF -DPLAIT_SAMPLES=OFF)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/plait)
vcpkg_fixup_pkgconfig()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
