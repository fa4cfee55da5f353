// Prints loop IR as CUDA C++. One object prints one program; the parts stand in
//   emit_values.cpp   literals, operations, addresses
//   emit_loops.cpp    blocks, loops, reductions
//   emit_copies.cpp   loops that copy into shared memory
//   emit_sequential.cpp  what sequential kernels alone have
//   emit_kernel.cpp   the entry and how it walks the flattened loops
#pragma once
#include <functional>
#include <optional>
#include <string>

#include "fusion/mapping/tiles.hpp"
#include "program.hpp"

namespace plait::cuda {

// The function that joins two partial results of a reduction.
std::string joining(ReduceKind kind, DType t);

std::string literal(const Scalar& s);
std::string program_head(const Mapping& m);  // the prelude

// A name such as "v7".
template <class N>
std::string numbered(const char* prefix, N n) {
  std::string s(prefix);
  return s += std::to_string(n);
}

// Who runs what is printed: a thread by itself, or all threads of a team the same; where a block
// multiplies fragments, all of its threads, whose team it is, or the lanes of a warp, which are
// one.
enum class By { Thread, Team, Block };

class Emitter {
 public:
  explicit Emitter(const Program& p) : p_(p), k_(p.kernel) {}
  std::string run();

 private:
  const Program& p_;
  const ir::Kernel& k_;
  std::string out_;
  int depth_ = 0;
  std::string guard_;          // what stands before a thread's stores
  std::int32_t scanned_ = -1;  // the loop that a team scans
  bool copying_ = false;       // copies may be under way

  std::string value(ir::Val v) const;  // an expression
  std::string index(ir::Val v) const;  // the same as an Index
  // `name` gives the text of a term's variable; a term whose name is empty does not count.
  std::string address(const ir::Access& a,
                      const std::function<std::string(ir::Val)>& name = nullptr) const;
  std::string tile_address(ir::Val load) const;
  std::string apply(const ir::Inst& i) const;
  std::string local(const ir::Inst& i) const;
  void inst(ir::Val v, By by);
  void fragment(const ir::Inst& i);

  void block(std::int32_t loop, By by);
  By inside(std::int32_t loop, By by) const;  // who runs the body of a loop
  void open_loop(std::int32_t loop, By by);
  void close_loop(std::int32_t loop);
  bool in_pieces(std::size_t buffer) const {
    return piece_load(k_, p_.nest, p_.mapping, buffer) != kNone;
  }
  void fetch_pieces(const std::string& count);
  void loop(ir::Val v, By by);
  // Loops that only copy a rectangle into shared memory, and what they copy.
  struct Copy {
    std::vector<std::int32_t> loops;  // outermost first; the last ones are lines and columns
    ir::Val load, store;
  };
  std::optional<Copy> copy(std::int32_t loop) const;
  void copy_rectangle(const Copy& c, By by);
  void reduce(ir::Val v, By by);
  void fold(ir::Val v, std::size_t r);
  void running(ir::Val v);
  void scatter(const ir::Inst& i, By by);
  // Of sequential kernels.
  void iterations();
  void conditional(const ir::Inst& i, By by);
  void instructions(const std::vector<ir::Val>& body, By by);
  void label(std::int32_t loop);
  void sequential(ir::Val v);
  void store_result(const ir::Inst& i);
  void finish_copies();
  void join_folds(ir::Val v, By by);
  bool is_folded_again(ir::Val v, std::size_t r) const;
  std::string joined(const ir::Reduction& r, const std::string& a, const std::string& b) const;
  std::string start_of(const ir::Reduction& r, const std::string& begin) const;

  void transposed_loops();
  void tiles(Tile kind);
  void packed_loop();
  void locals();
  int least_blocks() const;
  void entry();

  void line(const std::string& text);
  void open(const std::string& text);
  void close(const std::string& text = "}");
};

}  // namespace plait::cuda
