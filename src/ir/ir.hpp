// The loop IR: one kernel is one loop nest. The planner builds it, verify() checks it, and every
// backend (interpreter, LLVM, CUDA) executes it. What follows is the contract all of them share.
//
// A kernel is a tree of blocks. A block is an ordered list of instructions; an instruction defines
// at most one value; a value may be used in its block after its definition, and in blocks nested
// there. Semantics are scalar: read the nest as if every loop ran one iteration at a time.
// `Loop::vector` says along which loop a backend takes lanes (LLVM: W x unroll lanes; CUDA:
// threads); on any path from the root to a leaf at most one loop is a vector loop. The interpreter
// takes tiles in the same way, along the loops that `Loop::tile` says, or where none is marked
// along the vector loops. Neither changes bits.
//
// The outermost loop is the grid: a call runs its iterations [begin, end), any chunking, any order,
// any thread.
//
// A sequential kernel is a program: one grid iteration, in which everything happens in the order in
// which it is written. It alone has conditions, loops that repeat, and breaks.
#pragma once
#include <atomic>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "core/dims.hpp"
#include "core/op_table.hpp"
#include "core/scalar.hpp"

namespace plait::ir {

using Val = std::uint32_t;  // index into Kernel::insts
inline constexpr Val kNone = ~0u;

enum class Op : std::uint8_t {
  Const,       // imm
  Param,       // int64 params[index]: an extent, a stride, an offset
  Arg,         // scalars[index], of `type`
  Var,         // the variable of loop `index`, Int64; stands in no body (Loop::var names it)
  Apply,       // elementwise operation `fn` of the table; operands have the loop dtype (Where: Bool
               // first)
  Cast,        // NumPy's unsafe cast of operand 0 to `type`
  Load,        // buffers[index] at `access`
  Store,       // operand 0 to buffers[index] at `access`
  LoadLocal,   // locals[index] at `access` (element units)
  StoreLocal,  // operand 0 to locals[index] at `access`
  For,         // loop `index`, of any kind; defines no value
  Reduce,      // loop `index` with reductions; read them with Result
  Result,      // reduction number `index` of the Reduce in operand 0
  Gather,      // buffers[index] at `access` + operand 0, any Int64 value, times `stride`
  Fragment,    // fragments[index] on locals, of extents m, n, k: operands 0, 1, 2; defines no value
  Scatter,  // the element of buffers[index] that a Gather would read becomes `fn` of itself and of
            // operand 1, or, where fn is none, just operand 1; defines no value
  Running,  // reduction number `index` of the loop whose body it stands in, as far as this
            // iteration and with it
  Carried,  // the same of a fold of kind Last, as this iteration finds it
  // Of sequential kernels:
  Break,  // leaves loop `index`, one of those around it, where operand 0 (Bool; kNone: always) is
          // true; defines no value
  Overflows,  // Bool: whether `fn` (Add, Subtract, Multiply) of Int64 operands goes beyond 64 bits
  External,   // the function `index` of ir/externals.hpp
};

// A stride or offset: `value` when param is kNoParam, else params[param]. Bytes for buffers,
// elements for locals.
inline constexpr std::int32_t kNoParam = -1;
struct Coeff {
  std::int64_t value = 0;
  std::int32_t param = kNoParam;
};
struct Term {
  Val var;  // a Var, or any uniform Int64 value
  Coeff stride;
};
// address = offset + sum(var * stride)
struct Access {
  Coeff offset;
  std::vector<Term> terms;
};

// Float sums. Pairwise is NumPy's tree: from -0.0, below 8 elements sequential, to 128 eight
// accumulators r[i % 8] over the multiple of 8, joined ((r0+r1)+(r2+r3))+((r4+r5)+(r6+r7)) and the
// rest added one by one, above that split at (n/2) - (n/2) % 8. Sequential adds in order. Any:
// order does not show (integers, extrema, logic). Grouped is of scans by teams of threads: groups
// of 32 iterations scan by doubling steps, and what each group comes to is added in order;
// interpreter and LLVM have none of these.
enum class Order : std::uint8_t { Any, Sequential, Pairwise, Grouped };

struct Reduction {
  ReduceKind kind;
  Val value;  // defined in the loop's body; its type is the accumulator's (Any/All: Bool)
  Order order = Order::Any;
  // ArgMin/ArgMax only: `value` is compared as if sqrt had been applied to it; it is known
  // non-negative or NaN. The backend compares the values themselves and takes exact roots only on
  // near ties.
  bool guarded_sqrt = false;
  // Of running folds and of kind Last: what it starts from instead of the identity, of the value's
  // type, visible where the loop stands.
  Val init = kNone;
};
// Folds start from the identity (fold_identity); ArgMin/ArgMax start at (first iteration) and
// give Int64, the value of the loop's variable at NumPy's choice: the first extreme, the first NaN
// wins over all. An empty loop gives the identity, an arg-reduction its begin.
// A complex element is two to NumPy's tree: sequential below 4 elements, four accumulators to 64,
// split at (n - n % 8) / 2 above. A Float16 sum or product accumulates in Float32 and is rounded
// once at the end.
// A fold that a Running reads is a scan: Sequential or Grouped, a sum or product of numbers or an
// extremum, and not of Float16. Of equal extremes the later one stays. No other fold of its loop is
// pairwise. Last is what a loop carries from one iteration to the next: Sequential, from an `init`.
// All of a loop's carried values change at the end of its body; none of them is just a Carried. The
// loop is no vector loop and sums nothing pairwise. Folds of several values, in which a step makes
// them all, are rows of ir/fold.hpp.

// What a For opens. Count: once for each value of its variable. If: `body` once where `condition`
// is true, else `otherwise`. Repeat: `body`, and again while `condition` is true.
enum class LoopKind : std::uint8_t { Count, If, Repeat };

struct Loop {
  LoopKind kind = LoopKind::Count;
  Val condition = kNone;  // Bool. If: visible where the loop stands; Repeat: the body defines it;
                          // kNone: always true
  Val var = kNone;        // of Count alone may it be used
  Val begin = kNone;      // uniform Int64; kNone is 0
  Val end = kNone;        // uniform Int64 (exclusive). The grid loop's bounds come from the call.
  bool vector = false;
  bool tile = false;  // for the interpreter; no part of a serialized kernel
  bool rare = false;  // If: `otherwise` is hardly reached; no part of a serialized kernel
  int unroll =
      1;  // vector loops: registers an iteration; serial loops with constant bounds: 0 = fully
  bool prefetch = false;  // vector loops that stream: prefetch their contiguous loads ahead
  // Of those, loops that read parts of rows: prefetch the same part so many rows on, by the
  // innermost loop around that walks over them. 0: further along the row.
  int rows_ahead = 0;
  bool aligned = false;  // vector loops: full steps begin on a cache line of what they store
  std::vector<Val> body;
  std::vector<Val> otherwise;         // If only
  std::vector<Reduction> reductions;  // Reduce only
};

// A matrix in a local as a fragment reads it: row i of A at p (column i of B at p) is the element
// access + i / width * stride + p * step + i % width of the local. Panels of `width` rows of A side
// by side at every p, or, of width 1, rows as they lie.
inline constexpr std::int32_t kOnePanel = std::int32_t{1} << 30;  // a width that has all there are
struct Panels {
  std::int32_t local = 0, access = -1;
  std::int32_t width = 1;
  Coeff stride, step;
};
// What fragments multiply: A, B, and C, which has the dtype that products are summed in.
struct FragmentTypes {
  DType a, b, sums;
};
inline constexpr FragmentTypes kFragmentTypes[] = {
    {DType::Float16, DType::Float16, DType::Float32},
    {DType::Float16, DType::Float32, DType::Float32},
    {DType::Float32, DType::Float16, DType::Float32},
    {DType::Float32, DType::Float32, DType::Float32},
    {DType::BFloat16, DType::BFloat16, DType::Float32},
    {DType::BFloat16, DType::Float32, DType::Float32},
    {DType::Float32, DType::BFloat16, DType::Float32},
    {DType::Float64, DType::Float64, DType::Float64},
    {DType::Int8, DType::Int8, DType::Int32},
    {DType::Int8, DType::UInt8, DType::Int32},
    {DType::UInt8, DType::Int8, DType::Int32},
    {DType::UInt8, DType::UInt8, DType::Int32},
    {DType::Int16, DType::Int16, DType::Int32},
    {DType::UInt16, DType::UInt16, DType::Int32},
    {DType::Int32, DType::Int32, DType::Int32},
    {DType::UInt32, DType::UInt32, DType::UInt32},
    {DType::Int64, DType::Int64, DType::Int64},
    {DType::UInt64, DType::UInt64, DType::UInt64},
};
// The row of these operands; -1: no fragment takes them.
constexpr int fragment_row(DType a, DType b) {
  int row = 0;
  for (const FragmentTypes& t : kFragmentTypes) {
    if (t.a == a && t.b == b) return row;
    ++row;
  }
  return -1;
}
// Of a matrix product: its operands and itself, which may be narrower than the sums. Integers wrap,
// and what wraps in more bits has the right ones in fewer.
struct ProductTypes {
  DType a, b, result;
  constexpr bool uniform() const { return a == b && b == result; }
};
constexpr int fragment_row(const ProductTypes& t) {
  const int row = fragment_row(t.a, t.b);
  if (row < 0) return row;
  const DType sums = kFragmentTypes[row].sums;
  const bool wraps = is_integer(sums) && is_integer(t.result);
  const bool has =
      t.result == sums || t.uniform() || (wraps && itemsize(t.result) <= itemsize(sums));
  return has ? row : -1;
}
constexpr bool has_fragments(const ProductTypes& t) { return fragment_row(t) >= 0; }
// The sums' dtype; the product's where no fragment computes it.
constexpr DType fragment_sums(const ProductTypes& t) {
  const int row = fragment_row(t);
  return row < 0 ? t.result : kFragmentTypes[row].sums;
}
// A fragment: C += A * B. A, B and C are of the dtypes of their locals, a row of the table; an
// instruction has that of C. Element (i, j) of C, at access + i * row + j of its local, becomes
// C + s, where s starts at +0.0 and p from 0 to k adds fma(A(i, p), B(p, j), s) in the dtype of C,
// which A and B are converted to: nothing is added in another order, whatever the backend, but for
// operands of 16 bits: their products are exact in float32, and tensor cores add those of 16 steps
// along k in an order of their own; and a CPU that multiplies bfloat16 takes subnormal numbers for
// zero. Integers wrap, so that their order does not show. Where `block`
// is 0, C becomes s whatever it was. What lies beyond m and n in the last panels does not count.
// Stands in no vector loop.
struct Fragment {
  Panels a, b;
  std::int32_t local = 0, access = -1;  // C
  Coeff row;
  Val block = kNone;  // uniform Int64
};

struct Inst {
  Op op;
  DType type = DType::Int64;
  OpId fn = OpId::Count_;
  std::int32_t index = 0;
  Val operands[3] = {kNone, kNone, kNone};
  std::int32_t access = -1;  // index into Kernel::accesses
  Coeff stride;              // Gather, Scatter: bytes from one index to the next
  bool nontemporal = false;  // Store: the output is large and not read soon
  Scalar imm;
};
inline bool opens_loop(const Inst& i) { return i.op == Op::For || i.op == Op::Reduce; }

struct BufferParam {
  DType dtype;
  // Loads of a written buffer are allowed only at exactly the address that the same iteration
  // stores later; gathers are not. Whoever builds a kernel knows that indices stay in the buffer.
  // In a sequential kernel all may be anywhere, and buffers may overlap.
  bool written = false;
  // Of sequential kernels: begins at address 0, so that an index is the address of memory that the
  // kernel got while it ran (core/heap.hpp). Gathers and scatters alone name it.
  bool heap = false;
};
// Scatters combine by addition, multiplication, minimum or maximum of integers or floats of 32 or
// 64 bits, one after the other as the loops go. Nothing else names their buffer but stores of what
// it begins with, in loops of the same iteration of the grid before, and another scatter only
// elements of its own. Iterations of a loop whose variable is in the access name elements of their
// own, whatever the indices: those of the grid do, and those of every loop inside a vector loop,
// whose lanes follow each other.

// Scratch memory. A local declared in a loop's body belongs to one iteration of that loop: inside a
// vector loop every lane has its own copy. `home` is the loop whose body it belongs to; kernels may
// assume nothing about its initial contents. Those of sequential kernels are at home in the
// grid: its variables, of one element and zero at first, and work memory, whose extent is a
// parameter.
struct Local {
  DType dtype;
  Coeff count;        // elements
  std::int32_t home;  // index into Kernel::loops
};

constexpr bool is_variable(const Local& l) {
  return l.count.param == kNoParam && l.count.value == 1;
}

struct Kernel {
  std::string name;  // for dumps and profiles; not part of the key
  std::vector<Inst> insts;
  std::vector<Access> accesses;
  std::vector<Loop> loops;  // loops[0] is the grid
  std::vector<BufferParam> buffers;
  std::vector<DType> scalars;
  std::vector<Local> locals;
  std::vector<Fragment> fragments;
  std::int32_t params = 0;  // how many int64 parameters
  bool sequential = false;
};

// Readable text: one instruction a line, loops indented.
std::string to_string(const Kernel& k);
// Throws InternalError with the offending instruction. Run after every pass in debug and test
// builds.
void verify(const Kernel& k);
// A byte string that is equal exactly for equal kernels (names and tiles aside): the key of memory
// and disk caches.
std::string serialize(const Kernel& k);
Kernel deserialize(std::string_view bytes);  // throws InternalError on damage

std::size_t bytes_of(const Kernel& k);  // of memory, roughly

inline constexpr std::atomic<bool> kNeverStopped{false};
// How a kernel is called, whatever the backend made of it.
struct CallArgs {
  void* const* buffers;
  const std::int64_t* params;
  const Scalar* scalars;
  // Kernels of the host look at it in the middle of long iterations. Once it is true they may
  // return at once, and what the call was to store is unspecified.
  const std::atomic<bool>* stop = &kNeverStopped;
};
// Largest scratch need of one thread, in bytes, for these parameters, with `lanes` lanes in a
// vector loop.
std::size_t scratch_bytes(const Kernel& k, const std::int64_t* params, int lanes);

}  // namespace plait::ir
