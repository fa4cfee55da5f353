#include <algorithm>

#include "emit.hpp"
#include "prelude.hpp"

namespace plait::cuda {

namespace {
// The formats of dtypes.def, for prelude/narrow.cuh.
#define PLAIT_BITS_1 "uint8"
#define PLAIT_BITS_2 "uint16"
#define PLAIT_IN_Signed "int8"
#define PLAIT_IN_Unsigned "uint8"
constexpr std::string_view kNarrowDTypes =
#define PLAIT_NARROW_FLOAT(id, name, bytes, exponent, mantissa, bias, specials) \
  "typedef NarrowFloat<" #exponent ", " #mantissa ", " #bias ", " #specials     \
  ", " PLAIT_BITS_##bytes "> " #name ";\n"
#define PLAIT_NARROW_INT(id, name, bits, kind) \
  "typedef NarrowInt<" #bits ", " PLAIT_IN_##kind "> " #id ";\n"
#include "plait/detail/dtypes.def"
    ;
}  // namespace

std::string program_head(const Mapping& m) {
  std::string s(m.wide ? "typedef long long Index;\n" : "typedef int Index;\n");
  (s += prelude("base")) += "\n";
  ((s += prelude("narrow")) += kNarrowDTypes) += "\n";
  for (const char* part : {"half", "math", "complex", "integer", "convert", "generic",
                           "complex_math", "summation_tree", "sums", "extremes"})
    (s += prelude(part)) += "\n";
  if (m.uses_shared_memory()) s += prelude("shared");
  if (m.team > 1) s += prelude("teams");
  if (m.pack > 1) s += prelude("packs");
  if (m.whole_tiles || m.row_tiles) s += prelude("tiles");
  return s;
}

void Emitter::line(const std::string& text) {
  if (text[0] != '#') out_.append(static_cast<std::size_t>(depth_) * 2, ' ');
  (out_ += text) += '\n';
}
void Emitter::open(const std::string& text) {
  line(text + " {");
  ++depth_;
}
void Emitter::close(const std::string& text) {
  --depth_;
  line(text);
}

// Memory of the locals that are not in registers.
void Emitter::locals() {
  const auto any = [&](ir::Space s) {
    return std::ranges::any_of(k_.locals, [s](const ir::Local& l) { return l.space == s; });
  };
  if (any(ir::Space::Shared)) line("unsigned char* const rows = shared_rows(team, a.row_bytes);");
  if (any(ir::Space::Global))
    line("char* const in_scratch = a.scratch + team.first() * a.scratch_bytes;");
  for (std::size_t n = 0; n < k_.locals.size(); ++n) {
    const ir::Local& l = k_.locals[n];
    const std::string type(type_name(l.dtype)), name = numbered("l", n);
    if (ir::shares(l.space))
      line("const Shared<" + type + "> " + name + "{reinterpret_cast<" + type + "*>(" +
           (l.space == ir::Space::Shared ? "rows" : "in_scratch") + " + a." + name + ")};");
    if (l.space == ir::Space::Cache)
      line("const Row<" + type + "> " + name + "{reinterpret_cast<" + type + "*>(a.scratch + a." +
           name + ") + thread_index(), thread_count()};");
  }
}

// Blocks of a multiprocessor that registers have to suffice for: of few streams of 32 bits, which
// nothing but many threads keeps going.
int Emitter::least_blocks() const {
  const Mapping& m = p_.mapping;
  bool narrow = !m.wide && !p_.nest.multiplies;
  for (const ir::Inst& i : k_.insts) {
    const bool moves = i.op == ir::Op::Load || i.op == ir::Op::Store || i.op == ir::Op::LoadLocal;
    narrow &= !moves || itemsize(i.type) <= 4;
  }
  return narrow && m.pack > 1 && std::count(p_.nest.packed.begin(), p_.nest.packed.end(), 1) <= 4
             ? 8
             : 1;
}

void Emitter::entry() {
  const Mapping& m = p_.mapping;
  const By by = p_.nest.multiplies ? By::Block : m.team > 1 ? By::Team : By::Thread;
  const int least = m.resident > 1 ? m.resident : least_blocks();
  if (least > 1) {
    line(std::string("#ifndef ") + kResident);
    line(std::string("#define ") + kResident + " " + std::to_string(least));
    line("#endif");
  }
  open("extern \"C\" __global__ void __launch_bounds__(" + std::to_string(m.threads()) + ", " +
       (least > 1 ? kResident : "1") + ") " + p_.entry + "(const Arguments a)");
  if (by != By::Thread) line("const Team team;");
  locals();
  if (m.transposed) {
    transposed_loops();
    return close();
  }
  tiles(Tile::Whole);
  if (m.in_step()) {
    line("// All threads of a block copy tiles, so none may leave the loop before the others.");
    open(
        "for (Index base = Index(blockIdx.x) * blockDim.x; base < Index(a.total); base += "
        "thread_count())");
    line(
        "const int rows = Index(a.total) - base < blockDim.x ? int(Index(a.total) - base) : "
        "int(blockDim.x);");
    line("const bool inside = int(threadIdx.x) < rows;");
    line("const Index n = inside ? base + threadIdx.x : base;");
    guard_ = "if (inside) ";
    tiles(Tile::Rows);
  } else if (by != By::Thread)
    open("for (Index n = team.first(); n < Index(a.total); n += team.count())");
  else
    open("for (Index n = thread_index(); n < Index(a.total); n += thread_count())");
  line("Index rest = n;");
  const std::int32_t last = p_.nest.chain.back();
  if (m.pack > 1) {
    const std::string pack = std::to_string(m.pack), grid = last == 0 ? "Index(a.begin)" : "0";
    line("const auto all = run_at<" + pack +
         ">(take(rest, Index(a.packs)), Index(a.lead), a.spread, " + grid + ", " +
         (last == 0 ? "Index(a.end)" : index(k_.loops[last].end)) + ");");
  }
  for (std::size_t c = p_.nest.chain.size(); c-- > 1;) {
    const auto loop = static_cast<std::size_t>(p_.nest.chain[c]);
    if (m.pack > 1 && p_.nest.chain[c] == last) continue;
    line("const Index" + numbered(" i", loop) + " = take(rest, " + index(k_.loops[loop].end) +
         ");");
  }
  if (m.pack == 1 || last != 0) line("const Index i0 = Index(a.begin) + rest;");
  for (std::int32_t loop : p_.nest.chain)
    if (m.pack == 1 || loop != p_.nest.chain.back()) block(loop, by);
  if (m.pack > 1) packed_loop();
  close();
  close();
}

// Tiles of the innermost loop and the one that some operands are contiguous along.
void Emitter::transposed_loops() {
  const std::int32_t last = p_.nest.chain.back(), other = p_.nest.transposed_loop;
  const auto each_transposed = [&](auto print) {
    for (ir::Val v : k_.loops[last].body)
      if (p_.nest.transposed[v]) print(v, std::string(type_name(k_.insts[v].type)));
  };
  const auto var = [](std::int32_t loop) { return "i" + std::to_string(loop); };
  const auto end = [&](std::int32_t loop) {
    return loop == 0 ? "Index(a.end)" : index(k_.loops[loop].end);
  };
  // Opens the loop over a tile's iterations, with neighbouring threads along `near`.
  const auto open_tile = [&](std::int32_t near, std::int32_t far) {
    line("__syncthreads();");
    open("for (int k = threadIdx.x; k < 32 * 32; k += blockDim.x)");
    line("const Index " + var(near) + " = from" + var(near) + " + k % 32, " + var(far) + " = from" +
         var(far) + " + k / 32;");
    line("if (" + var(near) + " >= " + end(near) + " || " + var(far) + " >= " + end(far) +
         ") continue;");
  };
  std::int64_t at = 0;
  each_transposed([&](ir::Val v, const std::string& type) {
    line("const Shared<" + type + "> t" + std::to_string(v) + "{reinterpret_cast<" + type +
         "*>(shared_memory + " + std::to_string(at) + ")};");
    at += static_cast<std::int64_t>(itemsize(k_.insts[v].type)) * 32 * 33;
  });
  open("for (Index n = blockIdx.x; n < Index(a.total); n += gridDim.x)");
  line("Index rest = n;");
  for (std::size_t c = p_.nest.chain.size(); c-- > 0;) {
    const std::int32_t loop = p_.nest.chain[c];
    const std::string begin = loop == 0 ? "Index(a.begin) + " : "";
    const std::string extent = loop == 0 ? "Index(a.end - a.begin)" : end(loop);
    if (loop == last || loop == other)
      line("const Index from" + var(loop) + " = " + begin + "32 * take(rest, (" + extent +
           " + 31) / 32);");
    else
      line("const Index " + var(loop) + " = " + begin + "take(rest, " + extent + ");");
  }
  open_tile(other, last);
  each_transposed([&](ir::Val v, const std::string& type) {
    line("t" + std::to_string(v) + "[k / 32 * 33 + k % 32] = load<" + type + ">(a.b" +
         std::to_string(k_.insts[v].index) + ", " + address(k_.accesses[k_.insts[v].access]) +
         ");");
  });
  close();
  open_tile(last, other);
  for (std::int32_t loop : p_.nest.chain) block(loop, By::Thread);
  close();
  close();
}

void Emitter::tiles(Tile kind) {
  const bool rows = kind == Tile::Rows;
  std::vector<std::size_t> whole;
  for (std::size_t n = 0; n < k_.buffers.size(); ++n) {
    if (!p_.tiled(n) || p_.nest.tiles[n] != kind) continue;
    const std::string m = numbered("m", n);
    line("const unsigned char* const " + m + " = shared_memory + a." + m + "_at" +
         (rows ? " + (inside ? threadIdx.x : 0) * int(a." + m + "_pitch)" : "") + ";");
    if (!in_pieces(n)) whole.push_back(n);
  }
  if (whole.empty()) return;
  if (rows) line("__syncthreads();");
  for (std::size_t n : whole) {
    const std::string tile = numbered("a.m", n);
    line("copy_rows<" + std::string(type_name(k_.buffers[n].dtype)) + ">(shared_memory + " + tile +
         "_at, Index(" + tile + "_pitch), " + numbered("a.b", n) + " + " + tile + "_low" +
         (rows ? " + (a.begin + base) * " + tile + "_stride" : "") + ", Index(" + tile +
         "_stride), Index(" + tile + "_bytes), " + (rows ? "rows" : "1") + ");");
  }
  line("__syncthreads();");
}

// `count` iterations of the streamed loop from where it is.
void Emitter::fetch_pieces(const std::string& count) {
  const std::int32_t loop = p_.mapping.streamed;
  const std::vector<char> under = loops_under(k_, loop);
  line("__syncthreads();");
  for (std::size_t n = 0; n < k_.buffers.size(); ++n) {
    if (!p_.tiled(n) || !in_pieces(n)) continue;
    const bool rows = p_.nest.tiles[n] == Tile::Rows;
    const std::string tile = numbered("a.m", n), type(type_name(k_.buffers[n].dtype));
    const std::string item = std::to_string(itemsize(k_.buffers[n].dtype));
    const std::string pitch = "Index(" + tile + "_pitch)";
    const auto copy = [&](ir::Val load, const std::string& to, const std::string& apart,
                          const std::string& bytes_and_rows) {
      const std::string from = address(k_.accesses[k_.insts[load].access], [&](ir::Val v) {
        const ir::Inst& var = k_.insts[v];
        if (v == k_.loops[loop].var) return numbered("from", loop);
        if (v == k_.loops[0].var) return std::string("(Index(a.begin) + base)");
        return var.op == ir::Op::Var && under[var.index] ? std::string() : index(v);
      });
      line("copy_rows<" + type + ">(shared_memory + " + tile + "_at" + to + ", " + apart + ", " +
           numbered("a.b", n) + " + (" + from + "), Index(" + tile + "_stride), " + bytes_and_rows +
           ");");
    };
    const std::vector<ir::Val> loads = loads_of(k_, n);
    const std::int32_t across = piece_rows(k_, p_.mapping, loads[0]);
    if (loads.size() > 1) {
      for (std::size_t row = 0; row < loads.size(); ++row)
        copy(loads[row], numbered(" + ", row) + " * " + pitch, item, item + ", int(" + count + ")");
    } else if (rows) {
      copy(loads[0], "", pitch, count + " * " + item + ", rows");
    } else if (across >= 0) {
      copy(loads[0], "", pitch,
           count + " * " + item + ", int(" + index(k_.loops[across].end) + ")");
    } else {
      copy(loads[0], "", pitch, "Index(" + tile + "_bytes), int(" + count + ")");
    }
  }
  line("__syncthreads();");
}

// The innermost loop, a pack at a time.
void Emitter::packed_loop() {
  const std::int32_t last = p_.nest.chain.back();
  const std::string pack = std::to_string(p_.mapping.pack), loop = std::to_string(last);
  const auto of = [&](ir::Val v) {
    return "<" + std::string(type_name(k_.insts[v].type)) + ", " + pack + ">";
  };
  const auto packed = [&](ir::Op op, auto print) {
    int bit = 0;
    for (ir::Val v : k_.loops[last].body) {
      if (!p_.nest.packed[v]) continue;
      const std::string aligned = "a.aligned >> " + std::to_string(bit++) + " & 1";
      if (k_.insts[v].op == op)
        print(v,
              "a.b" + std::to_string(k_.insts[v].index) + ", " +
                  address(
                      k_.accesses[k_.insts[v].access],
                      [&](ir::Val t) { return t == k_.loops[last].var ? "run.first" : index(t); }),
              aligned);
    }
  };
  open("const auto compute = [&](const auto& run)");
  packed(ir::Op::Load, [&](ir::Val v, const std::string& at, const std::string& aligned) {
    line("const auto x" + std::to_string(v) + " = load_pack" + of(v) + "(" + at + ", run, " +
         aligned + ");");
  });
  packed(ir::Op::Store, [&](ir::Val v, const std::string&, const std::string&) {
    line("Pack" + of(v) + " y" + std::to_string(v) + ";");
  });
  line("#pragma unroll");
  open("for (int k = 0; k < " + pack + "; ++k)");
  line("const Index i" + loop + " = run.at(k);");
  block(last, By::Thread);
  close();
  packed(ir::Op::Store, [&](ir::Val v, const std::string& at, const std::string& aligned) {
    line("store_pack" + of(v) + "(" + at + ", y" + std::to_string(v) + ", run, " + aligned + ");");
  });
  close("};");
  line("if (all.spread && all.whole())");
  line("  compute(SpreadRun<" + pack + ">{all.first});");
  line("else");
  line("  compute(all);");
}

std::string Emitter::run() {
  const Mapping& m = p_.mapping;
  out_ = p_.arguments.text();
  if (m.team > 1)
    line("typedef " + std::string(m.team > 32 ? "Block<" : "Lanes<") + std::to_string(m.team) +
         ", " + std::to_string(exchange_bytes(k_, m)) + "> Team;");
  if (p_.nest.multiplies)
    line("typedef Lanes<32, " + std::to_string(exchange_bytes(k_, m) / (m.team / 32)) + "> Warp;");
  p_.each ? iterations() : entry();
  return program_head(m) + (p_.each ? std::string(prelude("sequential")) : "") +
         (p_.nest.multiplies ? std::string(prelude("copies")) += prelude("fragments") : "") + out_;
}

}  // namespace plait::cuda
