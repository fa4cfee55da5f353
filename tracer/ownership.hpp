// Who else can see a value, and the memory that it lies in: what decides whether something may be
// written over, taken over or left out. Nobody else reads the references of nodes, storages and
// memory. Callers hold the recorder's lock, and say how many references they know of themselves.
#pragma once
#include "array.hpp"

namespace plait::tracer {

// Whether these are all the references: nothing that is recorded or to be recorded reads the value
// but who asks.
inline bool only_known(const Node& n, std::uint32_t known) { return n.refs == known; }
// Whether these are all the arrays over the storage, and what else keeps it.
inline bool only_known(const Storage& s, std::uint32_t known) {
  return s.refs.load(std::memory_order_acquire) == known;
}

// Whether so many nodes, of whom the caller knows, are all that see the memory; nobody outside
// looks at it, and it may be written to.
inline bool owned_memory(const Buffer& b, std::uint32_t nodes = 1) {
  return b.refs.load(std::memory_order_acquire) == nodes && b.writeable && !b.watched;
}
inline bool shared_memory(const Buffer& b) { return b.refs.load(std::memory_order_relaxed) > 1; }

// A version of one storage that no node reads but those of the caller: a write to its memory can be
// seen only through the storage.
inline bool own_version(const Node& n, std::uint32_t known) {
  return n.handles == 1 && only_known(n, known) && n.data && owned_memory(*n.data);
}

}  // namespace plait::tracer
