// Where libraries are looked for: folders laid out as toolkits, wheels and conda lay them out.
#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "codegen/cuda/cuda.hpp"
#include "codegen/cuda/nvrtc.hpp"
#include "codegen/cuda/search.hpp"
#include "engine/cuda/cublaslt.hpp"

using namespace plait::cuda;
namespace fs = std::filesystem;

namespace {

constexpr const char* kVariables[] = {"CUDA_HOME",    "CUDA_PATH", "VIRTUAL_ENV",
                                      "CONDA_PREFIX", "HOME",      "PLAIT_TEST_LIBRARY"};

// An empty folder, with none of the variables set.
class Place {
 public:
  Place() {
    std::string folder = (fs::temp_directory_path() / "plait_search_XXXXXX").string();
    REQUIRE(mkdtemp(folder.data()));
    root = folder;
    for (const char* v : kVariables) unsetenv(v);
  }
  ~Place() {
    for (const char* v : kVariables) unsetenv(v);
    fs::remove_all(root);
  }
  // A library there: NVRTC's double under another name.
  fs::path put(const std::string& path) const {
    fs::create_directories((root / path).parent_path());
    fs::copy_file(PLAIT_FAKE_NVRTC, root / path);
    return root / path;
  }
  void set(const char* variable, const std::string& path = "") const {
    setenv(variable, (root / path).c_str(), 1);
  }
  fs::path root;
};

const char* const kName = "libplait_wanted.so.13";
Found find() {
  return find_library("PLAIT_TEST_LIBRARY", {"libplait_wanted.so.13", "libplait_wanted.so.12"},
                      [](void* l) { return dlsym(l, "nvrtcVersion") ? "" : "it lacks functions"; });
}

}  // namespace

TEST_CASE("every layout of toolkits, wheels and conda") {
  struct Layout {
    const char *variable, *root, *path;
  };
  for (const Layout l :
       {Layout{"CUDA_HOME", "cuda", "cuda/lib64"},
        {"CUDA_PATH", "cuda", "cuda/lib"},
        {"CUDA_HOME", "cuda", "cuda/targets/x86_64-linux/lib"},
        {"VIRTUAL_ENV", "venv", "venv/lib/python3.11/site-packages/nvidia/cu13/lib"},
        {"VIRTUAL_ENV", "venv", "venv/lib/python3.13/site-packages/nvidia/cuda_nvrtc/lib"},
        {"CONDA_PREFIX", "conda", "conda/lib"},
        {"CONDA_PREFIX", "conda", "conda/targets/x86_64-linux/lib"},
        {"CONDA_PREFIX", "conda", "conda/lib/python3.12/site-packages/nvidia/cublas/lib"},
        {"HOME", "me", "me/.local/lib/python3.11/site-packages/nvidia/cu13/lib"}})
    for (const char* name : {"libplait_wanted.so.13", "libplait_wanted.so.12"}) {
      const Place place;
      const fs::path file = place.put(std::string(l.path) + "/" + name);
      CHECK_FALSE(find().handle);
      place.set(l.variable, l.root);
      INFO(file);
      const Found f = find();
      CHECK(f.handle);
      CHECK(f.path == file);
      if (f.handle) dlclose(f.handle);
    }
}

TEST_CASE("the newest of a folder, the toolkit that is named, and the file that is named") {
  const Place place;
  place.put("cuda/lib64/libplait_wanted.so.12");
  const fs::path newest = place.put("cuda/lib64/libplait_wanted.so.13");
  const fs::path wheel =
      place.put("venv/lib/python3.11/site-packages/nvidia/cuda_nvrtc/lib/libplait_wanted.so.13");
  const fs::path other = place.put("elsewhere.so");
  place.set("VIRTUAL_ENV", "venv");
  CHECK(find().path == wheel);
  place.set("CUDA_HOME", "cuda");
  CHECK(find().path == newest);
  place.set("PLAIT_TEST_LIBRARY", "elsewhere.so");
  CHECK(find().path == other);
  place.set("PLAIT_TEST_LIBRARY", "nowhere.so");  // and nothing else
  const Found f = find();
  CHECK_FALSE(f.handle);
  CHECK_THAT(f.why, Catch::Contains("PLAIT_TEST_LIBRARY") && Catch::Contains("nowhere.so"));
}

TEST_CASE("cu13's wheels come before those with a library each") {
  const Place place;
  const std::string wheels = "venv/lib/python3.11/site-packages/nvidia/";
  place.put(wheels + "cuda_nvrtc/lib/libplait_wanted.so.12");
  const fs::path newest = place.put(wheels + "cu13/lib/libplait_wanted.so.13");
  place.set("VIRTUAL_ENV", "venv");
  CHECK(find().path == newest);
}

