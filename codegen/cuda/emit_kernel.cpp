#include "emit.hpp"
#include "prelude.hpp"

namespace plait::cuda {

namespace {

std::string numbered(const char* prefix, std::size_t n) {
  std::string s(prefix);
  return s += std::to_string(n);
}

}  // namespace

std::string program_head(bool wide) {
  std::string s(wide ? "typedef long long Index;\n" : "typedef int Index;\n");
  for (const char* part : {"base", "half", "math", "complex", "integer", "convert", "generic",
                           "complex_math", "sums", "extremes"})
    (s += prelude(part)) += "\n";
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

// pack_arguments() fills this structure: every member starts at a multiple of 8 bytes.
void Emitter::arguments() {
  open("struct Arguments");
  for (std::size_t n = 0; n < k_.buffers.size(); ++n)
    line(std::string(k_.buffers[n].written ? "" : "const ") + numbered("char* b", n) + ";");
  for (std::int32_t n = 0; n < k_.params; ++n)
    line(numbered("int64 p", static_cast<std::size_t>(n)) + ";");
  line("int64 begin, end, total;");
  line("char* scratch;");
  for (std::size_t n = 0; n < k_.locals.size(); ++n)
    if (!in_registers(k_.locals[n])) line(numbered("int64 l", n) + ";");
  for (std::size_t n = 0; n < k_.scalars.size(); ++n)
    line("alignas(8) " + std::string(type_name(k_.scalars[n])) + numbered(" s", n) + ";");
  close("};");
}

void Emitter::entry() {
  open("extern \"C\" __global__ void __launch_bounds__(" + std::to_string(Program::threads) + ") " +
       p_.entry + "(const Arguments a)");
  for (std::size_t n = 0; n < k_.locals.size(); ++n) {
    if (in_registers(k_.locals[n])) continue;
    const std::string type(type_name(k_.locals[n].dtype));
    line("const Row<" + type + ">" + numbered(" l", n) + "{reinterpret_cast<" + type +
         "*>(a.scratch + a." + numbered("l", n) + ") + thread_index(), thread_count()};");
  }
  open("for (Index n = thread_index(); n < Index(a.total); n += thread_count())");
  line("Index rest = n;");
  for (std::size_t c = p_.nest.chain.size(); c-- > 1;) {
    const auto loop = static_cast<std::size_t>(p_.nest.chain[c]);
    line("const Index" + numbered(" i", loop) + " = take(rest, " + index(k_.loops[loop].end) +
         ");");
  }
  line("const Index i0 = Index(a.begin) + rest;");
  for (std::int32_t loop : p_.nest.chain) block(loop);
  close();
  close();
}

std::string Emitter::run() {
  arguments();
  entry();
  return program_head(p_.wide) + out_;
}

}  // namespace plait::cuda
