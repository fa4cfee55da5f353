// The disk cache: round trip, damage, strangers' entries, directories that cannot be used.
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "codegen/cache/disk_cache.hpp"
#include "run_kernel.hpp"

using namespace plait;
namespace fs = std::filesystem;

namespace {

class Directory {
 public:
  Directory() : saved_(config()) {
    char name[] = "/tmp/plait_cache_XXXXXX";
    path = mkdtemp(name);
    config().cache_dir = (path / "deep" / "cache").string();
    config().disk_cache = true;
  }
  ~Directory() {
    config() = saved_;
    fs::remove_all(path);
  }
  std::vector<fs::path> entries() const {
    std::vector<fs::path> found;
    std::error_code none;
    for (const auto& e : fs::directory_iterator(config().cache_dir, none))
      found.push_back(e.path());
    return found;
  }
  fs::path path;

 private:
  Config saved_;
};

ir::Kernel add_kernel() {
  ir::Builder b("add");
  b.loop(0).scope = ir::Scope::Lanes;
  std::int32_t x = b.buffer(DType::Float64, false), y = b.buffer(DType::Float64, true);
  ir::Access a{{}, {{b.grid_var(), {8}}}};
  ir::Val v = b.load(x, a);
  b.store(y, a, b.apply(OpId::Add, DType::Float64, {v, v}));
  return b.finish();
}

void compile_and_run(const ir::Kernel& k) {
  jit::forget_compiled();
  auto code = jit::compile(k, detected_tier());
  std::vector<double> x(37), y(37);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i);
  void* buffers[] = {x.data(), y.data()};
  ir::CallArgs args{buffers, nullptr, nullptr};
  test::run_code(*code, k, args, 0, 37);
  for (std::size_t i = 0; i < x.size(); ++i) REQUIRE(y[i] == 2 * x[i]);
}

}  // namespace

TEST_CASE("an entry comes back under its key only") {
  Directory d;
  CHECK_FALSE(cache::load("key"));
  cache::store("key", "bytes");
  CHECK(cache::load("key") == "bytes");
  CHECK_FALSE(cache::load("other"));
  struct stat s;
  REQUIRE(stat(config().cache_dir.c_str(), &s) == 0);
  CHECK((s.st_mode & 0777) == 0700);
}

TEST_CASE("a damaged entry is a miss and is written anew") {
  Directory d;
  cache::store("key", "some bytes that matter");
  REQUIRE(d.entries().size() == 1);
  const fs::path entry = d.entries()[0];
  const auto size = fs::file_size(entry);
  for (std::uintmax_t at = 0; at < size; ++at) {
    cache::store("key", "some bytes that matter");
    std::fstream f(entry, std::ios::in | std::ios::out | std::ios::binary);
    f.seekg(static_cast<std::streamoff>(at));
    char c = static_cast<char>(f.get() ^ 0x40);
    f.seekp(static_cast<std::streamoff>(at));
    f.put(c);
    f.close();
    REQUIRE_FALSE(cache::load("key"));
  }
  fs::resize_file(entry, size / 2);
  CHECK_FALSE(cache::load("key"));
  cache::store("key", "x");
  CHECK(cache::load("key") == "x");
}

TEST_CASE("what others can write is not loaded") {
  Directory d;
  cache::store("key", "bytes");
  const fs::path entry = d.entries()[0];
  fs::permissions(entry, fs::perms::others_write, fs::perm_options::add);
  CHECK_FALSE(cache::load("key"));
  fs::permissions(entry, fs::perms::others_write, fs::perm_options::remove);
  CHECK(cache::load("key"));
  fs::permissions(config().cache_dir, fs::perms::group_write, fs::perm_options::add);
  CHECK_FALSE(cache::load("key"));
}

TEST_CASE("a symbolic link is not followed") {
  Directory d;
  cache::store("key", "bytes");
  const fs::path entry = d.entries()[0];
  fs::rename(entry, d.path / "elsewhere");
  fs::create_symlink(d.path / "elsewhere", entry);
  CHECK_FALSE(cache::load("key"));
}

TEST_CASE("the cache stays below its limit") {
  Directory d;
  config().cache_limit = 10000;
  for (int i = 0; i < 20; ++i) cache::store("key" + std::to_string(i), std::string(1000, 'x'));
  std::uintmax_t total = 0;
  for (const fs::path& p : d.entries()) total += fs::file_size(p);
  CHECK(total <= 10000);
  CHECK(cache::load("key19"));
  CHECK_FALSE(cache::load("key0"));
}

