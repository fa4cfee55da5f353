#include "product.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "codegen/loops/product.hpp"
#include "core/buffer.hpp"
#include "core/config.hpp"
#include "engine/direct/direct.hpp"
#include "engine/direct/direct_kernels.hpp"
#include "engine/direct/mirror.hpp"
#include "engine/engine.hpp"
#include "packed_operands.hpp"
#include "tasks.hpp"

namespace plait::engine {

namespace {

constexpr std::int64_t kMostDepth = 8 * loops::kProductDepth;  // that a block of any type has
// Panels of A that a thread packs at a time stay in its second-level cache beside a panel of B;
// what is packed of B stays in the cache that threads share, whatever else runs on the machine.
constexpr std::int64_t kTallTiles = 6, kPackedBytes = 2 << 20;
// Bytes of a row of B that are packed at a time, at least.
constexpr std::int64_t kPackedLines = 512;
// Bytes between the steps of a row from which on each finds another line of the cache.
constexpr std::int64_t kApart = 128;
// Tiles side by side that pay for packing rows which could stay where they lie.
constexpr std::int64_t kTilesAcross = 4;
// Columns of B that a thread packs for itself.
constexpr std::int64_t kOwnColumns = 512;
// Pieces a thread may have, so that the last ones end at about the same time.
constexpr std::int64_t kPiecesAThread = 6;
// Steps of the diagonal, at least: what is computed beyond it is a part of so many.
constexpr std::int64_t kStepsDown = 4;
// A matrix so large that a walk across its rows misses the cache of addresses.
constexpr std::int64_t kUnpackedBytes = 256 << 10;

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// Where the elements [first, first + count) of an axis lie.
void place_lines(const AxisGroup& l, std::int64_t first, std::int64_t count, std::int64_t* at) {
  const int inner = l.extents.size() - 1;
  const std::int64_t extent = l.extents[inner], step = l.steps[inner];
  for (std::int64_t i = 0; i < count;) {
    std::int64_t rest = (first + i) / extent, begin = (first + i) % extent, from = begin * step;
    for (int axis = inner - 1; axis >= 0; --axis) {
      from += rest % l.extents[axis] * l.steps[axis];
      rest /= l.extents[axis];
    }
    const std::int64_t some = std::min(extent - begin, count - i);
    for (std::int64_t n = 0; n < some; ++n) at[i + n] = from + n * step;
    i += some;
  }
}

class Tiled {
 public:
  Tiled(const MatrixProduct& p, const loops::Product& tiles)
      : p_(p),
        tiles_(tiles),
        depth_(tiles.depth),
        sums_(ir::fragment_sums(p.types())),
        item_(static_cast<std::int64_t>(itemsize(sums_))),
        half_(by_own_transpose(p) && mirror_pays(p.m, p.k)),
        tasks_(seconds_of(p, fusion::ProductImpl::Tiles) * (half_ ? 0.5 : 1),
               p.products() >= kUnlockedProducts) {}

  void run() {
    if (p_.mapped()) {
      pack_a_ = true;
      p_.m <= kFewRows ? run_apart(p_.entries()) : run_entries();
    } else {
      run_plain();
    }
    if (half_) mirror_upper(sums_, p_.c, p_.n, p_.entries());
  }

 private:
  // Rows up to which threads that pack columns for themselves still use them often enough.
  static constexpr std::int64_t kFewRows = 256;
  static constexpr double kOwnProducts = 96.0 * 96 * 96;

  void run_plain() {
    const bool panels_only = !tiles_.strided;
    if (!panels_only && p_.b_column == item_ && p_.b_row % item_ == 0 &&
        (p_.m <= 2 * tiles_.rows || small_b()))
      pack_b_ = false;
    // Tiles walk along the rows of A where they lie, unless that is not possible, or each step of
    // each tile finds another line of the cache.
    pack_a_ = panels_only || p_.a_row % item_ != 0 || p_.a_column % item_ != 0 || far_apart();
    if (pack_a_) pack_b_ = true;
    const std::int64_t entries = p_.entries();
    if (pack_b_ && entries == 1 && !half_) find_panels();
    if (!pack_b_ || p_.products() / static_cast<double>(entries) < kOwnProducts ||
        p_.m <= tiles_.rows)
      return run_apart(entries);
    run_entries();
  }

  // Where an entry of the batch lies.
  struct Place {
    const std::byte *a, *b;
    std::byte* c;
  };

