# The Python package as a wheel installs it: the extension, and beside it what it needs at run time where no compiler and
# no LLVM are. The extension looks for its libraries in its own folder first.
add_custom_target(python_package DEPENDS _plait)
set_target_properties(_plait PROPERTIES INSTALL_RPATH "$ORIGIN")
if(TARGET plait_llvm)
  add_dependencies(python_package plait_llvm)
  install(TARGETS plait_llvm LIBRARY DESTINATION plait COMPONENT python)
endif()
if(SKBUILD)
  # GCC's OpenMP run time is not part of a bare system.
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libgomp.so.1 OUTPUT_VARIABLE libgomp OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(EXISTS "${libgomp}")
    file(REAL_PATH ${libgomp} libgomp)
    install(FILES ${libgomp} DESTINATION plait COMPONENT python RENAME libgomp.so.1)
  endif()
endif()
