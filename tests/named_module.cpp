// Programs linked from the layers themselves have no library that the module with LLVM inside could
// lie beside: they are told where the build has put it.
#include <cstdlib>

static const int named = setenv("PLAIT_JIT_LIBRARY", PLAIT_TEST_MODULE, 0);