  bool far_apart() const {
    return std::abs(p_.a_column) > std::max(std::abs(p_.a_row), kApart) && p_.m > 2 * tiles_.rows &&
           p_.n > kTilesAcross * tiles_.columns;
  }
  bool small_b() const { return p_.k * p_.n * item_ <= kUnpackedBytes && p_.b_row % 1024 != 0; }
  double share(double part) const { return tasks_.seconds() * part; }
  void run_entries() {
    for (std::int64_t e = 0, count = p_.entries(); e < count; ++e) run_together(place(e));
  }

  // Panels of rows [i, i + m) and columns [j, j + n), of products [from, from + k).
  void pack_rows(std::byte* to, const std::byte* a, std::int64_t i, std::int64_t m,
                 std::int64_t from, std::int64_t k) const {
    if (p_.mapped()) return gather(tiles_.a, to, a, p_.rows, i, m, p_.a_sums, from, k, tiles_.rows);
    tiles_.a.pack(to, a + i * p_.a_row + from * p_.a_column, p_.a_row, p_.a_column, m, k,
                  tiles_.rows);
  }
  void pack_columns(std::byte* to, const std::byte* b, std::int64_t j, std::int64_t n,
                    std::int64_t from, std::int64_t k) const {
    if (p_.mapped())
      return gather(tiles_.b, to, b, p_.columns, j, n, p_.b_sums, from, k, tiles_.columns);
    tiles_.b.pack(to, b + from * p_.b_row + j * p_.b_column, p_.b_column, p_.b_row, n, k,
                  tiles_.columns);
  }
  void gather(const loops::Packing& by, std::byte* to, const std::byte* from,
              const AxisGroup& lines, std::int64_t first, std::int64_t count, const AxisGroup& sums,
              std::int64_t start, std::int64_t k, std::int64_t width) const {
    std::int64_t lines_at[kOwnColumns], sums_at[kMostDepth];
    place_lines(sums, start, k, sums_at);
    for (std::int64_t i = 0; i < count; i += kOwnColumns) {
      const std::int64_t some = std::min(kOwnColumns, count - i);
      place_lines(lines, first + i, some, lines_at);
      by.gather(to + i / width * tiles_.panel(width, k), from, lines_at, sums_at, some, k, width);
    }
  }

  // Parts of the entries, each by one thread that packs what it needs.
  void run_apart(std::int64_t entries) {
    const std::int64_t wanted = kPiecesAThread * tasks_.threads();
    std::int64_t across = 1, down = 1;  // pieces of an entry
    if (tasks_.threads() > 1 && entries < wanted) {
      const std::int64_t each = ceil_div(wanted, entries);
      if (!pack_b_) down = std::min(each, ceil_div(p_.m, tiles_.rows));
      across = std::min(ceil_div(each, down), ceil_div(p_.n, 4 * tiles_.columns));
    }
    const std::int64_t height = ceil_div(p_.m, down),
                       width = ceil_div(ceil_div(p_.n, across), tiles_.columns) * tiles_.columns;
    down = ceil_div(p_.m, height);
    across = ceil_div(p_.n, width);
    Ref<Buffer> scratch;
    const std::int64_t rows = std::min(height, kTallTiles * tiles_.rows);
    std::int64_t a_bytes = 0, b_bytes = 0;
    const std::int64_t depth = std::min(p_.k, depth_);
    if (pack_a_) a_bytes = tiles_.panels(rows, depth, tiles_.rows);
    if (pack_b_ && !kept_)
      b_bytes = tiles_.panels(std::min(width, kOwnColumns), depth, tiles_.columns);
    a_bytes = (a_bytes + 63) / 64 * 64;
    b_bytes = (b_bytes + 63) / 64 * 64;
    if (a_bytes + b_bytes > 0)
      scratch = allocate(static_cast<std::size_t>((a_bytes + b_bytes) * tasks_.threads()));
    tasks_.run(entries * down * across, tasks_.seconds(),
               [&](std::int64_t t, int worker, auto goes_on) {
                 std::byte* own = scratch ? scratch->data + worker * (a_bytes + b_bytes) : nullptr;
                 const std::int64_t i = t / across % down * height, j = t % across * width;
                 part(place(t / (across * down)), i, std::min(height, p_.m - i), j,
                      std::min(width, p_.n - j), own, own + a_bytes, goes_on);
               });
  }

  Place place(std::int64_t entry) const {
    Place at{p_.a, p_.b, p_.c + entry * p_.m * p_.n * item_};
    for (int axis = p_.batch.size() - 1; axis >= 0; --axis) {
      const std::int64_t i = axis == 0 ? entry : entry % p_.batch[axis];
      at.a += i * p_.a_steps[axis];
      at.b += i * p_.b_steps[axis];
      if (axis != 0) entry /= p_.batch[axis];
    }
    return at;
  }

