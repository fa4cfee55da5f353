#include "externals.hpp"
#include "ir.hpp"

namespace plait::ir {
namespace {

// Appended to and not added: GCC 12 warns about `"text" + std::string()`, wrongly.
std::string prefixed(const char* prefix, std::int64_t n) {
  std::string s(prefix);
  s += std::to_string(n);
  return s;
}

std::string val(Val v) { return v == kNone ? "0" : prefixed("%", v); }

std::string coeff(const Coeff& c) {
  return c.param == kNoParam ? std::to_string(c.value) : prefixed("p", c.param);
}

std::string literal(const Scalar& s) {
  auto text = [](auto v) { return std::to_string(v); };
  char buffer[64];
  auto real = [&](double v, const char* format) {
    std::snprintf(buffer, sizeof buffer, format, v);
    return std::string(buffer);
  };
  auto pair = [](const std::string& re, const std::string& im) {
    std::string s("(");
    return s.append(re).append(", ").append(im).append(")");
  };
  switch (s.dtype) {
    case DType::Bool:
      return s.as<std::uint8_t>() ? "true" : "false";
    case DType::Int8:
      return text(s.as<std::int8_t>());
    case DType::UInt8:
      return text(s.as<std::uint8_t>());
    case DType::Int16:
      return text(s.as<std::int16_t>());
    case DType::UInt16:
      return text(s.as<std::uint16_t>());
    case DType::Int32:
      return text(s.as<std::int32_t>());
    case DType::UInt32:
      return text(s.as<std::uint32_t>());
    case DType::Int64:
      return text(s.as<std::int64_t>());
    case DType::UInt64:
      return text(s.as<std::uint64_t>());
    case DType::Float16:
      std::snprintf(buffer, sizeof buffer, "0x%04x", s.as<std::uint16_t>());
      return buffer;
    case DType::Float32:
      return real(s.as<float>(), "%.9g");
    case DType::Float64:
      return real(s.as<double>(), "%.17g");
    case DType::Complex64: {
      auto c = s.as<std::complex<float>>();
      return pair(real(c.real(), "%.9g"), real(c.imag(), "%.9g"));
    }
    case DType::Complex128: {
      auto c = s.as<std::complex<double>>();
      return pair(real(c.real(), "%.17g"), real(c.imag(), "%.17g"));
    }
    default:
      return is_float(s.dtype) ? real(cast(s, DType::Float32).as<float>(), "%.9g")
                               : text(cast(s, DType::Int8).as<std::int8_t>());
  }
}

std::string_view order_name(Order o) {
  switch (o) {
    case Order::Any:
      return "any";
    case Order::Sequential:
      return "sequential";
    case Order::Pairwise:
      return "pairwise";
    case Order::Grouped:
      return "grouped";
  }
  return "?";
}

// The grid says so itself, and a serial loop is any.
std::string_view scope_text(Scope s) {
  switch (s) {
    case Scope::Serial:
    case Scope::Grid:
      return "";
    case Scope::Unrolled:
      return " unrolled";
    case Scope::Block:
      return " block";
    case Scope::Warp:
      return " warp";
    case Scope::Lanes:
      return " vector";
  }
  return "?";
}

std::string_view space_text(Space s) {
  switch (s) {
    case Space::Cache:
      return "";
    case Space::Register:
      return " register";
    case Space::Shared:
      return " shared";
    case Space::Global:
      return " global";
  }
  return "?";
}

std::string layout_text(const Layout& l) {
  std::string text;
  if (l.columns > 0) text += " rows of " + std::to_string(l.columns);
  if (l.beside > 0) text += "+" + std::to_string(l.beside);
  if (l.panel > 1) text += prefixed(" by ", l.panel);
  if (l.swizzle > 1) text += prefixed(" swizzle ", l.swizzle);
  return text;
}

std::string stage_text(Val v) { return v == kNone ? std::string() : " stage " + val(v); }

class Printer {
 public:
  explicit Printer(const Kernel& k) : k_(k) {}
  std::string run() {
    out_ = std::string(k_.sequential ? "sequential " : "") + "kernel " + k_.name + " (" +
           std::to_string(k_.params) + " params";
    for (std::size_t i = 0; i < k_.scalars.size(); ++i)
      out_ += ", s" + std::to_string(i) + ": " + std::string(plait::name(k_.scalars[i]));
    for (std::size_t i = 0; i < k_.buffers.size(); ++i)
      out_ += ", b" + std::to_string(i) + ": " +
              (k_.buffers[i].heap      ? "heap "
               : k_.buffers[i].written ? "mut "
                                       : "") +
              std::string(plait::name(k_.buffers[i].dtype));
    out_ += ")\n";
    print_loop("grid", k_.loops[0], 0);
    return std::move(out_);
  }

