// A table whose entries are counted in bytes, by whoever makes them, and bounded: past the limit
// the entries that were used longest ago go. The caller guards it.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace plait {

std::size_t code_limit();  // PLAIT_CODE_LIMIT: bytes of plans, and as many of kernels

template <class Value>
class BoundedTable {
 public:
  struct Entry {
    Value value{};
    std::size_t bytes = 0;
    std::uint64_t used = 0;
  };

  explicit BoundedTable(std::size_t limit) : limit_(limit), check_at_(limit) {}

  Entry* find(const std::string& key) {
    const auto it = entries_.find(key);
    if (it == entries_.end()) return nullptr;
    it->second.used = ++clock_;
    return &it->second;
  }
  // Found or made.
  Entry& at(const std::string& key) {
    const auto [it, fresh] = entries_.try_emplace(key);
    it->second.used = ++clock_;
    if (fresh) add(it->second, sizeof(Entry) + 2 * sizeof(void*) + key.size());
    return it->second;
  }
  void add(Entry& e, std::size_t bytes) {
    e.bytes += bytes;
    bytes_ += bytes;
  }
  void remove(Entry& e, std::size_t bytes) {
    bytes = std::min(bytes, e.bytes);
    e.bytes -= bytes;
    bytes_ -= bytes;
  }

  void set_limit(std::size_t limit) { limit_ = check_at_ = limit; }

  // To be called when something was added. Entries that are not idle(value) stay, and so does the
  // one used last.
  template <class Idle>
  void keep_bounded(Idle&& idle) {
    if (bytes_ <= check_at_) return;
    evict(limit_ - limit_ / 8, idle);
    // Where most are held, not every new one is worth a look at all.
    check_at_ = std::max(limit_, bytes_ + bytes_ / 8);
  }
  void keep_bounded() {
    keep_bounded([](const Value&) { return true; });
  }
  // Drops all entries that are idle; returns their bytes.
  template <class Idle>
  std::size_t trim(Idle&& idle) {
    const std::size_t before = bytes_;
    ++clock_;  // none was used last
    evict(0, idle);
    check_at_ = std::max(limit_, bytes_ + bytes_ / 8);
    return before - bytes_;
  }
  std::size_t clear() {
    entries_.clear();
    check_at_ = limit_;
    return std::exchange(bytes_, 0);
  }

  std::size_t bytes() const { return bytes_; }
  std::size_t size() const { return entries_.size(); }

 private:
  using Map = std::unordered_map<std::string, Entry>;

  template <class Idle>
  void evict(std::size_t down_to, Idle&& idle) {
    if (bytes_ <= down_to) return;
    std::vector<typename Map::iterator> going;
    for (auto it = entries_.begin(); it != entries_.end(); ++it)
      if (it->second.used != clock_ && idle(std::as_const(it->second.value))) going.push_back(it);
    std::sort(going.begin(), going.end(),
              [](auto a, auto b) { return a->second.used < b->second.used; });
    for (auto it : going) {
      if (bytes_ <= down_to) break;
      bytes_ -= it->second.bytes;
      entries_.erase(it);
    }
  }

  Map entries_;
  std::size_t limit_, check_at_, bytes_ = 0;
  std::uint64_t clock_ = 0;
};

}  // namespace plait