  template <class GoesOn>
  void part(const Place& at, std::int64_t i, std::int64_t m, std::int64_t j, std::int64_t n,
            std::byte* a_panels, std::byte* b_panels, GoesOn goes_on) const {
    const std::int64_t most = pack_b_ ? kOwnColumns : n;
    for (std::int64_t q = j; q < j + n; q += most) {
      const std::int64_t columns = std::min(most, j + n - q);
      if (first_column(i, q, columns) >= columns) continue;
      for (std::int64_t from = 0; from < p_.k && goes_on(); from += depth_) {
        const std::int64_t k = std::min(depth_, p_.k - from);
        const std::byte* b = at.b + from * p_.b_row + q * p_.b_column;
        if (kept_)
          b_panels = kept_->data + operand_.offset(from, q);
        else if (pack_b_)
          pack_columns(b_panels, at.b, q, columns, from, k);
        if (pack_a_)
          packed_rows(at, i, m, q, columns, from, k, a_panels, b_panels);
        else
          rows_in_place(at, i, m, q, columns, from, k, pack_b_ ? b_panels : b);
      }
    }
  }

  // Of columns [j, j + n), which rows from i on are computed: the first one of a panel that has
  // something on or right of the diagonal.
  std::int64_t first_column(std::int64_t i, std::int64_t j, std::int64_t n) const {
    return half_ ? std::clamp(i - j, std::int64_t{0}, n) / tiles_.columns * tiles_.columns : 0;
  }
  // Rows that are computed together: where the diagonal ends them, few.
  std::int64_t rows_together(std::int64_t m) const {
    const std::int64_t most = kTallTiles * tiles_.rows;
    if (!half_) return pack_a_ ? most : m;
    return pack_a_ ? most
                   : std::clamp(p_.m / kStepsDown / tiles_.rows, std::int64_t{1}, kTallTiles) *
                         tiles_.rows;
  }

  // Rows [i, i + m) where they lie times columns [j, j + n), which `b` begins with.
  void rows_in_place(const Place& at, std::int64_t i, std::int64_t m, std::int64_t j,
                     std::int64_t n, std::int64_t from, std::int64_t k, const std::byte* b) const {
    const std::int64_t each = rows_together(m);
    for (std::int64_t r = i; r < i + m; r += each) {
      const std::int64_t first = first_column(r, j, n);
      if (first >= n) return;
      const std::byte* part =
          b + (pack_b_ ? first / tiles_.columns * tiles_.panel(tiles_.columns, k)
                       : first * p_.b_column);
      tiles_.strided(
          {std::min(each, i + m - r), n - first, k, at.a + r * p_.a_row + from * p_.a_column,
           p_.a_row / item_, p_.a_column / item_, part, p_.b_row / item_,
           at.c + (r * p_.n + j + first) * item_, p_.n, from != 0},
          pack_b_);
    }
  }

  // Rows [i, i + m) times packed columns [j, j + n).
  void packed_rows(const Place& at, std::int64_t i, std::int64_t m, std::int64_t j, std::int64_t n,
                   std::int64_t from, std::int64_t k, std::byte* a_panels,
                   const std::byte* b_panels) const {
    const std::int64_t each = rows_together(m);
    for (std::int64_t r = i; r < i + m; r += each) {
      const std::int64_t first = first_column(r, j, n), rows = std::min(each, i + m - r);
      if (first >= n) return;
      pack_rows(a_panels, at.a, r, rows, from, k);
      const auto block = [&](std::int64_t top, std::int64_t tall, std::int64_t left,
                             std::int64_t right) {
        if (left >= right) return;
        tiles_.block(tall, right - left, k,
                     a_panels + top / tiles_.rows * tiles_.panel(tiles_.rows, k),
                     b_panels + left / tiles_.columns * tiles_.panel(tiles_.columns, k),
                     at.c + ((r + top) * p_.n + j + left) * item_, p_.n, from != 0);
      };
      // Where the diagonal passes, each tile's rows begin at their own column.
      const std::int64_t right =
          half_ ? std::min(n, first_column(r + rows, j, n) + tiles_.columns) : first;
      for (std::int64_t top = 0; first < right && top < rows; top += tiles_.rows)
        block(top, std::min(tiles_.rows, rows - top), first_column(r + top, j, n), right);
      block(0, rows, right, n);
    }
  }

