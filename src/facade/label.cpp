// Connected components by runs: the rows along the last axis are cut into runs of elements that are
// not zero, those that touch are united, and each run is written with the number of its component.
// The team shares slabs of rows; what touches across their borders is united by one thread.
#include "plait/label.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "box.hpp"
#include "core/buffer.hpp"
#include "engine/threads/split.hpp"
#include "numpy_compat/places.hpp"
#include "numpy_compat/record.hpp"

namespace plait::detail {

namespace {

// Seconds an element of the scan, of the unions and of the writing.
constexpr double kScanned = 0.4e-9, kUnited = 0.6e-9, kWritten = 0.6e-9;
constexpr std::int64_t kSlabs = 16, kSlabElements = 1 << 15;

struct Run {
  std::int32_t begin, end;
};
struct Row {
  const Run* runs;
  std::int32_t count;
  std::int32_t first;  // the number of the first of its runs among those of all rows
};
// Rows that come before another one in C order and touch it.
struct Neighbour {
  std::vector<std::int8_t> offset;
  std::int64_t rows;   // the distance
  std::int32_t reach;  // how far apart columns may be
};

std::int64_t pieces(std::int64_t n, std::int64_t size) { return (n + size - 1) / size; }

// Of 64 elements that are 0 or 1, as bits.
std::uint64_t bits_of(const std::byte* mask) {
  std::uint64_t bits = 0;
  for (int i = 0; i < 8; ++i) {
    std::uint64_t eight;
    std::memcpy(&eight, mask + 8 * i, 8);
    bits |= (eight * 0x0102040810204080 >> 56) << (8 * i);
  }
  return bits;
}

// The runs of a row, behind each other; gives where they end.
Run* scan_row(const std::byte* mask, std::int64_t n, Run* to) {
  std::uint64_t last = 0;  // the element before these 64
  auto* edge = reinterpret_cast<std::int32_t*>(to);
  for (std::int64_t i = 0; i < n; i += 64) {
    std::array<std::byte, 64> rest{};
    if (n - i < 64) std::memcpy(rest.data(), mask + i, static_cast<std::size_t>(n - i));
    const std::uint64_t bits = bits_of(n - i < 64 ? rest.data() : mask + i);
    for (std::uint64_t edges = bits ^ (bits << 1 | last); edges != 0; edges &= edges - 1)
      *edge++ = static_cast<std::int32_t>(i) + std::countr_zero(edges);
    last = bits >> 63;
  }
  // In rows of a multiple of 64 elements the last run has no end yet.
  if (last != 0) *edge++ = static_cast<std::int32_t>(n);
  return reinterpret_cast<Run*>(edge);
}

// Sets of runs, each named by its first one: links lead to runs with lower numbers.
class Sets {
 public:
  explicit Sets(std::int32_t* links) : links_(links) {}
  void add(std::int32_t i) { links_[i] = i; }
  void unite(std::int32_t i, std::int32_t j) {
    i = first(i);
    j = first(j);
    links_[std::max(i, j)] = std::min(i, j);
  }
  // Links become numbers of sets, from 1 on; gives how many there are.
  std::int32_t number(std::int32_t n) {
    std::int32_t sets = 0;
    for (std::int32_t i = 0; i < n; ++i) links_[i] = links_[i] == i ? ++sets : links_[links_[i]];
    return sets;
  }

 private:
  std::int32_t first(std::int32_t i) {
    for (; links_[i] != i; i = links_[i]) links_[i] = links_[links_[i]];
    return i;
  }
  std::int32_t* links_;
};

void unite(const Row& a, const Row& b, std::int32_t reach, Sets& sets) {
  for (std::int32_t i = 0, j = 0; i < a.count && j < b.count;) {
    const Run x = a.runs[i], y = b.runs[j];
    if (x.begin < y.end + reach && y.begin < x.end + reach) sets.unite(a.first + i, b.first + j);
    // The one that ends first touches nothing that follows.
    const bool behind = x.end < y.end;
    i += behind;
    j += !behind;
  }
}

class Components {
 public:
  Components(const std::byte* mask, const Dims& shape, std::int64_t connectivity)
      : mask_(mask),
        outer_(shape.begin(), shape.end() - 1),
        width_(shape[shape.size() - 1]),
        rows_(static_cast<std::size_t>(element_count(outer_))),
        slab_(std::max({std::int64_t{1}, kSlabElements / width_, pieces(rows(), kSlabs)})),
        runs_(allocate(rows_.size() * static_cast<std::size_t>(most_in_row()) * sizeof(Run))) {
    add_neighbours({}, 0, connectivity);
  }

  // Gives how many components there are.
  std::int64_t find() {
    for_each_slab(kScanned, [&](std::int64_t begin, std::int64_t end) { scan(begin, end); });
    std::int32_t n = 0;
    for (Row& row : rows_) {
      row.first = n;
      n += row.count;
    }
    numbers_ = allocate(static_cast<std::size_t>(n) * sizeof(std::int32_t));
    Sets sets(numbers());
    for_each_slab(kUnited, [&](std::int64_t begin, std::int64_t end) {
      const Row& last = row(end - 1);
      for (std::int32_t i = row(begin).first; i < last.first + last.count; ++i) sets.add(i);
      unite_rows(begin, end, sets, [=](std::int64_t before) { return before >= begin; });
    });
    for (std::int64_t begin = slab_; begin < rows(); begin += slab_)
      unite_rows(begin, std::min({begin + slab_, begin + farthest_, rows()}), sets,
                 [=](std::int64_t before) { return before < begin; });
    return sets.number(n);
  }
  void write(std::int32_t* labels) {
    for_each_slab(kWritten, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t r = begin; r < end; ++r) {
        std::int32_t* const to = labels + r * width_;
        std::int64_t column = 0;
        for (std::int32_t i = 0; i < row(r).count; ++i) {
          const Run run = row(r).runs[i];
          const std::int32_t number = numbers()[row(r).first + i];
          while (column < run.begin) to[column++] = 0;
          while (column < run.end) to[column++] = number;
        }
        std::fill(to + column, to + width_, 0);
      }
    });
  }

