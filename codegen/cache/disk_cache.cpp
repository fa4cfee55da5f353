#include "disk_cache.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>
#include <vector>

#include "core/config.hpp"

namespace plait::cache {
namespace {

std::atomic<std::uint64_t> hit_count{0};

constexpr std::string_view kSuffix = ".kernel";
constexpr std::string_view kUnfinished = ".tmp";  // a writer's, until it is whole
// Of an entry: a hundred times the code of the largest kernels.
constexpr std::uint64_t kMostBytes = 64 << 20;

// An entry's file: this, then the key, then the bytes.
struct Header {
  char magic[8] = {'p', 'l', 'a', 'i', 't', 'k', 'c', '1'};
  std::uint64_t key_size = 0, size = 0;
  std::uint64_t checksum = 0;  // of key and bytes
};

class File {
 public:
  explicit File(int fd) : fd_(fd) {}
  ~File() {
    if (fd_ >= 0) close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  explicit operator bool() const { return fd_ >= 0; }
  int get() const { return fd_; }

 private:
  int fd_;
};

void say(const std::string& text) {
  if (logging(Log::Cache)) log(Log::Cache, text);
}

std::string file_name(std::string_view key) {
  char name[24];
  std::snprintf(name, sizeof name, "%016llx", static_cast<unsigned long long>(hash(key)));
  return name + std::string(kSuffix);
}

// Ours alone: nobody else can put code there.
bool is_private(const struct stat& s) { return s.st_uid == geteuid() && !(s.st_mode & 022); }

bool make_directories(const std::string& path) {
  for (std::size_t at = 1; at != std::string::npos;) {
    at = path.find('/', at + 1);
    if (mkdir(path.substr(0, at).c_str(), 0700) != 0 && errno != EEXIST) return false;
  }
  return true;
}

// The opened directory; all entries are reached through it, so that it cannot be swapped.
int open_directory(bool create) {
  const std::string& path = config().cache_dir;
  if (!config().disk_cache || path.empty()) return -1;
  if (create && !make_directories(path)) {
    say("no disk cache: cannot make " + path + ": " + std::strerror(errno));
    return -1;
  }
  int fd = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  struct stat s;
  if (fd < 0) return -1;
  if (fstat(fd, &s) == 0 && is_private(s)) return fd;
  say("no disk cache: " + path + " belongs to or can be written by others");
  close(fd);
  return -1;
}

bool read_all(int fd, char* to, std::size_t n) {
  while (n) {
    ssize_t got = read(fd, to, n);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    to += got;
    n -= static_cast<std::size_t>(got);
  }
  return true;
}
bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t put = write(fd, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  return true;
}

// What a process may store between two looks at the whole folder, each of which asks for the size
// and the time of every file in it.
std::size_t slack() { return config().cache_limit / 16; }

// Removes the entries used longest ago until the rest fits, with room for what slack() lets pass. A
// hit renews its file's time. What a killed writer left unfinished counts, too.
void evict(int directory) {
  struct Entry {
    std::string name;
    timespec used;
    std::size_t size;
  };
  std::vector<Entry> entries;
  std::size_t total = 0;
  int copy = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* d = copy >= 0 ? fdopendir(copy) : nullptr;
  if (!d) return;
  while (const dirent* e = readdir(d)) {
    std::string name = e->d_name;
    struct stat s;
    if (!name.ends_with(kSuffix) && !name.ends_with(kUnfinished)) continue;
    if (fstatat(directory, name.c_str(), &s, AT_SYMLINK_NOFOLLOW) != 0) continue;
    // What cannot be an entry takes no room from those that can.
    if (!S_ISREG(s.st_mode) || static_cast<std::uint64_t>(s.st_size) > kMostBytes) {
      if (unlinkat(directory, name.c_str(), 0) == 0) say("evicted " + name);
      continue;
    }
    entries.push_back({name, s.st_mtim, static_cast<std::size_t>(s.st_size)});
    total += entries.back().size;
  }
  closedir(d);
  const std::size_t room = config().cache_limit - slack();
  if (total <= room) return;
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::pair(a.used.tv_sec, a.used.tv_nsec) < std::pair(b.used.tv_sec, b.used.tv_nsec);
  });
  for (const Entry& e : entries) {
    if (total <= room) break;
    if (unlinkat(directory, e.name.c_str(), 0) == 0) say("evicted " + e.name);
    total -= e.size;
  }
}

}  // namespace

