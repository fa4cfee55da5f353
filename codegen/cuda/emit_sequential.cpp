// Sequential kernels of Python's loops, of which a thread runs an iteration (ir/iterations.hpp).
#include <algorithm>

#include "emit.hpp"
#include "ir/externals.hpp"

namespace plait::cuda {

namespace {

// Functions of the C library by the prelude's names.
std::string function_name(std::string_view name) {
  static constexpr std::pair<std::string_view, std::string_view> kOthers[] = {
      {"asin", "arcsin"},    {"acos", "arccos"},   {"atan", "arctan"},
      {"asinh", "arcsinh"},  {"acosh", "arccosh"}, {"atanh", "arctanh"},
      {"pow", "real_power"}, {"atan2", "arctan2"}, {"fmod", "real_fmod"}};
  if (name == "float_bits" || name == "bits_float") return std::string(name);
  for (const auto& [ours, preludes] : kOthers)
    if (name == ours) name = preludes;
  return "np::" + std::string(name);
}

}  // namespace

// What the kernel runs on `n`'s part of the range, which is one iteration.
void Emitter::iterations() {
  open("extern \"C\" __global__ void __launch_bounds__(" + std::to_string(p_.mapping.threads()) +
       ", 1) " + p_.entry + "(const Arguments a)");
  open("for (Index m = thread_index(); m < Index(a.total * a.sharers); m += thread_count())");
  line("const Index n = m / a.sharers, sharer = m % a.sharers;");
  line("const Index i0 = 0;");
  line("const int64 s0 = np::add(a.s0, np::multiply(n, a.s2)), s1 = np::add(s0, a.s2);");
  block(0, By::Thread);
  close();
  close();
}

void Emitter::conditional(const Inst& i, By by) {
  const ir::Loop& l = k_.loops[i.index];
  if (l.kind == ir::LoopKind::If) {
    open(l.condition == kNone ? "" : "if (" + value(l.condition) + ")");
    instructions(l.body, by);
    close();
    if (!l.otherwise.empty()) {
      open("else");
      instructions(l.otherwise, by);
      close();
    }
  } else {
    open("for (;;)");
    instructions(l.body, by);
    if (l.condition != kNone) line("if (!" + value(l.condition) + ") break;");
    close();
  }
}

void Emitter::instructions(const std::vector<Val>& body, By by) {
  for (const Val v : body) inst(v, by);
}

// Where what leaves a loop goes on.
void Emitter::label(std::int32_t loop) {
  if (std::any_of(k_.insts.begin(), k_.insts.end(),
                  [&](const Inst& i) { return i.op == Op::Break && i.index == loop; }))
    line("left" + std::to_string(loop) + ":;");
}

void Emitter::sequential(Val v) {
  const Inst& i = k_.insts[v];
  const std::string define = "const " + std::string(type_name(i.type)) + numbered(" v", v) + " = ";
  if (i.op == Op::Break) {
    const std::string condition =
        i.operands[0] == kNone ? "" : "if (" + value(i.operands[0]) + ") ";
    return line(condition + "goto left" + std::to_string(i.index) + ";");
  }
  std::string called = i.op == Op::Overflows
                           ? "np::" + std::string(op_info(i.fn).name) + "_overflows"
                           : function_name(ir::externals()[static_cast<std::size_t>(i.index)].name);
  called += "(" + value(i.operands[0]);
  for (int n = 1; n < 3; ++n)
    if (i.operands[n] != kNone) called += ", " + value(i.operands[n]);
  line(define + called + ");");
}

void Emitter::store_result(const Inst& i) {
  const std::string buffer = numbered("a.b", i.index), v = value(i.operands[0]);
  if (i.index == p_.each->failure)
    line("if (" + v + " != 0) note_failure(" + buffer + ", n);");
  else if (i.index >= p_.each->left)
    line("if (n == Index(a.total) - 1) store<" + std::string(type_name(i.type)) + ">(" + buffer +
         ", 0, " + v + ");");
}

}  // namespace plait::cuda
