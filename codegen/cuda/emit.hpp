// Prints loop IR as CUDA C++. One object prints one program; the parts stand in
//   emit_values.cpp   literals, operations, addresses
//   emit_loops.cpp    blocks, loops, reductions
//   emit_kernel.cpp   the argument structure, the entry and how it walks the flattened loops
#pragma once
#include <string>

#include "program.hpp"

namespace plait::cuda {

std::string_view type_name(DType t);  // of a value in the program
std::string literal(const Scalar& s);
std::string program_head(bool wide);  // the prelude

class Emitter {
 public:
  explicit Emitter(const Program& p) : p_(p), k_(p.kernel) {}
  std::string run();

 private:
  const Program& p_;
  const ir::Kernel& k_;
  std::string out_;
  int depth_ = 0;

  std::string value(ir::Val v) const;  // an expression
  std::string index(ir::Val v) const;  // the same as an Index
  std::string address(const ir::Access& a) const;
  std::string apply(const ir::Inst& i) const;
  std::string local(const ir::Inst& i) const;
  void inst(ir::Val v);

  void block(std::int32_t loop);
  void loop(ir::Val v);
  void reduce(ir::Val v);
  void fold(ir::Val v, std::size_t r);
  std::string start_of(const ir::Reduction& r, const std::string& begin) const;
  bool heavy(std::int32_t loop) const;

  void arguments();
  void entry();

  void line(const std::string& text);
  void open(const std::string& text);
  void close(const std::string& text = "}");
};

}  // namespace plait::cuda
