// Loads whose lanes lie apart, several at once: wide loads and a transposition in registers instead
// of one load an element. Full steps only, so every row that is read belongs to a live lane, and
// nothing beyond the last element that some load of the group needs is touched.
#include <algorithm>
#include <memory>

#include "emitter.hpp"

namespace plait::jit {
using namespace llvm;
namespace {

constexpr std::int64_t kMaxOddStride = 8;  // beyond, rows need fewer shuffles
constexpr int kMaxColumns = 8;             // of a copied block: what stays in registers
constexpr int kPrefetchRowsAhead = 4096;

// n vectors end to end, read as an array with n columns: column c is one vector.
class Columns {
 public:
  Columns(IRBuilder<>& b, SmallVector<llvm::Value*, 16> v) : b_(b), v_(std::move(v)) {}

  llvm::Value* take(int c) {
    const int n = static_cast<int>(v_.size());
    if (n == 1) return v_[0];
    if (n % 2) return pick(c);
    std::unique_ptr<Columns>& half = halves_[c % 2];
    if (!half) {
      SmallVector<int, 64> every_second;
      for (int l = 0; l < width(); ++l) every_second.push_back(2 * l + c % 2);
      SmallVector<llvm::Value*, 16> v;
      for (int i = 0; i < n; i += 2)
        v.push_back(b_.CreateShuffleVector(v_[i], v_[i + 1], every_second));
      half = std::make_unique<Columns>(b_, std::move(v));
    }
    return half->take(c / 2);
  }

 private:
  int width() const {
    return static_cast<int>(cast<FixedVectorType>(v_[0]->getType())->getNumElements());
  }

  // Vector by vector: what is there so far, or what the next one has.
  llvm::Value* pick(int c) {
    const int n = static_cast<int>(v_.size()), w = width();
    llvm::Value* r = v_[0];
    for (int j = 1; j < n; ++j) {
      SmallVector<int, 64> from;
      for (int l = 0; l < w; ++l) {
        int at = l * n + c, source = at / w;
        int so_far = j == 1 ? at : l;
        from.push_back(source < j ? so_far : source == j ? w + at % w : -1);
      }
      r = b_.CreateShuffleVector(r, v_[j], from);
    }
    return r;
  }

