// The loop IR: one kernel is one loop nest. The planner builds it, verify() checks it, and every
// backend (interpreter, LLVM, CUDA) executes it. What follows is the contract all of them share.
//
// A kernel is a tree of blocks. A block is an ordered list of instructions; an instruction defines
// at most one value; a value may be used in its block after its definition, and in blocks nested
// there. Semantics are scalar: read the nest as if every loop ran one iteration at a time.
// `Loop::scope` says who takes a loop's iterations. Of these Lanes are of one thread: a loop of
// lanes is a vector loop (LLVM: W x unroll lanes; CUDA: threads), and on any path from the root to
// a leaf at most one loop is. The interpreter takes tiles in the same way, along the loops that
// `Loop::tile` says, or where none is marked along the vector loops. Neither changes bits.
//
// The outermost loop is the grid: a call runs its iterations [begin, end), any chunking, any order,
// any thread.
//
// Where threads share memory, verify() sees to it that they read what the scalar meaning says: a
// barrier stands between what one thread writes and another reads, and between what it reads and
// another writes next. The same iteration of a loop is always of the same thread. What stands in no
// loop of the block is done by all of its threads, each for itself, but for fragments and copies,
// which they do together. A local is a new one in every iteration of its home: a backend that takes
// the same memory again separates the two. On one thread a barrier does nothing, a copy copies at
// once, and spaces and layouts do not show (ir/one_thread.hpp).
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
#include "core/fragments.hpp"
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
  LoadLocal,   // locals[index] at `access` (element units); operand 0: the stage, if it has several
  StoreLocal,  // operand 0 to locals[index] at `access`; operand 1: the stage, if it has several
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
  Barrier,  // all threads of the block (of the warp, in a loop that warps take) have come here, and
            // see what each of them wrote; copies to the stages up to number operand 0 (kNone: all)
            // have arrived; defines no value
  AsyncCopy,  // copies[index], of operand 0 rows and operand 1 columns, to the stage of number
              // operand 2, if the local has several; defines no value
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
// rest added one by one, above that halves (core/summation_tree.def). Sequential adds in order.
// Any: order does not show (integers, extrema, logic). Grouped is of scans by teams of threads:
// groups of 32 iterations scan by doubling steps, and what each group comes to is added in order;
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
// halves above. A Float16 sum or product accumulates in Float32 and is rounded
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

// Who takes a loop's iterations. None stands inside a loop of a later one but Serial and Unrolled,
// which stand anywhere.
enum class Scope : std::uint8_t {
  Serial,    // whoever takes the loop around it, one after the other
  Unrolled,  // the same, each with code of its own, where the bounds are constants
  Grid,      // the blocks of a device, or the threads of a CPU: the outermost loop, if not of lanes
  Block,     // the threads of a block, or its warps where a loop of Warp stands inside
  Warp,      // the threads of a warp
  Lanes,     // the lanes of vectors: a vector loop
};
// Side by side, on memory that they share.
constexpr bool shares(Scope s) { return s == Scope::Block || s == Scope::Warp; }

struct Loop {
  LoopKind kind = LoopKind::Count;
  Scope scope = Scope::Serial;
  Val condition = kNone;  // Bool. If: visible where the loop stands; Repeat: the body defines it;
                          // kNone: always true
  Val var = kNone;        // of Count alone may it be used
  Val begin = kNone;      // uniform Int64; kNone is 0
  Val end = kNone;        // uniform Int64 (exclusive). The grid loop's bounds come from the call.
  bool tile = false;      // for the interpreter; no part of a serialized kernel
  bool rare = false;      // If: `otherwise` is hardly reached; no part of a serialized kernel
  int unroll = 1;         // vector loops: registers an iteration
  bool prefetch = false;  // vector loops that stream: prefetch their contiguous loads ahead
  // Of those, loops that read parts of rows: prefetch the same part so many rows on, by the
  // innermost loop around that walks over them. 0: further along the row.
  int rows_ahead = 0;
  bool aligned = false;  // vector loops: full steps begin on a cache line of what they store
  std::vector<Val> body;
  std::vector<Val> otherwise;         // If only
  std::vector<Reduction> reductions;  // Reduce only
  bool lanes() const { return scope == Scope::Lanes; }
};

