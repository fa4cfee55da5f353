#include "file_pages.hpp"

#include <algorithm>

#include "core/os/pages.hpp"

namespace plait::engine {

namespace {

// Files, and regions, of fewer bytes are not looked at: to ask costs some tens of microseconds, and
// many short regions may pass over one part.
constexpr std::int64_t kMinBytes = 32 << 20;

bool is_file(const Buffer& m) {
  return m.foreign && m.device == kHost && m.bytes >= static_cast<std::size_t>(kMinBytes) &&
         os::shows_shared_files(m.data, m.bytes);
}

// Whether the loop's elements are as many as the file's, of any dtype. It is a guess, which costs
// nothing but time where it is wrong: no page loses its contents.
bool in_step(const BoundStep& s, const Buffer& file) {
  const auto elements = static_cast<std::size_t>(std::max<std::int64_t>(1, s.roots[0].over));
  const std::size_t item = file.bytes / elements;
  return item * elements == file.bytes && item >= 1 && item <= 16;
}

}  // namespace

FilePages::FilePages(const Region& r, const Bindings& b, std::int64_t bytes) : extent_(r.extent) {
  if (bytes < kMinBytes) return;
  std::vector<const Buffer*> seen;
  for (const fusion::BufferSource& from : r.lowered().buffers) {
    if (from.kind != fusion::BufferSource::NodeMemory) continue;
    const Buffer* const m = b.memory(from.index).buffer.get();
    if (std::ranges::find(seen, m) != seen.end()) continue;
    seen.push_back(m);
    if (is_file(*m)) files_.push_back({m->data, m->bytes, in_step(r.of, *m)});
  }
}

FilePages::Part FilePages::part(const File& f, std::int64_t begin, std::int64_t end) const {
  const auto at = [&](std::int64_t i) {
    return static_cast<std::size_t>(static_cast<double>(f.bytes) * static_cast<double>(i) /
                                    static_cast<double>(extent_));
  };
  const std::size_t first = at(begin);
  return {f.memory + first, std::min(at(end), f.bytes) - first};
}

void FilePages::begins(std::int64_t begin, std::int64_t end) const {
  for (const File& f : files_) {
    if (!f.in_step) continue;
    const Part next = part(f, begin, std::min(extent_, 2 * end - begin));
    os::read_ahead(next.memory, next.bytes);
  }
}

void FilePages::done(std::int64_t begin, std::int64_t end) const {
  for (const File& f : files_) {
    if (!f.in_step) continue;
    const Part behind = part(f, begin, end);
    os::let_file_pages_go(behind.memory, behind.bytes);
  }
}

void FilePages::ended() const {
  for (const File& f : files_) os::let_file_pages_go(f.memory, f.bytes);
}

}  // namespace plait::engine
