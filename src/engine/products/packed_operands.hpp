// Right operands of products that come by again with the same contents, as the panels that tiles
// read: packed once for all products, whatever number of rows these have.
#pragma once
#include <cstdint>
#include <mutex>
#include <vector>

#include "codegen/loops/product.hpp"
#include "core/buffer.hpp"
#include "tracer/node.hpp"

namespace plait::engine {

// A matrix in memory whose contents are known by a number, and the tiles that read it. Strides in
// bytes.
struct PackedOperand {
  std::uint64_t contents;  // tracer::contents_of() the value; 0: they may change
  const std::byte* at;
  std::int64_t row, column, k, n;
  const loops::Product* tiles;

  bool operator==(const PackedOperand&) const = default;
  // Panels of blocks of tiles->depth rows one after another, each of all columns.
  std::size_t bytes() const;
  // Of the panels of a block that begins at row `from`, that of column j.
  std::int64_t offset(std::int64_t from, std::int64_t j) const;
};

// What is kept, within a bound of bytes. Any thread.
class PackedOperands {
 public:
  explicit PackedOperands(std::size_t limit) : limit_(limit) {}

  struct Found {
    Ref<Buffer> panels;  // null: pack
    bool keep = false;   // what is packed, by put(): it was before, and there is room
  };
  Found find(const PackedOperand& o);
  void put(const PackedOperand& o, Ref<Buffer> panels);
  // Panels of these contents, in bytes.
  std::size_t kept(std::uint64_t contents) const;

  void drop(std::uint64_t contents);
  std::size_t trim();  // returns the bytes
  void set_limit(std::size_t bytes);

  struct Stats {
    std::size_t operands, bytes;
    std::uint64_t packed, found;  // so far: kept, and then read
  };
  Stats stats() const;

 private:
  struct Entry {
    PackedOperand of;
    Ref<Buffer> panels;  // null: only seen
    std::uint64_t used;
  };
  bool make_room(std::size_t bytes, std::uint64_t since);

  mutable std::mutex mutex_;
  std::vector<Entry> entries_;
  std::size_t limit_, bytes_ = 0;
  std::uint64_t clock_ = 0, packed_ = 0, found_ = 0;
};

PackedOperands& packed_operands();  // the engine's

// The number of a value's contents, where panels of it may be kept: it is large enough, and nobody
// else's memory.
std::uint64_t packable_contents(tracer::Node& n);

}  // namespace plait::engine