 private:
  std::int64_t rows() const { return static_cast<std::int64_t>(rows_.size()); }
  std::int64_t most_in_row() const { return width_ / 2 + 1; }
  Row& row(std::int64_t r) { return rows_[static_cast<std::size_t>(r)]; }
  std::int32_t* numbers() { return reinterpret_cast<std::int32_t*>(numbers_->data); }

  // slab(first row, behind its last) for all.
  template <class F>
  void for_each_slab(double seconds, F&& slab) {
    engine::split(pieces(rows(), slab_), seconds * static_cast<double>(slab_ * width_),
                  [&](std::int64_t begin, std::int64_t end) {
                    for (std::int64_t s = begin; s < end; ++s)
                      slab(s * slab_, std::min((s + 1) * slab_, rows()));
                  });
  }

  // Those with this offset along the first axes, of which `moved` are not 0; the first is -1 then.
  void add_neighbours(std::vector<std::int8_t> offset, std::int64_t moved,
                      std::int64_t connectivity) {
    const auto axis = static_cast<int>(offset.size());
    if (axis == outer_.size()) {
      if (moved == 0) return;
      const Dims strides = contiguous_strides(outer_, 1);
      std::int64_t rows = 0;
      for (int d = 0; d < axis; ++d) rows -= offset[static_cast<std::size_t>(d)] * strides[d];
      farthest_ = std::max(farthest_, rows);
      neighbours_.push_back({std::move(offset), rows, moved < connectivity ? 1 : 0});
      return;
    }
    offset.push_back(0);
    add_neighbours(offset, moved, connectivity);
    if (outer_[axis] == 1 || moved == connectivity) return;
    for (const std::int8_t step : {std::int8_t{-1}, std::int8_t{1}}) {
      if (step == 1 && moved == 0) continue;
      offset.back() = step;
      add_neighbours(offset, moved + 1, connectivity);
    }
  }

  void scan(std::int64_t begin, std::int64_t end) {
    Run* to = reinterpret_cast<Run*>(runs_->data) + begin * most_in_row();
    for (std::int64_t r = begin; r < end; ++r) {
      Run* const from = std::exchange(to, scan_row(mask_ + r * width_, width_, to));
      row(r) = {from, static_cast<std::int32_t>(to - from), 0};
    }
  }

  // Of these rows with those before them that `wanted` names.
  template <class Wanted>
  void unite_rows(std::int64_t begin, std::int64_t end, Sets& sets, Wanted wanted) {
    Dims at(outer_.size());
    std::int64_t rest = begin;
    for (int d = at.size() - 1; d >= 0; rest /= outer_[d--]) at[d] = rest % outer_[d];
    for (std::int64_t r = begin; r < end; ++r) {
      for (const Neighbour& n : neighbours_) {
        bool inside = wanted(r - n.rows);
        for (int d = 0; inside && d < at.size(); ++d) {
          const std::int64_t i = at[d] + n.offset[static_cast<std::size_t>(d)];
          inside = i >= 0 && i < outer_[d];
        }
        if (inside) unite(row(r - n.rows), row(r), n.reach, sets);
      }
      for (int d = at.size() - 1; d >= 0 && ++at[d] == outer_[d]; --d) at[d] = 0;
    }
  }

  const std::byte* mask_;
  Dims outer_;  // the axes but the last one
  std::int64_t width_;
  std::vector<Row> rows_;
  std::int64_t slab_;  // rows of a slab
  Ref<Buffer> runs_;   // each slab's begin where the first of them would be if rows were full
  Ref<Buffer> numbers_;
  std::vector<Neighbour> neighbours_;
  std::int64_t farthest_ = 0;
};

}  // namespace

Handle label(const Handle& handle, std::int64_t connectivity, std::int64_t& count) {
  return made("label", [&] {
    tracer::Array a = unwrap(handle);
    if (is_complex(a.dtype)) throw DTypeError("Complex type not supported");
    if (tracer::device_of(a) != kHost)
      throw DeviceError("takes arrays on the host: to_device(x, plait::cpu())");
    const Dims shape = a.shape;
    if (a.ndim() == 0) a = tracer::reshape(a, Dims{1});
    if (connectivity < 1 || connectivity > a.ndim())
      throw ValueError("Connectivity for " + std::to_string(a.ndim()) +
                       "D image should be in [1, ..., " + std::to_string(a.ndim()) + "]. Got " +
                       std::to_string(connectivity) + ".");
    if (a.size() > std::numeric_limits<std::int32_t>::max())
      throw ValueError("takes arrays of fewer than 2**31 elements, which int32 numbers");
    Ref<Buffer> memory;
    const tracer::Array labels = numpy::fresh(a.shape, DType::Int32, memory);
    if (a.size() > 0) {
      if (a.dtype != DType::Bool || !numpy::here(a))
        a = numpy::call(OpId::NotEqual, a, numpy::strong(0));
      const numpy::Held mask(tracer::is_c_contiguous(a) ? a : tracer::copy(a, 'C'));
      Components components(mask.data(), a.shape, connectivity);
      count = components.find();
      components.write(reinterpret_cast<std::int32_t*>(memory->data));
    }
    return tracer::reshape(labels, shape);
  });
}

}  // namespace plait::detail