  IRBuilder<>& b_;
  SmallVector<llvm::Value*, 16> v_;
  std::unique_ptr<Columns> halves_[2];
};

bool same_terms(const ir::Access& a, const ir::Access& b) {
  return std::equal(a.terms.begin(), a.terms.end(), b.terms.begin(), b.terms.end(),
                    [](const ir::Term& x, const ir::Term& y) {
                      return x.var == y.var && x.stride.value == y.stride.value &&
                             x.stride.param == y.stride.param;
                    });
}

int power_of_two_below(std::int64_t n, int most) {
  int p = 1;
  while (2 * p <= n && 2 * p <= most) p *= 2;
  return p;
}

}  // namespace

bool Emitter::strided(const ir::Inst& i) const {
  std::size_t item = itemsize(i.type);
  return i.op == ir::Op::Load && lanes_.loop >= 0 && !lanes_.mask && (item == 4 || item == 8) &&
         i.type != DType::Bool && !is_complex(i.type) && !k_.buffers[i.index].written;
}

// The rows of `columns` elements at p, p + lane_stride, ..., one a lane of register r, end to end
// in `columns` vectors.
SmallVector<llvm::Value*, 16> Emitter::load_rows(DType t, llvm::Value* p, llvm::Value* lane_stride,
                                                 int columns, int r, bool prefetch) {
  const int width = lanes_.width;
  Type* row = FixedVectorType::get(memory_type(t), static_cast<unsigned>(columns));
  SmallVector<llvm::Value*, 64> parts;
  for (int l = 0; l < width; ++l) {
    llvm::Value* at_row = at(p, b_.CreateMul(i64(r * width + l), lane_stride));
    if (prefetch) prefetch_line(at(at_row, i64(kPrefetchRowsAhead)));
    parts.push_back(b_.CreateAlignedLoad(row, at_row, Align(1)));
  }
  while (static_cast<int>(parts.size()) > columns) {
    SmallVector<llvm::Value*, 64> joined;
    SmallVector<int, 64> all;
    auto count = cast<FixedVectorType>(parts[0]->getType())->getNumElements();
    for (unsigned l = 0; l < 2 * count; ++l) all.push_back(static_cast<int>(l));
    for (std::size_t i = 0; i < parts.size(); i += 2)
      joined.push_back(b_.CreateShuffleVector(parts[i], parts[i + 1], all));
    parts = joined;
  }
  return {parts.begin(), parts.end()};
}

// The elements from p on, `stride` for every lane of register r, less the last `beyond`, which
// nobody needs and which may lie outside the array.
SmallVector<llvm::Value*, 16> Emitter::load_run(DType t, llvm::Value* p, int stride, int r,
                                                int beyond, bool prefetch) {
  const int width = lanes_.width;
  auto item = static_cast<std::int64_t>(itemsize(t));
  Type* vt = FixedVectorType::get(memory_type(t), static_cast<unsigned>(width));
  SmallVector<llvm::Value*, 16> v;
  p = at(p, i64(r * width * stride * item));
  if (prefetch)
    for (std::int64_t line = 0; line < width * stride * item; line += 64)
      prefetch_line(at(p, i64(line + kPrefetchRowsAhead)));
  for (int j = 0; j < stride; ++j) {
    int back = j == stride - 1 ? beyond : 0;
    llvm::Value* x = b_.CreateAlignedLoad(vt, at(p, i64((j * width - back) * item)), Align(1));
    if (back) {
      SmallVector<int, 64> forward;
      for (int l = 0; l < width; ++l) forward.push_back(l + back < width ? l + back : -1);
      x = b_.CreateShuffleVector(x, forward);
    }
    v.push_back(x);
  }
  return v;
}

// Emits the load `first` together with later ones of its block that differ by a few elements in
// their offset; false when the usual way is no worse.
bool Emitter::load_group(ir::Val first) {
  const ir::Inst& i = k_.insts[first];
  const ir::Access& access = k_.accesses[i.access];
  if (!strided(i) || access.offset.param != ir::kNoParam) return false;
  Address a = address_of(i);
  if (!a.lane_stride || unit(a, i.type)) return false;

  struct Member {
    ir::Val v;
    std::int64_t column;  // relative to `first`
  };
  std::vector<Member> members;
  auto item = static_cast<std::int64_t>(itemsize(i.type));
  const std::vector<ir::Val>& body = k_.loops[analysis_.block[first]].body;
  for (auto v = std::find(body.begin(), body.end(), first); v != body.end(); ++v) {
    const ir::Inst& m = k_.insts[*v];
    if (m.op != ir::Op::Load || m.index != i.index || loaded_[*v]) continue;
    const ir::Access& b = k_.accesses[m.access];
    std::int64_t apart = b.offset.value - access.offset.value;
    if (b.offset.param == ir::kNoParam && apart % item == 0 && same_terms(access, b))
      members.push_back({*v, apart / item});
  }
  std::sort(members.begin(), members.end(),
            [](const Member& x, const Member& y) { return x.column < y.column; });

  const int width = lanes_.width;
  std::int64_t stride = 0;  // elements from lane to lane, when known and small
  if (auto* c = dyn_cast<ConstantInt>(a.lane_stride); c && c->getSExtValue() % item == 0) {
    std::int64_t s = c->getSExtValue() / item;
    if (s >= 2 && s <= width &&
        (s <= kMaxOddStride || isPowerOf2_64(static_cast<std::uint64_t>(s))))
      stride = s;
  }
  int columns = power_of_two_below(members.back().column - members.front().column + 1, width);
  if (!stride && (members.size() < 2 || columns < 2)) return false;

  // Windows from the lowest column on; the one with `first` is emitted.
  std::size_t from = 0;
  for (std::size_t m = 0; members[m].column <= 0; ++m)
    if (members[m].column - members[from].column >= (stride ? stride : columns)) from = m;
  std::int64_t start = members[from].column, past = start + (stride ? stride : columns);
  std::size_t to = from;
  while (to < members.size() && members[to].column < past) ++to;
  if (!stride && to - from < 2) return false;
  if (!stride) start = std::min(start, members.back().column - columns + 1);
  auto beyond = static_cast<int>(past - 1 - members[to - 1].column);

  for (std::size_t m = from; m < to; ++m) vals_[members[m].v] = {{}, true};
  llvm::Value* p = at(a.base, i64(start * item));
  bool prefetch = k_.loops[lanes_.loop].prefetch;
  for (int r = 0; r < lanes_.regs; ++r) {
    // Only the last register's end may be the array's.
    Columns c(b_, stride ? load_run(i.type, p, static_cast<int>(stride), r,
                                    r == lanes_.regs - 1 ? beyond : 0, prefetch)
                         : load_rows(i.type, p, a.lane_stride, columns, r, prefetch));
    for (std::size_t m = from; m < to; ++m)
      vals_[members[m].v].regs.push_back(c.take(static_cast<int>(members[m].column - start)));
  }
  for (std::size_t m = from; m < to; ++m) loaded_[members[m].v] = members[m].v != first;
  return true;
}

// A loop that does nothing but copy a row into a local, one column a lane: blocks of columns are
// transposed, the rest is copied as any loop would.
bool Emitter::copy_rows(std::int32_t loop, llvm::Value* begin, llvm::Value** end_of_blocks,
                        llvm::Value* end, bool unrolled) {
  const ir::Loop& l = k_.loops[loop];
  if (l.body.size() != 2) return false;
  const ir::Inst &in = k_.insts[l.body[0]], &out = k_.insts[l.body[1]];
  if (!strided(in) || out.op != ir::Op::StoreLocal || out.operands[0] != l.body[0]) return false;
  if (!analysis_.per_lane(k_.locals[out.index])) return false;
  // The stride along the loop, when it is one term with a known stride.
  auto step = [&](const ir::Access& a) {
    std::int64_t s = 0;
    for (const ir::Term& t : a.terms)
      if (t.var == l.var) s = s || t.stride.param != ir::kNoParam ? -1 : t.stride.value;
    return s;
  };
  auto item = static_cast<std::int64_t>(itemsize(in.type));
  if (step(k_.accesses[in.access]) != item || step(k_.accesses[out.access]) != 1) return false;
  bool by_lane = false;
  for (const ir::Term& t : k_.accesses[in.access].terms)
    by_lane |= t.var == k_.loops[lanes_.loop].var;
  if (!by_lane) return false;

  const int columns = std::min(lanes_.width, kMaxColumns);
  llvm::Value* n = at_least_zero(b_.CreateSub(end, begin));
  *end_of_blocks = b_.CreateAdd(begin, b_.CreateAnd(n, i64(-columns)));
  auto copy = [&](llvm::Value* i) {
    bind_serial(loop, i);
    Address from = address_of(in), to = address_of(out);
    for (int r = 0; r < lanes_.regs; ++r) {
      Columns c(b_, load_rows(in.type, from.base, from.lane_stride, columns, r, false));
      for (int j = 0; j < columns; ++j) {
        std::int64_t at_lane = (j * lanes_.regs + r) * lanes_.width;
        b_.CreateAlignedStore(c.take(j), at(to.base, i64(at_lane * item)), Align(1));
      }
    }
  };
  if (!unrolled) {
    counted(begin, *end_of_blocks, i64(columns), copy);
    return true;
  }
  std::int64_t stop = cast<ConstantInt>(*end_of_blocks)->getSExtValue();
  for (std::int64_t i = cast<ConstantInt>(begin)->getSExtValue(); i < stop; i += columns)
    copy(i64(i));
  return true;
}

}  // namespace plait::jit
