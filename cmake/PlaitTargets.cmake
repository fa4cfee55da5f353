find_package(Threads REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS CXX)

# plait_layer(name SOURCES ... LINKS ...): an object library of one layer. Layers become one shared library, plait::plait.
# Sections: what a library does not use of its layers is left out of it.
set(PLAIT_FLAGS -ffunction-sections -fdata-sections -Wall -Wextra -Wno-missing-field-initializers -Wno-restrict -ffp-contract=off -fno-math-errno
                -fsigned-char)
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  list(APPEND PLAIT_FLAGS -Wno-unknown-warning-option -Wno-unknown-pragmas)
endif()
# For code that includes xtensor: since version 19 Clang finds its specialisations for containers ambiguous.
set(PLAIT_XTENSOR_FLAGS "")
if(CMAKE_CXX_COMPILER_ID MATCHES Clang AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 19)
  set(PLAIT_XTENSOR_FLAGS -fno-relaxed-template-template-args -Wno-deprecated-no-relaxed-template-template-args)
endif()
set(PLAIT_SANITIZE_FLAGS "")
if(PLAIT_SANITIZE)
  set(PLAIT_SANITIZE_FLAGS -fsanitize=${PLAIT_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
endif()
# Of what is compiled once a CPU tier. Sanitized tests run it, too, and would wait for it where it is not optimised at all.
if(PLAIT_SANITIZE)
  set(PLAIT_KERNEL_FLAGS -O1)
else()
  set(PLAIT_KERNEL_FLAGS $<$<NOT:$<CONFIG:Debug>>:-O3>)
endif()
# Nothing is thrown through a kernel.
list(APPEND PLAIT_KERNEL_FLAGS -fno-asynchronous-unwind-tables)
list(APPEND PLAIT_KERNEL_FLAGS -fno-strict-aliasing)  # memory is typed by the caller's dtype only

# Named as the folders are that say what differs from processor to processor.
set(PLAIT_PROCESSOR ${CMAKE_SYSTEM_PROCESSOR})
if(PLAIT_PROCESSOR MATCHES "^(AMD64|amd64)$")
  set(PLAIT_PROCESSOR x86_64)
elseif(PLAIT_PROCESSOR STREQUAL arm64)
  set(PLAIT_PROCESSOR aarch64)
endif()
string(TOLOWER ${CMAKE_SYSTEM_NAME} PLAIT_SYSTEM)
if(NOT EXISTS ${CMAKE_CURRENT_LIST_DIR}/../src/core/os/${PLAIT_SYSTEM})
  message(FATAL_ERROR "Plait does not run on ${CMAKE_SYSTEM_NAME}: docs/platforms.md says what stands in the way")
endif()
include(processor/${PLAIT_PROCESSOR} OPTIONAL RESULT_VARIABLE known)
if(NOT known)
  message(FATAL_ERROR "Plait does not know the processor ${PLAIT_PROCESSOR}: docs/platforms.md says what it has to be told")
endif()

# Of shared objects: unused sections are left out, and where the C library knows the format, which older ones fail to load, the
# many addresses in LLVM's tables take a bit each and not 24 bytes.
include(CheckCXXSourceCompiles)
set(PLAIT_SHARED_FLAGS LINKER:--gc-sections)
set(CMAKE_REQUIRED_LINK_OPTIONS LINKER:-z,pack-relative-relocs)
check_cxx_source_compiles("#include <features.h>
#if !defined(__GLIBC__) || !__GLIBC_PREREQ(2, 36)
#error
#endif
int main() {}" PLAIT_RELATIVE_RELOCATIONS)
unset(CMAKE_REQUIRED_LINK_OPTIONS)
if(PLAIT_RELATIVE_RELOCATIONS)
  list(APPEND PLAIT_SHARED_FLAGS LINKER:-z,pack-relative-relocs)
endif()

function(plait_configure target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_compile_options(${target} PRIVATE ${PLAIT_FLAGS} ${PLAIT_SANITIZE_FLAGS})
  target_link_options(${target} PRIVATE ${PLAIT_SANITIZE_FLAGS})
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden
                                             VISIBILITY_INLINES_HIDDEN ON UNITY_BUILD ${PLAIT_UNITY})
endfunction()

# For targets that have checks to switch on; the others compile the same either way.
function(plait_checked target)
  if(PLAIT_CHECKS)
    target_compile_definitions(${target} PRIVATE PLAIT_CHECKS)
  endif()
endfunction()

function(plait_layer name)
  cmake_parse_arguments(L "" "" "SOURCES;LINKS" ${ARGN})
  if(NOT L_SOURCES)
    file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/empty.cpp "")
    set(L_SOURCES ${CMAKE_CURRENT_BINARY_DIR}/empty.cpp)
  endif()
  add_library(${name} OBJECT ${L_SOURCES})
  plait_configure(${name})
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(${name} PUBLIC ${L_LINKS})
  set_property(GLOBAL APPEND PROPERTY PLAIT_LAYERS ${name})
endfunction()

# plait_library(name OBJECTS layers... EXPORTS map.in): what applications link, a shared library, or an archive where
# BUILD_SHARED_LIBS is off. An object library gives its objects only to the target that names it, so every layer is named.
set(PLAIT_STATIC OFF)
if(DEFINED BUILD_SHARED_LIBS AND NOT BUILD_SHARED_LIBS)
  set(PLAIT_STATIC ON)
endif()
function(plait_library name)
  cmake_parse_arguments(L "" "EXPORTS" "OBJECTS" ${ARGN})
  if(PLAIT_STATIC)
    # One object, in which replaceable functions have been replaced: in an archive the linker takes the first that it finds.
    set(objects ${L_OBJECTS})
    list(TRANSFORM objects REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>")
    set(one ${CMAKE_CURRENT_BINARY_DIR}/${name}.o)
    add_custom_command(OUTPUT ${one} DEPENDS ${L_OBJECTS} ${objects} COMMAND_EXPAND_LISTS VERBATIM
                       COMMAND ${CMAKE_CXX_COMPILER} -r -nostdlib -o ${one} ${objects})
    add_library(${name} STATIC ${one})
    target_link_options(${name} INTERFACE ${PLAIT_SANITIZE_FLAGS} LINKER:--gc-sections)
    target_link_libraries(${name} INTERFACE OpenMP::OpenMP_CXX Threads::Threads ${CMAKE_DL_LIBS})
  else()
    # Symbols carry the version up to which programs are compatible (docs/abi.md).
    set(ABI ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
    set(exports ${CMAKE_CURRENT_BINARY_DIR}/${name}.map)
    configure_file(${L_EXPORTS} ${exports} @ONLY)
    add_library(${name} SHARED)
    target_link_libraries(${name} PRIVATE ${L_OBJECTS} ${CMAKE_DL_LIBS})
    # Its helper threads sleep inside it until the process ends.
    target_link_options(${name} PRIVATE ${PLAIT_SANITIZE_FLAGS} ${PLAIT_SHARED_FLAGS} LINKER:-z,nodelete LINKER:--version-script=${exports})
    set_target_properties(${name} PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${ABI}
                                             LINK_DEPENDS ${exports} INSTALL_RPATH "$ORIGIN")
  endif()
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)
  if(PLAIT_INSTALL)
    install(TARGETS ${name} EXPORT plaitTargets COMPONENT plait
            LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT plait NAMELINK_COMPONENT plait
            ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT plait
            RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT plait)
  endif()
endfunction()
