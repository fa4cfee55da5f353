#include "key_table.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "heap.hpp"

namespace plait::heap {
namespace {

using Word = std::uint64_t;

// Open addressing: a slot has an entry's number + 1, or 0. One that was removed stays in its slot,
// so that searches go on past it.
class KeyTable {
 public:
  KeyTable(Heap& heap, std::int64_t words) : heap_(heap), words_(words) {}

  static constexpr std::int64_t kMostWords = 4;
  Word staged[kMostWords] = {};
  std::int64_t words() const { return words_; }
  std::int64_t size() const { return size_; }
  std::int64_t entries() const { return entries_; }
  bool alive(std::int64_t n) const { return n >= 0 && n < entries_ && alive_[n]; }
  Word word(std::int64_t n, std::int64_t position) const { return keys_[n * words_ + position]; }

  std::int64_t find(const Word* key, std::int64_t words) const {
    return slots_ ? slots_[slot_of(key, words)] - std::int64_t{1} : -1;
  }
  std::int64_t insert(const Word* key, std::int64_t words) {
    if (const std::int64_t n = find(key, words); n >= 0) return n;
    if (entries_ == room_ && !grow()) return -1;
    slots_[slot_of(key, words)] = static_cast<std::int32_t>(entries_ + 1);
    std::copy_n(key, words, keys_ + entries_ * words);
    alive_[entries_] = 1;
    ++size_;
    return entries_++;
  }
  std::int64_t remove(const Word* key, std::int64_t words) {
    const std::int64_t n = find(key, words);
    if (n < 0) return n;
    alive_[n] = 0;
    if (--size_ == 0) clear();
    return n;
  }
  void clear() {
    free(slots_);
    free(keys_);
    free(alive_);
    slots_ = nullptr;
    keys_ = nullptr;
    alive_ = nullptr;
    size_ = entries_ = room_ = 0;
  }

 private:
  static constexpr std::int64_t kLeastRoom = 8, kMostRoom = std::int64_t{1} << 29;

  static Word hash(const Word* key, std::int64_t words) {
    Word h = 0;
    for (std::int64_t w = 0; w < words; ++w) {
      h = (h ^ key[w]) * 0x9e3779b97f4a7c15;
      h ^= h >> 32;
    }
    h *= 0xd6e8feb86659fd93;
    return h ^ h >> 32;
  }
  // Of the entry of this key, or the empty one that it would take: half of them are empty.
  Word slot_of(const Word* key, std::int64_t words) const {
    const Word mask = static_cast<Word>(2 * room_) - 1;
    Word s = hash(key, words) & mask;
    for (; slots_[s] != 0; s = (s + 1) & mask) {
      const std::int64_t n = slots_[s] - 1;
      if (alive_[n] && std::equal(key, key + words, keys_ + n * words)) break;
    }
    return s;
  }
  // Those that were removed keep their numbers, and lose their slots.
  bool grow() {
    const std::int64_t room = std::max(2 * room_, kLeastRoom);
    if (room > kMostRoom) return false;
    auto* const slots = allocate<std::int32_t>(2 * room);
    auto* const keys = allocate<Word>(room * words_);
    auto* const alive = allocate<std::uint8_t>(room);
    if (!slots || !keys || !alive) {
      free(slots);
      free(keys);
      free(alive);
      return false;
    }
    std::copy_n(keys_, entries_ * words_, keys);
    std::copy_n(alive_, entries_, alive);
    free(slots_);
    free(keys_);
    free(alive_);
    slots_ = slots;
    keys_ = keys;
    alive_ = alive;
    room_ = room;
    for (std::int64_t n = 0; n < entries_; ++n)
      if (alive_[n]) slots_[slot_of(keys_ + n * words_, words_)] = static_cast<std::int32_t>(n + 1);
    return true;
  }
  template <class T>
  T* allocate(std::int64_t count) {
    return reinterpret_cast<T*>(heap_.allocate(count * static_cast<std::int64_t>(sizeof(T))));
  }
  void free(void* block) {
    if (block) heap_.free(static_cast<std::byte*>(block));
  }

  Heap& heap_;
  const std::int64_t words_;
  std::int64_t size_ = 0, entries_ = 0, room_ = 0;  // of the entries: alive, all, there is room for
  std::int32_t* slots_ = nullptr;                   // twice the room
  Word* keys_ = nullptr;
  std::uint8_t* alive_ = nullptr;
};

KeyTable& at(std::int64_t table) { return *reinterpret_cast<KeyTable*>(table); }
// A key of one word, where the compiler knows that it is one.
const Word* one(const std::int64_t& word) { return reinterpret_cast<const Word*>(&word); }

}  // namespace

std::int64_t table_new(std::int64_t words) {
  Heap* const h = Heap::current();
  if (!h || words < 1 || words > KeyTable::kMostWords) return 0;
  std::byte* const memory = h->allocate(sizeof(KeyTable));
  return memory ? reinterpret_cast<std::int64_t>(new (memory) KeyTable(*h, words)) : 0;
}
std::int64_t table_key(std::int64_t table, std::int64_t position, std::int64_t word) {
  at(table).staged[position] = static_cast<Word>(word);
  return 0;
}
std::int64_t table_find(std::int64_t table) {
  return at(table).find(at(table).staged, at(table).words());
}
std::int64_t table_insert(std::int64_t table) {
  return at(table).insert(at(table).staged, at(table).words());
}
std::int64_t table_remove(std::int64_t table) {
  return at(table).remove(at(table).staged, at(table).words());
}
std::int64_t table_find1(std::int64_t table, std::int64_t word) {
  return at(table).find(one(word), 1);
}
std::int64_t table_insert1(std::int64_t table, std::int64_t word) {
  return at(table).insert(one(word), 1);
}
std::int64_t table_remove1(std::int64_t table, std::int64_t word) {
  return at(table).remove(one(word), 1);
}
std::int64_t table_size(std::int64_t table) { return at(table).size(); }
std::int64_t table_entries(std::int64_t table) { return at(table).entries(); }
std::int64_t table_alive(std::int64_t table, std::int64_t entry) { return at(table).alive(entry); }
std::int64_t table_word(std::int64_t table, std::int64_t entry, std::int64_t position) {
  return static_cast<std::int64_t>(at(table).word(entry, position));
}
std::int64_t table_clear(std::int64_t table) {
  at(table).clear();
  return 0;
}

}  // namespace plait::heap
