// The build id tells the emitters of two builds apart, whatever the size and time of their files.
#include "codegen/llvm/build_id.hpp"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "codegen/llvm/backend.hpp"

using namespace plait;
namespace fs = std::filesystem;

namespace {

std::string content(const fs::path& p) {
  std::ifstream f(p, std::ios::binary);
  return {std::istreambuf_iterator<char>(f), {}};
}

class File {
 public:
  File() {
    char name[] = "/tmp/plait_build_id_XXXXXX";
    close(mkstemp(name));
    path = name;
  }
  ~File() { fs::remove(path); }
  void write(const std::string& bytes) const { std::ofstream(path, std::ios::binary) << bytes; }
  fs::path path;
};

std::string unhex(const std::string& hex) {
  std::string s;
  for (std::size_t i = 0; i < hex.size(); i += 2)
    s += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return s;
}

}  // namespace

#ifdef PLAIT_TEST_MODULE
TEST_CASE("the build id is the note of the file, and part of the cache's key") {
  const std::string id = jit::build_id(PLAIT_TEST_MODULE);
  CHECK(id.size() == 40);
  CHECK(jit::module_identity().ends_with(id));

  // Another build of the same size.
  const std::string bytes = content(PLAIT_TEST_MODULE), note = unhex(id);
  const std::size_t at = bytes.find(note);
  REQUIRE(at != std::string::npos);
  File copy;
  copy.write(bytes);
  CHECK(jit::build_id(copy.path) == id);
  std::string other = bytes;
  other[at] = static_cast<char>(other[at] ^ 1);
  copy.write(other);
  CHECK(jit::build_id(copy.path).size() == 40);
  CHECK(jit::build_id(copy.path) != id);

  // Cut off anywhere in front of the note it has none.
  for (std::size_t size = 0; size < at + note.size(); ++size) {
    copy.write(bytes.substr(0, size));
    REQUIRE(jit::build_id(copy.path).empty());
  }
}
#endif

TEST_CASE("files that are no shared object have no build id") {
  CHECK(jit::build_id("/nowhere/libplait_jit.so").empty());
  CHECK(jit::build_id("/tmp").empty());
  File f;
  CHECK(jit::build_id(f.path).empty());
  f.write(std::string(4096, 'x'));
  CHECK(jit::build_id(f.path).empty());
  f.write(
      "\x7f"
      "ELF" +
      std::string(4096, '\xff'));
  CHECK(jit::build_id(f.path).empty());
}
