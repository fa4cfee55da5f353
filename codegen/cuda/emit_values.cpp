#include <algorithm>
#include <cmath>
#include <cstdio>

#include "emit.hpp"

namespace plait::cuda {

std::string_view type_name(DType t) {
  switch (t) {
    case DType::Float32:
      return "float";
    case DType::Float64:
      return "double";
// uint4 is a vector's name in CUDA.
#define PLAIT_NARROW_INT(id, ...) \
  case DType::id:                 \
    return #id;
#include "plait/detail/dtypes.def"
    default:
      return name(t);
  }
}

namespace {

std::string real_literal(double v, bool single) {
  // In parentheses, so that a negation before it is none of "--".
  if (std::signbit(v) && !std::isnan(v)) {
    std::string s("(-");
    return s += real_literal(-v, single) + ")";
  }
  if (std::isnan(v)) return single ? "not_a_number(0.0f)" : "not_a_number(0.0)";
  if (std::isinf(v)) return single ? "infinity(0.0f)" : "infinity(0.0)";
  char buffer[40];
  std::snprintf(buffer, sizeof buffer, single ? "%.9g" : "%.17g", v);
  std::string s(buffer);
  if (s.find_first_of(".e") == std::string::npos) s += ".0";
  return single ? s += "f" : s;
}

std::string signed_literal(std::int64_t v) {
  if (v == INT64_MIN) return "(-9223372036854775807ll - 1)";
  return std::to_string(v) + (v > INT32_MAX || v < INT32_MIN ? "ll" : "");
}

// Operations that read best as operators, and mean in C++ what they mean in NumPy.
const char* infix(OpId fn, DType t) {
  if (!is_float(t)) return nullptr;
  switch (fn) {
    case OpId::Add:
      return " + ";
    case OpId::Subtract:
      return " - ";
    case OpId::Multiply:
      return " * ";
    case OpId::Divide:
      return " / ";
    case OpId::Less:
      return " < ";
    case OpId::LessEqual:
      return " <= ";
    case OpId::Greater:
      return " > ";
    case OpId::GreaterEqual:
      return " >= ";
    case OpId::Equal:
      return " == ";
    case OpId::NotEqual:
      return " != ";
    default:
      return nullptr;
  }
}

std::string coeff(const ir::Coeff& c) {
  if (c.param != kNoParam) return numbered("Index(a.p", c.param) + ")";
  return signed_literal(c.value);
}

}  // namespace

std::string literal(const Scalar& s) {
  switch (s.dtype) {
    case DType::Bool:
      return s.as<std::uint8_t>() ? "true" : "false";
    case DType::Int8:
      return numbered("int8(", s.as<std::int8_t>()) + ")";
    case DType::UInt8:
      return numbered("uint8(", s.as<std::uint8_t>()) + ")";
    case DType::Int16:
      return numbered("int16(", s.as<std::int16_t>()) + ")";
    case DType::UInt16:
      return numbered("uint16(", s.as<std::uint16_t>()) + ")";
    case DType::Int32:
      return "int32(" + signed_literal(s.as<std::int32_t>()) + ")";
    case DType::UInt32:
      return std::to_string(s.as<std::uint32_t>()) + "u";
    case DType::Int64:
      return "int64(" + signed_literal(s.as<std::int64_t>()) + ")";
    case DType::UInt64:
      return "uint64(" + std::to_string(s.as<std::uint64_t>()) + "u)";
    case DType::Float16:
      return "float16{" + std::to_string(s.as<std::uint16_t>()) + "}";
    case DType::Float32:
      return real_literal(s.as<float>(), true);
    case DType::Float64:
      return real_literal(s.as<double>(), false);
    case DType::Complex64: {
      const auto c = s.as<std::complex<float>>();
      return "complex64{" + real_literal(c.real(), true) + ", " + real_literal(c.imag(), true) +
             "}";
    }
    case DType::Complex128: {
      const auto c = s.as<std::complex<double>>();
      return "complex128{" + real_literal(c.real(), false) + ", " + real_literal(c.imag(), false) +
             "}";
    }
    default:
      return std::string(type_name(s.dtype)) + "{" +
             std::to_string(itemsize(s.dtype) == 2 ? s.as<std::uint16_t>() : s.as<std::uint8_t>()) +
             "}";
  }
}

std::string Emitter::value(Val v) const {
  const Inst& i = k_.insts[v];
  switch (i.op) {
    case Op::Const:
      return literal(i.imm);
    case Op::Param:
      return numbered("a.p", i.index);
    case Op::Arg:
      return numbered(p_.each && i.index < 2 ? "s" : "a.s", i.index);
    case Op::Var:
      return "int64(" + index(v) + ")";
    case Op::Result:
      return numbered("v", i.operands[0]) + numbered("_", i.index);
    default:
      return numbered("v", v);
  }
}

std::string Emitter::index(Val v) const {
  const Inst& i = k_.insts[v];
  switch (i.op) {
    case Op::Var:
      return numbered("i", i.index);
    case Op::Const:
      return signed_literal(i.imm.as<std::int64_t>());
    default:
      return "Index(" + value(v) + ")";
  }
}

std::string Emitter::address(const ir::Access& a,
                             const std::function<std::string(Val)>& name) const {
  std::string s;
  for (const ir::Term& t : a.terms) {
    const std::string var = name ? name(t.var) : index(t.var);
    if (var.empty()) continue;
    if (!s.empty()) s += " + ";
    s += var;
    if (t.stride.param != kNoParam || t.stride.value != 1) s += " * " + coeff(t.stride);
  }
  if (s.empty()) return coeff(a.offset);
  if (a.offset.param != kNoParam || a.offset.value != 0) s += " + " + coeff(a.offset);
  return s;
}

// Bytes from the start of what shared memory holds for the thread.
std::string Emitter::tile_address(Val load) const {
  const Inst& i = k_.insts[load];
  const std::string tile = numbered("a.m", i.index);
  const ir::Access& a = k_.accesses[i.access];
  if (!in_pieces(i.index)) {
    const Val row = k_.loops[0].var;
    return address(a, [&](Val v) { return v == row ? "" : index(v); }) + " - Index(" + tile +
           "_low)";
  }
  const std::int32_t loop = p_.mapping.streamed;
  const std::vector<char> under = loops_under(k_, loop);
  const std::string pitch = "Index(" + tile + "_pitch)", item = std::to_string(itemsize(i.type));
  const std::string at = "(" + numbered("i", loop) + numbered(" - from", loop) + ") * ";
  if (p_.nest.tiles[i.index] == Tile::Rows) return at + item;
  if (const std::vector<Val> loads = loads_of(k_, static_cast<std::size_t>(i.index));
      loads.size() > 1) {
    const auto row = std::find(loads.begin(), loads.end(), load) - loads.begin();
    return at + item + numbered(" + ", row) + " * " + pitch;
  }
  if (const std::int32_t across = piece_rows(k_, p_.mapping, load); across >= 0)
    return at + item + numbered(" + i", across) + " * " + pitch;
  ir::Access inner;
  for (const ir::Term& t : a.terms)
    if (const Inst& v = k_.insts[t.var]; v.op == Op::Var && v.index != loop && under[v.index])
      inner.terms.push_back(t);
  return at + pitch + (inner.terms.empty() ? "" : " + " + address(inner));
}

std::string Emitter::local(const Inst& i) const {
  return numbered("l", i.index) + "[" + address(k_.accesses[i.access]) + "]";
}

// float16 computes in float32, but for what needs its bits.
std::string Emitter::apply(const Inst& i) const {
  const DType in = k_.insts[i.operands[i.fn == OpId::Where ? 1 : 0]].type;
  const bool bits = i.fn == OpId::Where || i.fn == OpId::Nextafter || i.fn == OpId::Spacing;
  const bool half = in == DType::Float16 && !bits;
  auto operand = [&](int n) {
    std::string s = value(i.operands[n]);
    return half ? "widen(" + s + ")" : s;
  };
  std::string s;
  if (const char* op = infix(i.fn, in)) {
    s = operand(0) + op + operand(1);
  } else if (i.fn == OpId::Negative && is_float(in)) {
    s = "-(" + operand(0) + ")";
  } else if (i.fn == OpId::Where) {
    s = operand(0) + " ? " + operand(1) + " : " + operand(2);
  } else {
    s = "np::" + std::string(op_info(i.fn).name) + "(" + operand(0);
    for (int n = 1; n < 3; ++n)
      if (i.operands[n] != kNone) s += ", " + operand(n);
    s += ")";
  }
  return half && i.type == DType::Float16 ? "narrow(" + s + ")" : s;
}

void Emitter::inst(Val v, By by) {
  const Inst& i = k_.insts[v];
  const std::string type(type_name(i.type));
  const std::string define = "const " + type + numbered(" v", v) + " = ";
  const std::string buffer = numbered("a.b", i.index);
  switch (i.op) {
    case Op::Const:
    case Op::Param:
    case Op::Arg:
    case Op::Var:
    case Op::Result:
      return;
    case Op::Apply:
      return line(define + apply(i) + ";");
    case Op::Cast:
      return line(define + "convert<" + type + ">(" + value(i.operands[0]) + ");");
    case Op::Load:
      if (p_.mapping.pack > 1 && p_.nest.packed[v]) return line(define + numbered("x", v) + "[k];");
      if (p_.mapping.transposed && p_.nest.transposed[v])
        return line(define + numbered("t", v) + "[k % 32 * 33 + k / 32];");
      if (p_.tiled(i.index)) {
        return line(define + "load<" + type + ">(" + numbered("m", i.index) + ", " +
                    tile_address(v) + ");");
      }
      return line(define + "load<" + type + ">(" + buffer + ", " + address(k_.accesses[i.access]) +
                  ");");
    case Op::Gather:
      return line(define + "load<" + type + ">(" + buffer + ", " + address(k_.accesses[i.access]) +
                  " + " + index(i.operands[0]) + " * " + coeff(i.stride) + ");");
    case Op::Store:
      if (p_.each && i.index >= p_.each->results) return store_result(i);
      if (p_.mapping.pack > 1 && p_.nest.packed[v])
        return line(numbered("y", v) + "[k] = " + value(i.operands[0]) + ";");
      return line((by == By::Thread ? guard_ : "if (team.rank() == 0) ") + "store<" + type + ">(" +
                  buffer + ", " + address(k_.accesses[i.access]) + ", " + value(i.operands[0]) +
                  ");");
    case Op::Scatter:
      return scatter(i, by);
    case Op::LoadLocal:
      return line(define + local(i) + ";");
    case Op::StoreLocal:
      // One thread of a team has what all of them read.
      return line((by == By::Thread ? guard_ : "if (team.rank() == 0) ") + local(i) + " = " +
                  value(i.operands[0]) + ";");
    case Op::For:
    case Op::Reduce:
      return loop(v, by);
    case Op::Fragment:
      return fragment(i);
    case Op::Running:
    case Op::Carried:
      return running(v);
    case Op::Barrier:
      finish_copies();
      return line("team.sync();");
    case Op::AsyncCopy:
      return;  // supports() takes none
    case Op::Break:
    case Op::Overflows:
    case Op::External:
      return sequential(v);
  }
}

// One thread has the elements to itself.
void Emitter::scatter(const Inst& i, By by) {
  const std::string type(type_name(i.type));
  const std::string at = numbered("a.b", i.index) + ", " + address(k_.accesses[i.access]) + " + " +
                         index(i.operands[0]) + " * " + coeff(i.stride);
  if (i.fn == OpId::Count_)
    return line("store<" + type + ">(" + at + ", " + value(i.operands[1]) + ");");
  line((by == By::Thread ? guard_ : "if (team.rank() == 0) ") + "store<" + type + ">(" + at +
       ", np::" + std::string(op_info(i.fn).name) + "(load<" + type + ">(" + at + "), " +
       value(i.operands[1]) + "));");
}

// By all threads of the block (prelude/fragments.cuh).
void Emitter::fragment(const Inst& i) {
  const ir::Fragment& p = k_.fragments[i.index];
  const DType operands = k_.locals[p.a.local].dtype;
  const std::string type(type_name(operands));
  const auto at = [&](std::int32_t local, std::int32_t access) {
    return numbered("l", local) + ".at + (" + address(k_.accesses[access]) + ")";
  };
  const auto is_one = [](const ir::Coeff& c) { return c.param == kNoParam && c.value == 1; };
  const auto panels = [&](const ir::Panels& o) {
    const bool one = o.width == ir::kOnePanel;
    // Words of a row are read by what reads shared memory alone.
    const FragmentShape* tensors = fragment_shape(FragmentUnit::TensorCores, operands, operands);
    const bool apart = tensors && tensors->load == FragmentLoad::Words &&
                       k_.locals[o.local].space != ir::Space::Shared;
    const char* near = apart                             ? "None"
                       : o.width > 1 || is_one(o.stride) ? "Lines"
                       : is_one(o.step)                  ? "Steps"
                                                         : "None";
    return "Panels<" + type + ", " + std::to_string(one ? 1 : o.width) + ", Near::" + near + ">{" +
           at(o.local, o.access) + ", int(" + (one ? "1" : coeff(o.stride)) + "), int(" +
           coeff(o.step) + ")}";
  };
  line("multiply<" + std::to_string(p_.mapping.tile) + ">(" + panels(p.a) + ", " + panels(p.b) +
       ", " + at(p.local, p.access) + ", int(" + coeff(p.row) + "), int(" + index(i.operands[0]) +
       "), int(" + index(i.operands[1]) + "), int(" + index(i.operands[2]) + "), " +
       value(p.block) + " == 0);");
}

}  // namespace plait::cuda
