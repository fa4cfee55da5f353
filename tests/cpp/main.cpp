#include "programs.hpp"

int main() {
  int failed = 0, run = 0;
  for (const auto* programs : {
           &simulations(),
           &statistics(),
           &images(),
           &series(),
           &embeddings(),
           &physics(),
           &signals(),
           &learning(),
           &tables(),
           &strangers(),
           &ports(),
           &values(),
#ifdef PLAIT_TEST_XTENSOR
           &xtensor_programs(),
#endif
       })
    for (const Program& program : *programs) try {
        ++run;
        program.run();
      } catch (const std::exception& error) {
        ++failed;
        std::printf("%s: %s\n", program.name, error.what());
      }
  std::printf("%d programs, %d failed\n", run, failed);
  return failed == 0 && run >= 104 ? 0 : 1;
}