std::uint64_t hits() { return hit_count.load(std::memory_order_relaxed); }

std::optional<std::string> load(std::string_view key) try {
  File directory(open_directory(false));
  if (!directory) return std::nullopt;
  const std::string name = file_name(key);
  auto reject = [&](const char* why) {
    say("ignored " + name + ": " + why);
    return std::nullopt;
  };
  // Looked at before it is opened: opening waits for the other end of a pipe, and sets some devices
  // going.
  struct stat s;
  if (fstatat(directory.get(), name.c_str(), &s, AT_SYMLINK_NOFOLLOW) != 0) {
    say("miss " + name);
    return std::nullopt;
  }
  if (!S_ISREG(s.st_mode)) return reject("not a file");
  File file(openat(directory.get(), name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file || fstat(file.get(), &s) != 0 || !S_ISREG(s.st_mode)) return reject("not a file");
  if (!is_private(s)) return reject("belongs to or can be written by others");
  Header h;
  const auto size = static_cast<std::uint64_t>(s.st_size);
  if (size > kMostBytes) return reject("too large");
  if (size < sizeof h || !read_all(file.get(), reinterpret_cast<char*>(&h), sizeof h) ||
      std::memcmp(h.magic, Header{}.magic, sizeof h.magic) != 0 || h.key_size > size ||
      h.size > size || sizeof h + h.key_size + h.size != size)
    return reject("damaged");
  std::string content(h.key_size + h.size, '\0');
  if (!read_all(file.get(), content.data(), content.size()) || hash(content) != h.checksum)
    return reject("damaged");
  if (std::string_view(content).substr(0, h.key_size) != key) return reject("another key");
  futimens(file.get(), nullptr);
  say("hit " + name);
  hit_count.fetch_add(1, std::memory_order_relaxed);
  return content.substr(h.key_size);
} catch (const std::bad_alloc&) {
  return std::nullopt;
}

void store(std::string_view key, std::string_view bytes) try {
  if (sizeof(Header) + key.size() + bytes.size() > kMostBytes) return;
  File directory(open_directory(true));
  if (!directory) return;
  static std::atomic<unsigned> number{0};
  const std::string name = file_name(key);
  std::string temporary = name + "." + std::to_string(getpid()) + "." + std::to_string(number++);
  temporary += kUnfinished;
  std::string content(key);
  content += bytes;
  Header h{.key_size = key.size(), .size = bytes.size(), .checksum = hash(content)};
  content.insert(0, reinterpret_cast<const char*>(&h), sizeof h);
  bool written;
  {
    File file(
        openat(directory.get(), temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!file) {
      say("not stored " + name + ": " + std::strerror(errno));
      return;
    }
    written = write_all(file.get(), content);
  }
  // Published whole or not at all.
  if (written && renameat(directory.get(), temporary.c_str(), directory.get(), name.c_str()) == 0) {
    say("stored " + name);
    static std::atomic<std::size_t> unseen{std::size_t{1} << 62};  // the first one looks
    if (unseen += content.size(); unseen > slack()) {
      unseen = 0;
      evict(directory.get());
    }
  } else {
    say("not stored " + name + ": " + std::strerror(errno));
    unlinkat(directory.get(), temporary.c_str(), 0);
  }
} catch (const std::bad_alloc&) {
  // Done without.
}

}  // namespace plait::cache
