// A storage's contents, for who reads and writes them in memory. Callers hold the recorder's lock.
#pragma once
#include "graph.hpp"
#include "ownership.hpp"

namespace plait::tracer {

// The address of an array's element 0 in its evaluated version.
inline std::byte* address(const Array& a, const Node& n) {
  return n.data->data + n.data_offset + a.storage->base + a.offset;
}

// The value of a node in another one, which has this memory.
Ref<Node> same_value(const Node& v, Ref<Buffer> memory);

// The memory of the contents may be written to from now on.
void open_to_writes(Storage& s);

}  // namespace plait::tracer
