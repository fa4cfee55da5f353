// Links plait_run alone: a file that is none is an error that says so.
#include <cstdio>
#include <cstring>
#include <plait/load.hpp>

int main() {
  std::puts(plait_version());
  try {
    plait::load("/nowhere/kmeans.plait");
  } catch (const plait::Error& e) {
    std::puts(e.what());
    return std::strstr(e.what(), "/nowhere/kmeans.plait") ? 0 : 1;
  }
  return 1;
}
