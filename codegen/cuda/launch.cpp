// What generate() gives for a kernel, and how it is called.
#include <algorithm>
#include <cstring>

#include "codegen/ir/analysis.hpp"
#include "emit.hpp"

namespace plait::cuda {

namespace {

constexpr std::size_t kMostArgumentBytes = 4000;  // CUDA's limit is 4096
constexpr std::int64_t kMostScratch = std::int64_t{256} << 20;

std::int64_t padded(std::int64_t bytes) { return (bytes + 255) / 256 * 256; }

std::int64_t local_bytes(const ir::Local& l, const std::int64_t* params, std::int64_t threads) {
  const auto item = static_cast<std::int64_t>(itemsize(l.dtype));
  return padded(std::max<std::int64_t>(1, ir::local_count(l, params)) * item * threads);
}
std::int64_t scratch_bytes(const ir::Kernel& k, const std::int64_t* params, std::int64_t threads) {
  std::int64_t total = 0;
  for (const ir::Local& l : k.locals)
    if (!in_registers(l)) total += local_bytes(l, params, threads);
  return total;
}

template <class T>
void put(std::vector<std::byte>& out, const T& v) {
  const auto* p = reinterpret_cast<const std::byte*>(&v);
  out.insert(out.end(), p, p + sizeof v);
}

}  // namespace

const std::string& source(const Program& p) { return p.source; }
const std::string& entry(const Program& p) { return p.entry; }

bool in_registers(const ir::Local& l) {
  return l.count.param == ir::kNoParam && l.count.value <= 32;
}

bool supports(const ir::Kernel& k, std::string* why) {
  const std::size_t bytes =
      8 * (k.buffers.size() + static_cast<std::size_t>(k.params) + k.locals.size() + 4) +
      16 * k.scalars.size();
  if (bytes <= kMostArgumentBytes) return true;
  if (why) *why = "more arguments than a CUDA kernel takes";
  return false;
}

std::shared_ptr<const Program> generate(const ir::Kernel& k, const Target& t, const Extents& e) {
  auto p = std::make_shared<Program>();
  p->kernel = k;
  p->nest = analyse_nest(k);
  p->wide = needs_wide(k, p->nest, e);
  p->target = t;
  p->source = Emitter(*p).run();
  return p;
}

bool serves(const Program& p, const Extents& e) {
  return p.wide == needs_wide(p.kernel, p.nest, e);
}

Launch launch_shape(const Program& p, const Extents& e) {
  const std::int64_t total = iterations(p.kernel, p.nest, e);
  std::int64_t threads = Program::threads;
  std::int64_t blocks = std::clamp<std::int64_t>((total + threads - 1) / threads, 1,
                                                 std::int64_t{8} * p.target.multiprocessors);
  // Long rows of scratch leave room for fewer threads.
  while (blocks * threads > 32 &&
         scratch_bytes(p.kernel, e.params, blocks * threads) > kMostScratch)
    blocks > 1 ? blocks /= 2 : threads /= 2;
  Launch l;
  l.grid[0] = static_cast<unsigned>(blocks);
  l.block[0] = static_cast<unsigned>(threads);
  l.scratch_bytes = static_cast<std::size_t>(scratch_bytes(p.kernel, e.params, blocks * threads));
  return l;
}

void pack_arguments(const Program& p, const Launch& l, const ir::CallArgs& args, std::int64_t begin,
                    std::int64_t end, void* scratch, std::vector<std::byte>& out) {
  const ir::Kernel& k = p.kernel;
  out.clear();
  for (std::size_t n = 0; n < k.buffers.size(); ++n) put(out, args.buffers[n]);
  for (std::int32_t n = 0; n < k.params; ++n) put(out, args.params[n]);
  put(out, begin);
  put(out, end);
  put(out, iterations(k, p.nest, {args.params, end - begin}));
  put(out, scratch);
  std::int64_t at = 0;
  for (const ir::Local& local : k.locals) {
    if (in_registers(local)) continue;
    put(out, at);
    at += local_bytes(local, args.params, std::int64_t{l.grid[0]} * l.block[0]);
  }
  for (std::size_t n = 0; n < k.scalars.size(); ++n) {
    const std::size_t start = out.size();
    out.resize(start + (itemsize(k.scalars[n]) + 7) / 8 * 8);
    std::memcpy(&out[start], args.scalars[n].bytes, itemsize(k.scalars[n]));
  }
}

}  // namespace plait::cuda
