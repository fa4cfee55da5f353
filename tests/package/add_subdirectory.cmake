# The same consumer with Plait's source as a subdirectory. The interpreter alone and no optimisation keep this short.
function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()
run(${CMAKE_COMMAND} -S ${SOURCE}/tests/package/consumer -B ${WORK}/subdirectory -G Ninja -DCMAKE_CXX_COMPILER=${CXX}
    -DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER} -DCMAKE_BUILD_TYPE=Debug -DPLAIT_LLVM=OFF -DPLAIT_SOURCE=${SOURCE})
run(${CMAKE_COMMAND} --build ${WORK}/subdirectory --target consumer)
run(${WORK}/subdirectory/consumer)
