# Installs the built library, then configures, builds and runs a consumer that knows only where it was installed.
function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()
file(REMOVE_RECURSE ${WORK}/prefix ${WORK}/find)
run(${CMAKE_COMMAND} --install ${BUILD} --component plait --prefix ${WORK}/prefix)
run(${CMAKE_COMMAND} -S ${SOURCE}/tests/package/consumer -B ${WORK}/find -G Ninja -DCMAKE_CXX_COMPILER=${CXX}
    -DCMAKE_CXX_STANDARD=17 -DCMAKE_PREFIX_PATH=${WORK}/prefix -DREADME=${SOURCE}/README.md)
run(${CMAKE_COMMAND} --build ${WORK}/find)
run(${WORK}/find/consumer)
run(${WORK}/find/readme)
