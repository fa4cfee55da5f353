#include <algorithm>

#include "emit.hpp"
#include "plait/error.hpp"

namespace plait::cuda {

namespace {

const char* tree_name(DType t) { return is_complex(t) ? "ComplexTree" : "RealTree"; }

}  // namespace

void Emitter::block(std::int32_t l, By by) {
  for (std::size_t n = 0; n < k_.locals.size(); ++n)
    if (k_.locals[n].home == l && k_.locals[n].space == ir::Space::Register)
      line(std::string(type_name(k_.locals[n].dtype)) + numbered(" l", n) + "[" +
           std::to_string(std::max<std::int64_t>(1, k_.locals[n].count.value)) +
           (k_.sequential ? "] = {};" : "];"));
  // What comes after the loop that a flattened chain goes on with has no use there.
  const auto chained = [&](Val v) {
    const Inst& i = k_.insts[v];
    return i.op == Op::For &&
           std::find(p_.nest.chain.begin(), p_.nest.chain.end(), i.index) != p_.nest.chain.end();
  };
  for (Val v : k_.loops[l].body) {
    if (chained(v)) return;
    inst(v, by);
  }
  if (by == By::Block) finish_copies();
}

namespace {

// Unrolled loops have several loads under way; large bodies have enough, and need the registers.
// The threads that have a chunk each of a reduction are fewer, so that each needs more.
int unrolled(const ir::Kernel& k, std::int32_t l) {
  const int size = body_size(k, l);
  const Val begin = k.loops[l].begin;
  const bool chunk = begin != kNone && !known(k, begin);
  return size <= 4 ? chunk ? 16 : 8 : size <= 10 ? 2 : 1;
}

}  // namespace

By Emitter::inside(std::int32_t loop, By by) const {
  if (!ir::shares(k_.loops[loop].scope)) return by;
  return ir::over_warps(k_, loop) ? By::Team : By::Thread;
}

void Emitter::open_loop(std::int32_t loop, By by) {
  const ir::Loop& l = k_.loops[loop];
  const std::string var = numbered("i", loop);
  std::string begin = l.begin == kNone ? "0" : index(l.begin), end = index(l.end);
  if (loop == p_.mapping.streamed) {
    begin = numbered("from", loop);
    open("for (Index " + begin + " = 0; " + begin + " < " + end + "; " + begin +
         " += Index(a.piece))");
    line("const Index" + numbered(" piece", loop) + " = " + end + " - " + begin +
         " < Index(a.piece) ? " + end + " - " + begin + " : Index(a.piece);");
    fetch_pieces(numbered("piece", loop));
    end = begin + numbered(" + piece", loop);
  }
  const By inner = inside(loop, by);
  if (l.scope == ir::Scope::Unrolled && inner == by)
    line("#pragma unroll");
  else if (const int times = unrolled(k_, loop); times > 1 && !ir::scans(k_, loop))
    line("#pragma unroll " + std::to_string(times));
  const auto every = [&](const std::string& first, const std::string& step) {
    open("for (Index " + var + " = " + (l.begin == kNone ? "" : begin + " + ") + first + "; " +
         var + " < " + end + "; " + var + " += " + step + ")");
  };
  if (inner != by && ir::scans(k_, loop)) {
    // No thread leaves before the others: those beyond the end go along, and store nothing.
    const std::string base = numbered("base", loop);
    open("for (Index " + base + " = " + begin + "; " + base + " < " + end + "; " + base +
         " += Team::size)");
    line("const bool inside = " + base + " + team.rank() < " + end + ";");
    line("const Index " + var + " = inside ? " + base + " + team.rank() : " + end + " - 1;");
    guard_ = "if (inside) ";
    scanned_ = loop;
  } else if (p_.each && loop == p_.each->shared) {
    open("for (Index " + var + " = " + begin + " + sharer; " + var + " < " + end + "; " + var +
         " += Index(a.sharers))");
  } else if (inner == by) {
    open("for (Index " + var + " = " + begin + "; " + var + " < " + end + "; ++" + var + ")");
  } else if (inner == By::Thread) {
    every("team.rank()", "Team::size");
  } else {
    every("team.rank() / 32", "Team::size / 32");
    line("typedef Warp Team;");
    line("const Team team;");
  }
}
void Emitter::close_loop(std::int32_t loop) {
  close();
  if (loop == p_.mapping.streamed) close();
  if (loop == scanned_) {
    guard_.clear();
    scanned_ = -1;
  }
}

void Emitter::loop(Val v, By by) {
  const Inst& i = k_.insts[v];
  const By inner = inside(i.index, by);
  const std::optional<Copy> copied = by == By::Block && inner != by ? copy(i.index) : std::nullopt;
  if (k_.loops[i.index].kind != ir::LoopKind::Count) {
    conditional(i, by);
  } else if (copied) {
    copy_rectangle(*copied, by);
  } else if (i.op == Op::Reduce) {
    reduce(v, by);
  } else {
    open_loop(i.index, by);
    block(i.index, inner);
    close_loop(i.index);
  }
  label(i.index);
}

std::string Emitter::start_of(const ir::Reduction& r, const std::string& begin) const {
  if (r.init != kNone)
    return std::string(type_name(k_.insts[r.value].type)) + "(" + value(r.init) + ")";
  const DType t = kept_type(r, k_.insts[r.value].type);
  const bool of_roots = r.guarded_sqrt && r.kind == ReduceKind::ArgMax;  // that of -inf is NaN
  const std::string start = literal(of_roots ? cast(scalar_int(0), t) : fold_identity(r.kind, t));
  if (!is_arg(r.kind)) return start;
  return "Best<" + std::string(type_name(t)) + ">{" + start + ", " + begin + "}";
}

std::string joining(ReduceKind kind, DType t) {
  if (kind == ReduceKind::Prod && is_complex(t)) return "np::rounded_product";
  return "np::" + std::string(op_info(reduce_info(kind).combine).name);
}

std::string Emitter::joined(const ir::Reduction& r, const std::string& a,
                            const std::string& b) const {
  if (is_arg(r.kind))
    return std::string("np::better_of<") + (r.kind == ReduceKind::ArgMax ? "true" : "false") +
           ">(" + a + ", " + b + ")";
  return joining(r.kind, k_.insts[r.value].type) + "(" + a + ", " + b + ")";
}

// Adds the body's value to what reduction `r` of loop instruction `v` has so far.
void Emitter::fold(Val v, std::size_t n) {
  const ir::Reduction& r = k_.loops[k_.insts[v].index].reductions[n];
  const DType t = k_.insts[r.value].type;
  const std::string acc = numbered("r", v) + numbered("_", static_cast<std::int64_t>(n));
  std::string x = value(r.value);
  if (kept_type(r, t) != t) x = "widen(" + x + ")";
  if (is_arg(r.kind)) {
    const char* max = r.kind == ReduceKind::ArgMax ? "true" : "false";
    line(guard_ + "if (np::better" + std::string(r.guarded_sqrt ? "_root<" : "<") + max + ">(" + x +
         ", " + acc + ".value)) " + acc + " = {" + x + ", " +
         value(k_.loops[k_.insts[v].index].var) + "};");
  } else {
    line(guard_ + acc + " = " + (r.kind == ReduceKind::Last ? x : joined(r, acc, x)) + ";");
  }
}

// The fold so far, of equal extremes the later one; of what is carried, what is there.
void Emitter::running(Val v) {
  std::int32_t loop = 0;
  for (std::size_t l = 0; l < k_.loops.size(); ++l)
    if (const auto& body = k_.loops[l].body; std::find(body.begin(), body.end(), v) != body.end())
      loop = static_cast<std::int32_t>(l);
  const auto reduce = std::find_if(k_.insts.begin(), k_.insts.end(), [&](const Inst& i) {
    return i.op == Op::Reduce && i.index == loop;
  });
  const std::int32_t n = k_.insts[v].index;
  const ir::Reduction& r = k_.loops[loop].reductions[n];
  const std::string acc = numbered("r", reduce - k_.insts.begin()) + numbered("_", n);
  const bool extreme = reduce_info(r.kind).has(kSelects);
  const auto followed = [&](const std::string& a, const std::string& b) {
    return extreme ? joined(r, b, a) : joined(r, a, b);
  };
  if (loop == scanned_) {
    const std::string type(type_name(k_.insts[v].type));
    const std::string nothing = literal(fold_identity(r.kind, k_.insts[v].type));
    line("const " + type + numbered(" v", v) + " = team_scan<" + type + ">(team, inside ? " +
         value(r.value) + " : " + nothing + ", " + acc + ", [](" + type + " x, " + type +
         " y) { return " + followed("x", "y") + "; });");
    return;
  }
  if (r.order == ir::Order::Grouped) throw InternalError("a thread by itself scans in groups");
  if (k_.insts[v].op == Op::Running) line(acc + " = " + followed(acc, value(r.value)) + ";");
  line("const " + std::string(type_name(k_.insts[v].type)) + numbered(" v", v) + " = " + acc + ";");
}

// Whether the warps that run the loop around fold the result on, of which nothing else makes use:
// then each lane may fold what it has, since that loop joins all lanes.
bool Emitter::is_folded_again(Val v, std::size_t n) const {
  const ir::Reduction& r = k_.loops[k_.insts[v].index].reductions[n];
  if (is_arg(r.kind) || r.guarded_sqrt || !reduce_info(r.kind).has(kOfTruth)) return false;
  int uses = 0, folds = 0;
  for (std::size_t l = 0; l < k_.loops.size(); ++l) {
    const auto is_result = [&](Val x) {
      return x != kNone && k_.insts[x].op == Op::Result && k_.insts[x].operands[0] == v &&
             k_.insts[x].index == static_cast<std::int32_t>(n);
    };
    for (const ir::Reduction& other : k_.loops[l].reductions)
      if (is_result(other.value)) {
        ++uses;
        folds += p_.nest.over_warps[l] && other.kind == r.kind;
      }
    for (const Val i : k_.loops[l].body)
      for (const Val x : k_.insts[i].operands) uses += is_result(x);
  }
  return uses == 1 && folds == 1;
}

// The threads of a team have folded a part each.
void Emitter::join_folds(Val v, By by) {
  const ir::Loop& l = k_.loops[k_.insts[v].index];
  for (std::size_t n = 0; n < l.reductions.size(); ++n) {
    const ir::Reduction& r = l.reductions[n];
    if (is_tree(k_, r) || ir::running(k_, k_.insts[v].index, n) != kNone ||
        (by == By::Team && p_.nest.multiplies && is_folded_again(v, n)))
      continue;
    const std::string acc = numbered("r", v) + numbered("_", static_cast<std::int64_t>(n));
    if (r.guarded_sqrt) line(acc + ".value = np::sqrt(" + acc + ".value);");
    line(acc + " = team.join(" + acc + ", [](auto x, auto y) { return " + joined(r, "x", "y") +
         "; });");
  }
}

void Emitter::reduce(Val v, By by) {
  const std::int32_t index_of_loop = k_.insts[v].index;
  const ir::Loop& l = k_.loops[index_of_loop];
  const By inner = inside(index_of_loop, by);
  const bool shared = inner != by;
  const std::string var = numbered("i", index_of_loop);
  const std::string begin = l.begin == kNone ? "0" : index(l.begin);
  const std::string end = index(l.end);
  std::vector<std::size_t> trees;
  bool real = false, complex = false;
  for (std::size_t n = 0; n < l.reductions.size(); ++n) {
    const ir::Reduction& r = l.reductions[n];
    const DType t = k_.insts[r.value].type;
    if (is_tree(k_, r)) {
      trees.push_back(n);
      (is_complex(t) ? complex : real) = true;
      continue;
    }
    const std::string acc = numbered("r", v) + numbered("_", static_cast<std::int64_t>(n));
    line("auto " + acc + " = " + start_of(r, begin) + ";");
  }
  auto sum_type = [&](std::size_t n) {
    const ir::Reduction& r = l.reductions[n];
    return std::string(type_name(kept_type(r, k_.insts[r.value].type)));
  };
  auto summed = [&](std::size_t n) {
    const ir::Reduction& r = l.reductions[n];
    const std::string x = value(r.value);
    return k_.insts[r.value].type == DType::Float16 ? "widen(" + x + ")" : x;
  };
  auto name = [&](std::size_t n) {
    return numbered("r", v) + numbered("_", static_cast<std::int64_t>(n));
  };
  auto folds = [&] {
    for (std::size_t n = 0; n < l.reductions.size(); ++n)
      if (!is_tree(k_, l.reductions[n]) && ir::running(k_, index_of_loop, n) == kNone) fold(v, n);
  };
  const std::string length = l.begin == kNone ? end : "(" + end + " - " + begin + ")";
  // A negative length is an empty loop.
  const std::string count = length + " > 0 ? " + length + " : 0";
  // A function of its own is nothing to leave a loop from.
  const bool one_tree = !trees.empty() && !(real && complex) && !k_.sequential;

  if (one_tree && (shared || (by == By::Thread && is_light_sum(k_, index_of_loop)))) {
    const bool streamed = index_of_loop == p_.mapping.streamed;
    if (streamed) line("Index" + numbered(" from", index_of_loop) + " = 0;");
    std::string type = sum_type(trees.back()), text;
    for (std::size_t n = trees.size() - 1; n-- > 0;)
      type = "Sums<" + sum_type(trees[n]) + ", " + type + ">";
    const std::string tree = tree_name(k_.insts[l.reductions[trees[0]].value].type);
    const std::string all = trees.size() == 1 ? name(trees[0]) : numbered("r", v);
    const std::string from = numbered("n", v);
    const std::string sum = shared
                                ? "team_sum<" + std::to_string(unrolled(k_, index_of_loop)) + ", "
                            : streamed ? "piecewise_sum<"
                                       : "tree_sum<";
    const std::string start = "const auto " + all + " = " + sum + tree + ", " + type + ">(" +
                              (shared ? "team, " : "") + count + ", ";
    if (streamed) {
      open(start + "Index(a.piece), [&](Index from, Index count)");
      line(numbered("from", index_of_loop) + " = from;");
      fetch_pieces("count");
      close("},");
      open("[&](Index " + from + ")");
    } else {
      open(start + "[&](Index " + from + ")");
    }
    line("const Index " + var + " = " + (l.begin == kNone ? "" : begin + " + ") + from + ";");
    block(index_of_loop, inner);
    folds();
    text = summed(trees.back());
    for (std::size_t n = trees.size() - 1; n-- > 0;)
      text = "sums(" + summed(trees[n]) + ", " + text + ")";
    line("return " + text + ";");
    close("});");
    if (trees.size() > 1) {
      std::string rest = all;
      for (std::size_t n = 0; n < trees.size(); ++n) {
        const bool last = n + 1 == trees.size();
        line("const auto " + name(trees[n]) + " = " + rest + (last ? "" : ".first") + ";");
        rest += ".rest";
      }
    }
  } else {
    for (std::size_t n : trees)
      line("TreeSum<" + std::string(tree_name(k_.insts[l.reductions[n].value].type)) + ", " +
           sum_type(n) + "> t" + std::to_string(v) + "_" + std::to_string(n) + "(" + count + ");");
    open_loop(index_of_loop, by);
    block(index_of_loop, inner);
    folds();
    for (std::size_t n : trees)
      line("t" + std::to_string(v) + "_" + std::to_string(n) + ".add(" + summed(n) + ");");
    close_loop(index_of_loop);
    for (std::size_t n : trees)
      line("const auto " + name(n) + " = t" + std::to_string(v) + "_" + std::to_string(n) +
           ".total();");
  }
  if (shared) join_folds(v, by);
  for (std::size_t n = 0; n < l.reductions.size(); ++n) {
    const ir::Reduction& r = l.reductions[n];
    const DType t = k_.insts[r.value].type;
    const std::string result = is_arg(r.kind) ? "int64" : std::string(type_name(t));
    std::string x = name(n);
    if (is_arg(r.kind))
      x += ".index";
    else if (kept_type(r, t) != t)
      x = "narrow(" + x + ")";
    line("const " + result + numbered(" v", v) + numbered("_", static_cast<std::int64_t>(n)) +
         " = " + x + ";");
  }
}

}  // namespace plait::cuda