 private:
  const Kernel& k_;
  std::string out_;

  void line(int depth, const std::string& text) {
    out_.append(2 * depth, ' ');
    out_ += text + "\n";
  }
  std::string access(const Inst& i) const { return access(i.access); }
  std::string access(std::int32_t index) const {
    const Access& a = k_.accesses[index];
    std::string s("[");
    s += coeff(a.offset);
    for (const Term& t : a.terms)
      s.append(" + ").append(val(t.var)).append("*").append(coeff(t.stride));
    return s + "]";
  }
  std::string fragment(const Inst& i) const {
    const Fragment& p = k_.fragments[i.index];
    const auto panels = [&](const Panels& o) {
      return prefixed("l", o.local) + access(o.access) + prefixed(" by ", o.width) + " every " +
             coeff(o.stride) + " step " + coeff(o.step) + stage_text(o.stage);
    };
    return "fragment " + prefixed("l", p.local) + access(p.access) + " rows " + coeff(p.row) +
           ", " + panels(p.a) + ", " + panels(p.b) + ", " + val(i.operands[0]) + " x " +
           val(i.operands[1]) + " x " + val(i.operands[2]) + " block " + val(p.block) +
           (p.shape < 0 ? std::string()
                        : " as " + std::string(kFragmentShapes[p.shape].instruction));
  }
  std::string copy(const Inst& i) const {
    const Copy& c = k_.copies[i.index];
    return "copy " + prefixed("l", c.local) + access(c.to) + " rows " + coeff(c.to_row) + ", " +
           prefixed("b", c.buffer) + access(c.from) + " rows " + coeff(c.from_row) + ", " +
           val(i.operands[0]) + " x " + val(i.operands[1]) + stage_text(i.operands[2]);
  }
  static std::string placing(const Local& l) {
    return std::string(space_text(l.space)) + layout_text(l.layout) +
           (l.stages > 1 ? prefixed(" stages ", l.stages) : std::string());
  }
  void print_block(const std::vector<Val>& block, int depth) {
    for (Val v : block) print_inst(v, depth);
  }
  static std::string truth(Val v) { return v == kNone ? "true" : val(v); }
  // Named by their numbers, because breaks do.
  void print_if(const Inst& i, const Loop& l, int depth) {
    line(depth, prefixed("if ", i.index) + ": " + truth(l.condition) + " {");
    print_block(l.body, depth + 1);
    if (!l.otherwise.empty()) {
      line(depth, "} else {");
      print_block(l.otherwise, depth + 1);
    }
    line(depth, "}");
  }
  void print_repeat(const Inst& i, const Loop& l, int depth) {
    line(depth, prefixed("repeat ", i.index) + ": {");
    print_block(l.body, depth + 1);
    line(depth, "} while " + truth(l.condition));
  }
  void print_loop(const std::string& head, const Loop& l, int depth) {
    std::string text = head + " " + val(l.var);
    if (l.end != kNone) text += " in " + val(l.begin) + ".." + val(l.end);
    text += scope_text(l.scope);
    if (l.tile) text += " tile";
    if (l.unroll != 1) text += prefixed(" unroll=", l.unroll);
    if (l.prefetch) text += " prefetch";
    if (l.rows_ahead > 0) text += prefixed("=", l.rows_ahead);
    if (l.aligned) text += " aligned";
    line(depth, text + " {");
    auto index = &l - k_.loops.data();
    for (std::size_t n = 0; n < k_.locals.size(); ++n)
      if (k_.locals[n].home == index)
        line(depth + 1, "local l" + std::to_string(n) + ": " +
                            std::string(plait::name(k_.locals[n].dtype)) + "[" +
                            coeff(k_.locals[n].count) + "]" + placing(k_.locals[n]));
    print_block(l.body, depth + 1);
    for (std::size_t n = 0; n < l.reductions.size(); ++n) {
      const Reduction& r = l.reductions[n];
      line(depth + 1, "yield " + std::to_string(n) + ": " + std::string(reduce_info(r.kind).name) +
                          " " + val(r.value) + " " + std::string(order_name(r.order)) +
                          (r.guarded_sqrt ? " sqrt" : "") +
                          (r.init == kNone ? "" : " from " + val(r.init)));
    }
    line(depth, "}");
  }
  void print_inst(Val v, int depth) {
    const Inst& i = k_.insts[v];
    std::string index = std::to_string(i.index);
    std::string type(plait::name(i.type));
    std::string head = val(v) + ": " + type + " = ";
    switch (i.op) {
      case Op::Const:
        return line(depth, head + literal(i.imm));
      case Op::Param:
        return line(depth, head + "p" + index);
      case Op::Arg:
        return line(depth, head + "s" + index);
      case Op::Var:
        return line(depth, head + "var " + index);
      case Op::Apply: {
        std::string text = head + std::string(op_info(i.fn).name);
        for (Val o : i.operands)
          if (o != kNone) text.append(" ").append(val(o));
        return line(depth, text);
      }
      case Op::Cast:
        return line(depth, head + "cast " + val(i.operands[0]));
      case Op::Load:
        return line(depth, head + "load b" + index + access(i));
      case Op::Gather:
        return line(depth, head + "gather b" + index + access(i) + " at " + val(i.operands[0]) +
                               "*" + coeff(i.stride));
      case Op::Store:
        return line(depth, "store b" + index + access(i) + " " + val(i.operands[0]) +
                               (i.nontemporal ? " nontemporal" : ""));
      case Op::Scatter:
        return line(depth, "scatter b" + index + access(i) + " at " + val(i.operands[0]) + "*" +
                               coeff(i.stride) + " " +
                               (i.fn == OpId::Count_ ? "" : std::string(op_info(i.fn).name) + " ") +
                               val(i.operands[1]));
      case Op::LoadLocal:
        return line(depth, head + "load l" + index + access(i) + stage_text(i.operands[0]));
      case Op::StoreLocal:
        return line(depth, "store l" + index + access(i) + " " + val(i.operands[0]) +
                               stage_text(i.operands[1]));
      case Op::For: {
        const Loop& l = k_.loops[i.index];
        if (l.kind == LoopKind::If) return print_if(i, l, depth);
        if (l.kind == LoopKind::Repeat) return print_repeat(i, l, depth);
        return print_loop(k_.sequential ? "for " + index + ":" : "for", l, depth);
      }
      case Op::Reduce:
        return print_loop(val(v) + " = reduce", k_.loops[i.index], depth);
      case Op::Result:
        return line(depth, head + "result " + val(i.operands[0]) + " " + index);
      case Op::Fragment:
        return line(depth, fragment(i));
      case Op::Running:
        return line(depth, head + "running " + index);
      case Op::Carried:
        return line(depth, head + "carried " + index);
      case Op::Barrier:
        return line(depth, "barrier" + stage_text(i.operands[0]));
      case Op::AsyncCopy:
        return line(depth, copy(i));
      case Op::Break:
        return line(depth,
                    "break " + index + (i.operands[0] == kNone ? "" : " if " + val(i.operands[0])));
      case Op::Overflows:
        return line(depth, head + "overflows " + std::string(op_info(i.fn).name) + " " +
                               val(i.operands[0]) + " " + val(i.operands[1]));
      case Op::External: {
        std::string text =
            head + "call " + std::string(externals()[static_cast<std::size_t>(i.index)].name);
        for (Val o : i.operands)
          if (o != kNone) text.append(" ").append(val(o));
        return line(depth, text);
      }
    }
  }
};

}  // namespace

std::string to_string(const Kernel& k) { return Printer(k).run(); }

}  // namespace plait::ir