TEST_CASE("what is found but cannot serve is named, and the search goes on") {
  const Place place;
  const fs::path good =
      place.put("venv/lib/python3.11/site-packages/nvidia/cu13/lib/" + std::string(kName));
  fs::create_directories(place.root / "cuda/lib64");
  std::ofstream(place.root / "cuda/lib64" / kName) << "no library";
  place.set("CUDA_HOME", "cuda");
  const Found none = find();
  CHECK_FALSE(none.handle);
  CHECK_THAT(none.why, Catch::Contains((place.root / "cuda/lib64" / kName).string()) &&
                           Catch::Contains("libplait_wanted.so.12") &&
                           Catch::Contains((place.root / "cuda/lib64").string()) &&
                           Catch::Contains("system's library path"));
  place.set("VIRTUAL_ENV", "venv");
  CHECK(find().path == good);
  const Found lacks =
      find_library("PLAIT_TEST_LIBRARY", {kName}, [](void*) { return "it lacks functions"; });
  CHECK_THAT(lacks.why, Catch::Contains("lacks functions"));
}

TEST_CASE("NVRTC is no newer than the driver, where there is one") {
  unsetenv("PLAIT_NVRTC_LIBRARY");
  const Place place;
  place.set("CUDA_HOME", "cuda");
  const fs::path newest = place.put("cuda/lib64/libnvrtc.so.13"),
                 older = place.put("cuda/lib64/libnvrtc.so.12");
  CHECK(nvrtc().path == newest);
  nvrtc_for_driver(13020);
  CHECK(nvrtc().path == newest);
  nvrtc_for_driver(12040);
  CHECK(nvrtc().path == older);
}

TEST_CASE("a cuBLASLt that lacks functions or does not start leaves its place to the next") {
  using namespace plait::gpu;
  const Place place;
  place.set("CUDA_HOME", "cuda");
  const fs::path lacks = place.put("cuda/lib64/libcublasLt.so.13");
  fs::create_directories(place.root / "cuda/lib");
  const fs::path broken = place.root / "cuda/lib/libcublasLt.so.13",
                 good = place.root / "cuda/lib/libcublasLt.so.12";
  fs::copy_file(PLAIT_FAKE_CUBLASLT, broken);
  fs::copy_file(PLAIT_FAKE_CUBLASLT, good);
  int started = 0;
  const auto start = [&](const lt::Library& l) {
    CHECK(l.multiply);
    return ++started == 1 ? "it does not start: status 1" : "";
  };
  const lt::Library l = lt::open(start);
  CHECK(l.found);
  CHECK(l.path == good);
  CHECK_THAT(l.tried, Catch::Contains(lacks.string() + ": it has no cublasLtCreate") &&
                          Catch::Contains(broken.string() + ": it does not start: status 1"));
}

// What the double cannot say: whether numbers and sizes of attributes are the library's own.
TEST_CASE("the real cuBLASLt, where it is, takes every attribute that Plait sets") {
  using namespace plait::gpu;
  const lt::Library l = lt::open([](const lt::Library&) { return ""; });
  if (!l.found) {
    std::cout << "skipped, cuBLASLt is missing: " << l.why << "\n";
    return;
  }
  lt::Description how = nullptr;
  REQUIRE(l.description_create(&how, lt::kCompute32F, lt::kR32F) == lt::kSuccess);
  for (int operand : {lt::kDescriptionTransA, lt::kDescriptionTransB})
    CHECK(l.description_set(how, operand, &lt::kTransposed, sizeof lt::kTransposed) == 0);
  CHECK(l.description_set(how, lt::kDescriptionEpilogue, &lt::kAddBias, sizeof lt::kAddBias) == 0);
  const void* bias = &l;
  CHECK(l.description_set(how, lt::kDescriptionBias, &bias, sizeof bias) == 0);
  lt::Layout layout = nullptr;
  REQUIRE(l.layout_create(&layout, lt::kR16F, 10, 20, 16) == lt::kSuccess);
  const std::int32_t count = 3;
  const std::int64_t step = 400;
  CHECK(l.layout_set(layout, lt::kLayoutBatchCount, &count, sizeof count) == 0);
  CHECK(l.layout_set(layout, lt::kLayoutBatchStride, &step, sizeof step) == 0);
  lt::Preference prefer = nullptr;
  REQUIRE(l.preference_create(&prefer) == lt::kSuccess);
  const std::size_t workspace = 1 << 20;
  const std::uint32_t alignment = 16;
  CHECK(l.preference_set(prefer, lt::kPreferWorkspace, &workspace, sizeof workspace) == 0);
  CHECK(l.preference_set(prefer, lt::kPreferReductions, &lt::kReduceInComputeType,
                         sizeof lt::kReduceInComputeType) == 0);
  for (int which :
       {lt::kPreferAlignmentA, lt::kPreferAlignmentB, lt::kPreferAlignmentC, lt::kPreferAlignmentD})
    CHECK(l.preference_set(prefer, which, &alignment, sizeof alignment) == 0);
  l.preference_destroy(prefer);
  l.layout_destroy(layout);
  l.description_destroy(how);
}
