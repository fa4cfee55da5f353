# Each public header compiles alone as C++17 without a warning; prints what plait/plait.hpp costs a translation unit.
file(GLOB headers RELATIVE ${SOURCE}/include ${SOURCE}/include/plait/*.hpp ${SOURCE}/include/plait/detail/*.hpp)
set(flags -std=c++17 -Wall -Wextra -Wpedantic -Wconversion -Wdeprecated-copy -Werror -I${SOURCE}/include -I${GENERATED})
foreach(header IN LISTS headers)
  if(header MATCHES "xtensor")
    execute_process(COMMAND ${CXX} -E -x c++ -include xtensor/xarray.hpp /dev/null OUTPUT_QUIET ERROR_QUIET RESULT_VARIABLE absent)
    if(absent)
      continue()
    endif()
  endif()
  file(WRITE ${WORK}/header.cpp "#include <${header}>\n#include <${header}>\n")
  execute_process(COMMAND ${CXX} ${flags} -fsyntax-only ${WORK}/header.cpp COMMAND_ERROR_IS_FATAL ANY)
  foreach(banned llvm cuda pybind11 omp.h xtensor tracer)
    execute_process(COMMAND ${CXX} ${flags} -M ${WORK}/header.cpp OUTPUT_VARIABLE included)
    string(REPLACE "${SOURCE}" "" included "${included}")
    if(included MATCHES "/${banned}" AND NOT header MATCHES "xtensor")
      message(FATAL_ERROR "${header} includes ${banned}")
    endif()
  endforeach()
endforeach()

# Nor do the templates warn, of any element type.
execute_process(COMMAND ${CXX} ${flags} -fsyntax-only ${SOURCE}/tests/package/warnings.cpp COMMAND_ERROR_IS_FATAL ANY)

# Where the library has std::format, it takes arrays.
file(WRITE ${WORK}/format.cpp [[
#include <plait/io.hpp>
#include <plait/plait.hpp>
#ifdef __cpp_lib_format
std::string text(plait::array<double> a, plait::array<bool> m, const plait::array<float>& b) {
  return std::format("{} {:.3} {} {} {} {}", a, a, plait::view(a, 0), a[m], a.dtype(), plait::view(b, 0));
}
#endif
]])
execute_process(COMMAND ${CXX} -std=c++20 -Wall -Wextra -Werror -I${SOURCE}/include -I${GENERATED} -fsyntax-only ${WORK}/format.cpp COMMAND_ERROR_IS_FATAL ANY)

# The sample of the page compiles.
file(READ ${SOURCE}/docs/precision.md page)
if(NOT page MATCHES "```cpp\n([^`]*)```")
  message(FATAL_ERROR "docs/precision.md has no sample in C++")
endif()
file(WRITE ${WORK}/sample.cpp "${CMAKE_MATCH_1}")
execute_process(COMMAND ${CXX} ${flags} -fsyntax-only ${WORK}/sample.cpp COMMAND_ERROR_IS_FATAL ANY)

# What is refused, in a message that one can read.
foreach(mistake [[a + "x"]] [[where(a > 0, a, "x")]] [[a * std::vector<double>(3)]] [[printf("%f", a(0))]] [[a.data() + view(a, k).data()]] [[a = 0]] [[dot(cast<bfloat16>(a), cast<float8_e4m3fn>(a))]]
                [[a & a]] [[a += "x"]] [[k &= a]] [[a[k] &= 1]] [[~a]] [[array<int>{1.5}]] [=[a[1][2]]=] [[random::engine().integers<double>(0, 9, {3})]])
  file(WRITE ${WORK}/mistake.cpp "#include <cstdio>\n#include <plait/plait.hpp>\nvoid f(plait::array<double> a, plait::array<std::int64_t> k) {\n  using namespace plait;\n  (void)k;\n  (void)(${mistake});\n}\n")
  execute_process(COMMAND ${CXX} -std=c++17 -I${SOURCE}/include -I${GENERATED} -fsyntax-only ${WORK}/mistake.cpp RESULT_VARIABLE refused ERROR_VARIABLE text)
  string(REGEX MATCHALL "\n" lines "${text}")
  list(LENGTH lines lines)
  if(NOT refused OR lines GREATER 20)
    message(FATAL_ERROR "${mistake}: it compiles, or the message is too long (${lines} lines)\n${text}")
  endif()
endforeach()

file(WRITE ${WORK}/time.cpp "#include <plait/plait.hpp>\n")
# CPU seconds, because the machine may be busy.
execute_process(
  COMMAND bash -c "TIMEFORMAT='%U + %S s'; time ${CXX} -std=c++17 -I${SOURCE}/include -I${GENERATED} -c ${WORK}/time.cpp -o ${WORK}/time.o"
  ERROR_VARIABLE taken OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
string(STRIP "${taken}" taken)
message("a translation unit with plait/plait.hpp compiles in ${taken} (limit 0.5 s)")