using plait::fragment_row;
using plait::fragment_sums;
using plait::FragmentTypes;
using plait::has_fragments;
using plait::kFragmentTypes;
using plait::ProductTypes;

// A matrix in a local as a fragment reads it: row i of A at p (column i of B at p) is the element
// access + i / width * stride + p * step + i % width of the local. Panels of `width` rows of A side
// by side at every p, or, of width 1, rows as they lie.
inline constexpr std::int32_t kOnePanel = std::int32_t{1} << 30;  // a width that has all there are
struct Panels {
  std::int32_t local = 0, access = -1;
  std::int32_t width = 1;
  Coeff stride, step;
  Val stage = kNone;  // uniform Int64, if the local has several
};
// A fragment: C += A * B. A, B and C are of the dtypes of their locals, a row of the table; an
// instruction has that of C. `shape` says which row of kFragmentShapes computes it, whose layouts
// its operands then have; without one the backend chooses. Element (i, j) of C, at access + i * row
// + j of its local, becomes C + s, where s starts at +0.0 and p from 0 to k adds fma(A(i, p), B(p,
// j), s) in the dtype of C, which A and B are converted to: nothing is added in another order,
// whatever the backend, but for operands of 16 bits: their products are exact in float32, and
// tensor cores add those of 16 steps along k in an order of their own; and a CPU that multiplies
// bfloat16 takes subnormal numbers for zero. Integers wrap, so that their order does not show.
// Where `block` is 0, C becomes s whatever it was. What lies beyond m and n in the last panels does
// not count. Stands in no vector loop.
struct Fragment {
  Panels a, b;
  std::int32_t local = 0, access = -1;  // C
  Coeff row;
  Val block = kNone;        // uniform Int64
  std::int32_t shape = -1;  // row of kFragmentShapes
};

// What an AsyncCopy copies: rows of a buffer that nothing writes, side by side from the access
// `from` on (bytes), and `from_row` bytes apart, to a shared local from the access `to` on,
// `to_row` elements apart. It arrives at a barrier.
struct Copy {
  std::int32_t buffer = 0, from = -1;
  Coeff from_row;
  std::int32_t local = 0, to = -1;
  Coeff to_row;
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

// Where a local lies. What a backend has not, it does not run; one thread has everything.
enum class Space : std::uint8_t {
  Cache,     // scratch of whoever runs the iteration of its home, wherever the backend puts that
  Register,  // few elements, whose number is known
  Shared,    // of the threads of a block
  Global,    // the same in the memory of a device
};
constexpr bool shares(Space s) { return s == Space::Shared || s == Space::Global; }

// How the elements of a local lie. The address of an access is row * columns + column, whatever the
// layout; in memory that element lies, with pitch = columns + beside, at
//   row / panel * panel * pitch + column * panel + row % panel
// where panels have so many rows side by side at each column, and else, with words of
// kFragmentWord bytes, at
//   row * pitch + (column / word ^ row % swizzle) * word + column % word
// A layout without columns is one row as it lies.
struct Layout {
  std::int64_t columns = 0;
  std::int64_t beside = 0;  // elements after each row that nothing uses
  std::int32_t panel = 1;
  std::int32_t swizzle =
      1;  // a power of two; swizzled words of a row are as many, or several times
  bool operator==(const Layout&) const = default;
};

// Scratch memory. A local declared in a loop's body belongs to one iteration of that loop: inside a
// vector loop every lane has its own copy. `home` is the loop whose body it belongs to; kernels may
// assume nothing about its initial contents. Those of sequential kernels are at home in the
// grid: its variables, of one element and zero at first, and work memory, whose extent is a
// parameter. A local of several stages has a copy for each, of `count` elements; stage number n,
// from 0 on, is copy n % stages. So what is read as stage n may be copied `stages` - 1 iterations
// ahead.
struct Local {
  DType dtype;
  Coeff count;        // elements
  std::int32_t home;  // index into Kernel::loops
  Space space = Space::Cache;
  Layout layout = {};
  std::int32_t stages = 1;
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
  std::vector<Copy> copies;
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