TEST_CASE("what killed writers left counts against the limit") {
  Directory d;
  cache::store("first", "bytes");
  for (int i = 0; i < 20; ++i)
    std::ofstream(fs::path(config().cache_dir) / ("dead." + std::to_string(i) + ".tmp"))
        << std::string(1000, 'x');
  config().cache_limit = 10000;
  cache::store("second", std::string(1000, 'x'));  // more than may pass unseen
  std::uintmax_t total = 0;
  for (const fs::path& p : d.entries()) total += fs::file_size(p);
  CHECK(total <= 10000);
  CHECK(cache::load("second"));
}

TEST_CASE("what belongs to somebody else is not used") {
  Directory d;
  cache::store("key", "bytes");
  if (geteuid() != 0) {
    config().cache_dir = "/usr";
    CHECK_FALSE(cache::load("key"));
    return;
  }
  const fs::path entry = d.entries()[0];
  REQUIRE(chown(entry.c_str(), 12345, 12345) == 0);
  CHECK_FALSE(cache::load("key"));
  cache::store("key", "mine");
  CHECK(cache::load("key") == "mine");
  REQUIRE(chown(config().cache_dir.c_str(), 12345, 12345) == 0);
  CHECK_FALSE(cache::load("key"));
}

TEST_CASE("what is not an entry in an entry's place is a miss, at once") {
  Directory d;
  cache::store("key", "bytes");
  REQUIRE(d.entries().size() == 1);
  const fs::path entry = d.entries()[0];
  auto replaced_by = [&](auto&& make) {
    fs::remove_all(entry);
    make();
    CHECK_FALSE(cache::load("key"));
    cache::store("key", "anew");
    return cache::load("key") == "anew";
  };
  CHECK(replaced_by([&] { REQUIRE(mkfifo(entry.c_str(), 0600) == 0); }));
  CHECK(replaced_by([&] { fs::create_symlink("/dev/zero", entry); }));
  CHECK(replaced_by([&] {
    std::ofstream(entry).put('p');
    fs::resize_file(entry, std::uintmax_t{1} << 40);
  }));
  CHECK(replaced_by([&] { mknod(entry.c_str(), S_IFCHR | 0600, makedev(1, 5)); }));
  CHECK_FALSE(replaced_by([&] { fs::create_directory(entry); }));
}

TEST_CASE("what is not an entry is not counted as one") {
  Directory d;
  config().cache_limit = 64 << 10;
  cache::store("key", "bytes");
  const fs::path folder = config().cache_dir;
  std::ofstream(folder / "0000000000000000.kernel").put('p');
  fs::resize_file(folder / "0000000000000000.kernel", std::uintmax_t{1} << 40);
  REQUIRE(mkfifo((folder / "1111111111111111.kernel").c_str(), 0600) == 0);
  const std::string large(8 << 10, 'x');  // the whole folder is looked at
  for (int i = 0; i < 4; ++i) cache::store("large " + std::to_string(i), large);
  CHECK(cache::load("key") == "bytes");
  CHECK(d.entries().size() == 5);
}

TEST_CASE("kernels compile without a usable directory") {
  if (!jit::available()) return;
  Directory d;
  std::ofstream(d.path / "deep") << "a file where a directory should be";
  compile_and_run(add_kernel());
  CHECK(d.entries().empty());
}

TEST_CASE("cached code is the code that was compiled") {
  if (!jit::available()) return;
  Directory d;
  ir::Kernel k = add_kernel();
  compile_and_run(k);
  REQUIRE(d.entries().size() == 1);
  compile_and_run(k);  // from disk
  CHECK(d.entries().size() == 1);
  // Damage: compiled again.
  fs::resize_file(d.entries()[0], 100);
  compile_and_run(k);
  CHECK(fs::file_size(d.entries()[0]) > 100);
}

TEST_CASE("kernels compile in the background") {
  if (!jit::available()) return;
  Directory d;
  jit::forget_compiled();
  auto k = std::make_shared<const ir::Kernel>(add_kernel());
  auto slot = std::make_shared<jit::CodeSlot>();
  jit::compile_async(k, detected_tier(), slot);
  jit::wait_idle();
  REQUIRE(slot->get());
  CHECK(slot->get()->fn);
}