  // Columns [j, j + n) of products [from, from + k) to `at` of each block of them, by all threads:
  // so many panels at a time that their rows are whole lines of the cache.
  template <class At>
  void pack_together(const std::byte* b, std::int64_t j, std::int64_t n, std::int64_t from,
                     std::int64_t k, At at) {
    const std::int64_t wide = tiles_.columns;
    const std::int64_t panels_each =
        ceil_div(kPackedLines, wide * static_cast<std::int64_t>(itemsize(p_.b_dtype)));
    const std::int64_t across = ceil_div(ceil_div(n, wide), panels_each), each = panels_each * wide;
    tasks_.run(ceil_div(k, depth_) * across, static_cast<double>(k * n) * 0.1e-9,
               [&](std::int64_t t, int, auto) {
                 const std::int64_t block = t / across, first = t % across * each,
                                    deep = std::min(depth_, k - block * depth_);
                 pack_columns(at(block) + first / wide * tiles_.panel(wide, deep), b, j + first,
                              std::min(each, n - first), from + block * depth_, deep);
               });
  }

  // The panels of B that were packed before for other products; packs them for these and others if
  // it comes by again.
  void find_panels() {
    operand_ = {p_.b_contents, p_.b, p_.b_row, p_.b_column, p_.k, p_.n, &tiles_};
    const auto [panels, keep] = packed_operands().find(operand_);
    kept_ = panels;
    if (!keep) return;
    const Ref<Buffer> fresh = allocate(operand_.bytes());
    pack_together(p_.b, 0, p_.n, 0, p_.k, [&](std::int64_t block) {
      return fresh->data + operand_.offset(block * depth_, 0);
    });
    packed_operands().put(operand_, fresh);
    kept_ = fresh;
  }

  // All threads on one entry: they pack a part of B together, then each takes blocks of rows.
  void run_together(const Place& place) {
    const std::int64_t wide = tiles_.columns, tall = tiles_.rows;
    const std::int64_t limit = kPackedBytes * tiles_.group / tiles_.word;
    const std::int64_t width = std::min(ceil_div(p_.n, wide) * wide, limit / depth_ / wide * wide);
    const std::int64_t depth =
        std::min(p_.k, std::max<std::int64_t>(1, limit / width / depth_) * depth_);
    const std::int64_t pieces = kPiecesAThread * tasks_.threads();
    const std::int64_t height =
        std::clamp(ceil_div(ceil_div(p_.m, tall), pieces), std::int64_t{1}, kTallTiles) * tall;
    const std::int64_t down = ceil_div(p_.m, height);
    const std::int64_t a_bytes =
        (tiles_.panels(height, std::min(p_.k, depth_), tall) + 63) / 64 * 64;
    Ref<Buffer> panels;
    if (!kept_)
      panels = allocate(static_cast<std::size_t>(
          ceil_div(depth, depth_) * tiles_.panels(width, std::min(depth, depth_), wide)));
    const Ref<Buffer> scratch = allocate(static_cast<std::size_t>(a_bytes * tasks_.threads()));
    const double entries = static_cast<double>(p_.entries());
    for (std::int64_t j = 0; j < p_.n; j += width)
      for (std::int64_t from = 0; from < p_.k; from += depth) {
        const std::int64_t columns = std::min(width, p_.n - j), k = std::min(depth, p_.k - from);
        const std::int64_t blocks = ceil_div(k, depth_), across = ceil_div(columns, wide);
        // Of a block of B: its first panel.
        const auto at = [&](std::int64_t block) {
          if (kept_) return kept_->data + operand_.offset(from + block * depth_, j);
          return panels->data + block * across * tiles_.panel(wide, depth_);
        };
        if (!kept_) pack_together(place.b, j, columns, from, k, at);
        const double part = static_cast<double>(columns) / static_cast<double>(p_.n) *
                            static_cast<double>(k) / static_cast<double>(p_.k);
        tasks_.run(down, share(part / entries), [&](std::int64_t t, int worker, auto goes_on) {
          const std::int64_t i = t * height;
          for (std::int64_t block = 0; block < blocks && goes_on(); ++block) {
            const std::int64_t deep = std::min(depth_, k - block * depth_);
            packed_rows(place, i, std::min(height, p_.m - i), j, columns, from + block * depth_,
                        deep, scratch->data + worker * a_bytes, at(block));
          }
        });
      }
  }

