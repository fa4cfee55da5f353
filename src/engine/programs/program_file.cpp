#include "program_file.hpp"

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include "archive.hpp"
#include "codegen/cache/disk_cache.hpp"
#include "core/config.hpp"
#include "plait/error.hpp"

namespace plait::fusion {
using engine::all;

// What a run reads of a plan. Kernels are in the program's own table.
template <class A>
void fields(A& a, Answer& s) {
  all(a, s.question.relation, s.question.left, s.question.right, s.yes);
}
template <class A>
void fields(A& a, RegionSpec& r) {
  all(a, r.order, r.roots, r.product, r.beside);
}
template <class A>
void fields(A& a, BufferSource& b) {
  all(a, b.kind, b.index);
}
template <class A>
void fields(A& a, Partial& p) {
  all(a, p.root, p.kind, p.dtype, p.outputs);
}
template <class A>
void fields(A& a, LoweredKernel& l) {
  all(a, l.buffers, l.params, l.scalars, l.grid_extent, l.scatters, l.pairwise_chunks, l.partials,
      l.kept, l.bytes, l.work, l.planned_grid, l.rounds);
}
template <class A>
void fields(A& a, ResultSpec::Target& t) {
  all(a, t.old, t.masked, t.dtype, t.extents, t.byte_strides, t.start);
}
template <class A>
void fields(A& a, ResultSpec::Start& s) {
  all(a, s.init, s.filled, s.byte_strides);
}
template <class A>
void fields(A& a, ResultSpec& r) {
  all(a, r.dtype, r.kept, r.folds, r.reduce, r.extents, r.byte_strides, r.over, r.target, r.start);
}
template <class A>
void fields(A& a, OperandSpec& o) {
  all(a, o.node, o.scalar, o.dtype, o.extents, o.byte_strides, o.start);
}
template <class A>
void fields(A& a, OperationSpec& o) {
  all(a, o.node, o.kind, o.dtype, o.view_dtype, o.fn, o.reduce, o.call, o.extents, o.byte_strides,
      o.axes, o.view_extents, o.view_byte_strides, o.start, o.step, o.operands);
}
template <class A>
void fields(A& a, Footprint::Inner& i) {
  all(a, i.extent, i.stride);
}
template <class A>
void fields(A& a, Footprint& f) {
  all(a, f.offset, f.stride, f.inner, f.item);
}
template <class A>
void fields(A& a, Trailing& t) {
  all(a, t.buffer, t.store, t.loads);
}
template <class A>
void fields(A& a, Step& s) {
  all(a, s.kind, s.region, s.lowered, s.results, s.operation, s.update, s.trailing, s.dies);
}
template <class A>
void fields(A& a, Plan& p) {
  all(a, p.exprs, p.answers, p.steps);
}

}  // namespace plait::fusion

namespace plait::engine {

template <class A>
void fields(A& a, Number& n) {
  all(a, n.differences);
}
template <class A>
void fields(A& a, NumberScalar& s) {
  all(a, s.kind, s.dtype, s.value, s.number);
}
template <class A>
void fields(A& a, ProgramKernel& k) {
  all(a, k.ir, k.code);
}
template <class A>
void fields(A& a, Variant::Bound& b) {
  all(a, b.least, b.most);
}
template <class A>
void fields(A& a, Variant::Leaf& l) {
  all(a, l.node, l.kind, l.number, l.dtype, l.shape, l.exclusive);
}
template <class A>
void fields(A& a, Variant::Result& r) {
  all(a, r.node, r.shape);
}
template <class A>
void fields(A& a, Variant& v) {
  all(a, v.bounds, v.base, v.points, v.numbers, v.scalars, v.leaves, v.nodes, v.results, v.demands,
      v.kernels, v.plan);
}
template <class A>
void fields(A& a, ProgramArgument& x) {
  all(a, x.name, x.dtype, x.shape, x.dynamic);
}
template <class A>
void fields(A& a, ProgramData::Result& r) {
  all(a, r.dtype, r.ndim);
}
template <class A>
void fields(A& a, ProgramData& p) {
  all(a, p.manifest, p.targets, p.extents, p.arguments, p.results, p.writes, p.constants, p.kernels,
      p.variants);
}

namespace {

// Of the format, and of what kernels expect of the library: it changes with either.
constexpr std::uint32_t kVersion = 5;

struct Header {
  char magic[8] = {'p', 'l', 'a', 'i', 't', 'r', 'u', 'n'};
  std::uint32_t version = kVersion;
  std::uint32_t one = 1;  // another number where bytes are in another order
  std::uint64_t size = 0, checksum = 0;
};

}  // namespace

std::string to_file(ProgramData& p) {
  Writer w;
  archive(w, p);
  std::string bytes = w.take();
  const Header h{.size = bytes.size(), .checksum = cache::hash(bytes)};
  bytes.insert(0, reinterpret_cast<const char*>(&h), sizeof h);
  return bytes;
}

ProgramData from_file(std::string_view bytes) {
  Header h;
  if (bytes.empty()) throw ValueError("it is empty");
  if (bytes.size() < sizeof h || std::memcmp(bytes.data(), h.magic, sizeof h.magic) != 0)
    throw ValueError("it is no exported program");
  std::memcpy(&h, bytes.data(), sizeof h);
  if (h.one != 1) throw ValueError("it is for processors with another order of bytes");
  if (h.version != kVersion)
    throw ValueError("it has version " + std::to_string(h.version) +
                     " of the format, and this library reads version " + std::to_string(kVersion));
  bytes.remove_prefix(sizeof h);
  if (bytes.size() != h.size || cache::hash(bytes) != h.checksum) throw ValueError("it is damaged");
  ProgramData p;
  Reader r(bytes);
  archive(r, p);
  if (!r.at_end()) throw ValueError("it is damaged");
  return p;
}

ProgramData read_program(const std::string& path) {
  // Opening a pipe waits for who writes to it.
  std::error_code ignored;
  const auto kind = std::filesystem::status(path, ignored).type();
  if (kind != std::filesystem::file_type::regular && kind != std::filesystem::file_type::not_found)
    throw ValueError(path + ": it is no regular file");
  if (logging(Log::Program)) log(Log::Program, "reads " + path);
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  if (file && file.peek() != EOF) bytes << file.rdbuf();  // which fails where there is nothing
  if (!file || !bytes) throw std::system_error(errno ? errno : EIO, std::generic_category(), path);
  try {
    return from_file(bytes.view());
  } catch (const ValueError& e) {
    throw ValueError(path + ": " + e.what());
  }
}

}  // namespace plait::engine
