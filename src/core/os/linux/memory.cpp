#include "core/os/memory.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>

#include "control_groups.hpp"
#include "core/os/pages.hpp"

namespace plait::os {
namespace {

constexpr std::size_t kUnlimited = std::numeric_limits<std::size_t>::max();

std::string contents(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::optional<std::size_t> number(const std::string& text) {
  std::size_t n;
  std::istringstream stream(text);
  return stream >> n ? std::optional(n) : std::nullopt;  // "max" is none
}

// The number after a word of a table.
std::optional<std::size_t> entry(const std::string& table, const std::string& name) {
  std::istringstream words(table);
  for (std::string word; words >> word;)
    if (word == name && words >> word) return number(word);
  return std::nullopt;
}

struct Names {
  const char *limit, *used, *inactive;
};
constexpr Names kVersion1 = {"/memory.limit_in_bytes", "/memory.usage_in_bytes",
                             "total_inactive_file"};
constexpr Names kVersion2 = {"/memory.max", "/memory.current", "inactive_file"};

void tighten(GroupMemory& m, const std::string& folder, const Names& names) {
  const auto limit = number(contents(folder + names.limit));
  const auto used = number(contents(folder + names.used));
  if (!limit || !used) return;
  // Pages of files are dropped when memory is asked for.
  const auto dropped = entry(contents(folder + "/memory.stat"), names.inactive).value_or(0);
  const std::size_t taken = *used - std::min(*used, dropped);
  m.limit = std::min(m.limit, *limit);
  m.left = std::min(m.left, *limit - std::min(*limit, taken));
}

}  // namespace

GroupMemory group_memory(const std::string& root) {
  GroupMemory m{kUnlimited, kUnlimited};
  for (const ControlGroup& g : control_groups("memory", root))
    tighten(m, g.folder, g.unified ? kVersion2 : kVersion1);
  return m;
}

std::size_t memory_limit() {
  const std::size_t ram = static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * page_bytes();
  return std::min(ram, group_memory().limit);
}

std::size_t memory_available() {
  const auto kib = entry(contents("/proc/meminfo"), "MemAvailable:");
  return std::min(kib ? *kib * 1024 : kUnlimited, group_memory().left);
}

bool memory_left_for(std::size_t bytes) {
  std::byte* const p = map_pages(bytes);
  if (!p) return false;
  unmap_pages(p, bytes);
  return group_memory().left >= bytes;
}

}  // namespace plait::os