  const MatrixProduct& p_;
  const loops::Product& tiles_;
  std::int64_t depth_;  // of a block
  DType sums_;          // of panels and of the result, whose elements have so many bytes
  std::int64_t item_;
  bool half_;  // on and right of the diagonal is computed; the other half is its mirror image
  Tasks tasks_;
  bool pack_a_ = false, pack_b_ = true;
  PackedOperand operand_{};  // B,
  Ref<Buffer> kept_;         // if its panels are kept
};

// Row times matrix for matrix times column, where that puts contiguous elements along the row.
void turn_column(MatrixProduct& p, std::int64_t item) {
  if (p.n != 1 || p.m == 1 || p.a_row != item) return;
  std::swap(p.m, p.n);
  std::swap(p.a, p.b);
  std::swap(p.a_steps, p.b_steps);
  std::swap(p.a_row, p.b_column);
  std::swap(p.a_column, p.b_row);
  std::swap(p.a_dtype, p.b_dtype);
  std::swap(p.a_contents, p.b_contents);
}

// In another dtype, and cast at the end: halves are rounded then, as NumPy does it, and integers
// wrap.
void wider_product(const MatrixProduct& p, DType sums, const loops::Product& tiles) {
  const auto item = static_cast<std::int64_t>(itemsize(sums));
  const Dims shape{p.entries() * p.m * p.n};
  const Ref<Buffer> wide = allocate(static_cast<std::size_t>(shape[0] * item));
  MatrixProduct to = p;
  to.c = wide->data;
  Tiled(to, tiles).run();
  run_cast(sums, p.dtype, shape, {to.c, Dims{item}},
           {p.c, Dims{static_cast<std::int64_t>(itemsize(p.dtype))}});
}

}  // namespace

bool by_own_transpose(const MatrixProduct& p) {
  if (p.a != p.b || p.m != p.n || p.a_dtype != p.b_dtype) return false;
  for (int i = 0; i < p.batch.size(); ++i)
    if (p.batch[i] != 1 && p.a_steps[i] != p.b_steps[i]) return false;
  if (p.mapped()) return p.rows == p.columns && p.a_sums == p.b_sums;
  return p.a_row == p.b_column && p.a_column == p.b_row;
}

std::int64_t MatrixProduct::entries() const { return element_count(batch); }
double MatrixProduct::products() const {
  return static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) *
         static_cast<double>(entries());
}

MatrixProduct MatrixProduct::entry(std::int64_t i) const {
  MatrixProduct one = *this;
  one.batch = one.a_steps = one.b_steps = Dims();
  one.c += i * m * n * static_cast<std::int64_t>(itemsize(dtype));
  for (int axis = batch.size() - 1; axis >= 0; --axis) {
    one.a += i % batch[axis] * a_steps[axis];
    one.b += i % batch[axis] * b_steps[axis];
    i /= batch[axis];
  }
  return one;
}

MatrixProduct with_joined_axes(const MatrixProduct& as_given) {
  MatrixProduct p = as_given;
  p.batch = p.a_steps = p.b_steps = Dims();
  for (int i = as_given.batch.size() - 1; i >= 0; --i) {
    const std::int64_t extent = as_given.batch[i], a = as_given.a_steps[i], b = as_given.b_steps[i];
    if (extent == 1) continue;
    const bool rows = p.batch.empty() && b == 0 && (p.m == 1 || a == p.m * p.a_row);
    if (rows) {
      if (p.m == 1) p.a_row = a;
      p.m *= extent;
      continue;
    }
    p.batch.insert(0, extent);
    p.a_steps.insert(0, a);
    p.b_steps.insert(0, b);
  }
  return p;
}

bool tiled_product(const MatrixProduct& as_given) {
  if (as_given.m == 0 || as_given.n == 0 || as_given.entries() == 0) return true;
  if (!ir::has_fragments(as_given.types())) return false;
  if (as_given.k == 0) {
    const auto item = static_cast<std::int64_t>(itemsize(as_given.dtype));
    std::memset(as_given.c, 0,
                static_cast<std::size_t>(as_given.entries() * as_given.m * as_given.n * item));
    return true;
  }
  MatrixProduct p = as_given;
  if (!p.mapped()) turn_column(p, static_cast<std::int64_t>(itemsize(p.a_dtype)));
  const loops::Product& tiles = *loops::product(p.a_dtype, p.b_dtype, config().tier);
  if (const DType sums = ir::fragment_sums(p.types()); sums != p.dtype)
    wider_product(p, sums, tiles);
  else
    Tiled(p, tiles).run();
  return true;
}

}  // namespace plait::engine
