# The library as an archive, and the sample application that links it, built as its page says, under AddressSanitizer and UBSan.
function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()
# In a folder beside the tests' build, so that what that compiled comes out of ccache.
set(compiler -G Ninja -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER})
file(REMOVE_RECURSE ${WORK}/static ${WORK}/application)
run(${CMAKE_COMMAND} -S ${SOURCE} -B ${SOURCE}/build-archive ${compiler} -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=OFF -DPLAIT_LLVM=OFF
    -DPLAIT_TESTS=OFF -DPLAIT_SAMPLES=OFF)
run(${CMAKE_COMMAND} --build ${SOURCE}/build-archive)
run(${CMAKE_COMMAND} --install ${SOURCE}/build-archive --component plait --prefix ${WORK}/static)
foreach(licence llvm gcc)  # of what is not in it
  if(EXISTS ${WORK}/static/share/doc/plait/${licence})
    message(FATAL_ERROR "${licence}'s licence was installed")
  endif()
endforeach()

run(${CMAKE_COMMAND} -S ${SOURCE}/samples/application -B ${WORK}/application ${compiler} -DCMAKE_PREFIX_PATH=${WORK}/static
    -DCMAKE_CXX_FLAGS=-fsanitize=address,undefined)
run(${CMAKE_COMMAND} --build ${WORK}/application)
run(${CMAKE_COMMAND} -E env LSAN_OPTIONS=suppressions=${WORK}/static/share/plait/sanitizers/lsan.supp:print_suppressions=0
    ${CMAKE_CTEST_COMMAND} --test-dir ${WORK}/application --output-on-failure)

# An exported program's runner in a program of C.
run(${CXX} -x c++ -std=c++17 ${SOURCE}/tests/package/consumer/runs.cpp -x none -I${WORK}/static/include -L${WORK}/static/lib -lplait_run
    -Wl,--gc-sections -fopenmp -ldl -o ${WORK}/application/runs)
run(${WORK}/application/runs)
