// Values: evaluation, element access, exports, and the engine's controls.
#include <algorithm>
#include <atomic>
#include <bit>
#include <limits>
#include <map>
#include <mutex>
#include <vector>

#include "box.hpp"
#include "core/config.hpp"
#include "engine/engine.hpp"
#include "plait/explain.hpp"
#include "small.hpp"

namespace plait {
namespace detail {

namespace {

std::span<const std::int64_t> indices(const std::int64_t* index, int n, const Handle& a) {
  check_element(a, n);
  return {index, static_cast<std::size_t>(n)};
}

}  // namespace

void throw_indices(const Handle& a, int n) {
  throw IndexError("an element takes one index an axis: " + std::to_string(n) +
                   (n == 1 ? " index" : " indices") + " for an array of dimension " +
                   std::to_string(unwrap(a).ndim()) + "; view(a, i) and row(a, i) take fewer");
}

void evaluate(const Handle* arrays, int n) {
  if (std::all_of(arrays, arrays + n, is_at_hand)) return;
  std::vector<tracer::Array> list;
  for (int i = 0; i < n; ++i) list.push_back(unwrap(arrays[i]));
  tracer::evaluate(list);
  for (int i = 0; i < n; ++i)
    if (arrays[i].get()->lease) tracer::write_borrowed(unwrap(arrays[i]));
}

const void* data(const Handle& a) { return tracer::data(unwrap(a)); }

void* mutable_data(const Handle& a) {
  if (!unwrap(a).writeable)
    throw ValueError(
        "assignment destination is read-only; what is only read, read through a const array");
  if (tracer::device_of(unwrap(a)) != kHost)
    throw DeviceError("the host cannot write to memory on '" +
                      devices().name(tracer::device_of(unwrap(a))) +
                      "': assign to the array, or take it with to_device(x, plait::cpu())");
  return tracer::writable_data(unwrap(a));
}

namespace {

// Axes of elements that are not evenly apart, as few as there can be.
struct Layout {
  std::vector<std::int64_t> shape, strides;
  auto operator<=>(const Layout&) const = default;
  std::int64_t offset(std::int64_t i) const {
    std::int64_t at = 0;
    for (std::size_t axis = shape.size() - 1; axis > 0; --axis) {
      const std::int64_t above = i / shape[axis];
      at += (i - above * shape[axis]) * strides[axis];
      i = above;
    }
    return at + i * strides[0];
  }
};

// Layouts have numbers and are kept for good, so that an iterator needs no reference to them: a
// program has few of them. Block b has the numbers from 2 to the b on, as many, and stays where it
// is: to find one takes no lock.
constinit std::atomic<const Layout**> blocks[kStrideBits] = {};
const Layout*& numbered(std::uint64_t n) {
  const int b = static_cast<int>(std::bit_width(n)) - 1;
  return blocks[b].load(std::memory_order_acquire)[n ^ std::uint64_t{1} << b];
}
std::int64_t number_of(Layout l) {
  static std::mutex mutex;
  static std::map<Layout, std::uint64_t> numbers;
  const std::lock_guard held(mutex);
  const std::uint64_t next = numbers.size() + 1;
  const auto known = numbers.find(l);
  if (known != numbers.end()) return static_cast<std::int64_t>(known->second);
  if (next >> kStrideBits)
    throw ValueError("iterators know too many layouts: walk over contiguous copies");
  if (std::has_single_bit(next))
    blocks[std::bit_width(next) - 1].store(new const Layout*[next], std::memory_order_release);
  numbered(next) = &numbers.emplace(std::move(l), next).first->first;
  return static_cast<std::int64_t>(next);
}

}  // namespace

std::int64_t offset_by_axes(std::int64_t place) noexcept {
  const auto bits = static_cast<std::uint64_t>(place);
  return numbered(bits << 1 >> (kIndexBits + 1))
      ->offset(static_cast<std::int64_t>(bits & ((std::uint64_t{1} << kIndexBits) - 1)));
}

Elements elements(const Handle& a, bool writing) {
  Elements e;
  if (!a || size_of(a) == 0) return e;
  e.first = writing ? mutable_data(a) : const_cast<void*>(data(a));
  const tracer::Array& array = unwrap(a);
  if (tracer::is_c_contiguous(array)) return e;
  if (array.size() >> kIndexBits) throw ValueError("iterator is too large");
  Layout l;  // of axes that are no continuation of the next
  for (int i = 0; i < array.ndim(); ++i) {
    if (array.shape[i] == 1) continue;
    if (!l.shape.empty() && l.strides.back() == array.shape[i] * array.strides[i]) {
      l.shape.back() *= array.shape[i];
      l.strides.back() = array.strides[i];
    } else {
      l.shape.push_back(array.shape[i]);
      l.strides.push_back(array.strides[i]);
    }
  }
  constexpr std::int64_t kFar = std::int64_t{1} << (kStrideBits - 1);
  const bool evenly = l.shape.size() == 1 && l.strides[0] >= -kFar && l.strides[0] < kFar;
  const std::int64_t how =
      evenly ? (l.strides[0] & (2 * kFar - 1)) | 2 * kFar : number_of(std::move(l));
  e.place = std::numeric_limits<std::int64_t>::min() | how << kIndexBits;
  return e;
}

void* poke(const Handle& a, const std::int64_t* index, int n) {
  return a && a.get()->array.storage
             ? tracer::poke(a.get()->array, {index, static_cast<std::size_t>(n)})
             : nullptr;
}

Value item(const Handle& a, const std::int64_t* index, int n) {
  return named("get", [&] { return to_value(tracer::item(unwrap(a), indices(index, n, a))); });
}

Value only_item(const Handle& a) {
  if (size_of(a) != 1)
    throw ValueError("item: only an array of one element is a scalar, not one of shape " +
                     to_string(unwrap(a).shape));
  static constexpr std::int64_t kFirst[kMaxDims] = {};
  const tracer::Array& array = unwrap(a);
  if (const void* p = peek(a, kFirst, array.ndim())) {
    Value v;
    v.type = outer(array.dtype);
    std::memcpy(v.bytes, p, itemsize(array.dtype));
    return v;
  }
  return item(a, kFirst, array.ndim());
}

void set_item(const Handle& a, const std::int64_t* index, int n, const Value& v) {
  named("set", [&] { tracer::set_item(unwrap(a), indices(index, n, a), to_scalar(v)); });
}

void* export_memory(const Handle& a) { return tracer::export_memory(unwrap(a)); }
void unexport(const Handle& a) { tracer::unexport(unwrap(a)); }

std::string explain(const Handle* arrays, int n) {
  const std::lock_guard held(tracer::lock());
  std::vector<Ref<tracer::Node>> nodes;
  std::vector<tracer::Node*> wanted;
  for (int i = 0; i < n; ++i) {
    nodes.push_back(tracer::read(unwrap(arrays[i])));
    wanted.push_back(nodes.back().get());
  }
  return engine::explain(wanted);
}

void throw_out_of_bounds(const std::string& integer, dtype t) {
  throw OverflowError("integer " + integer + " out of bounds for " + std::string(name(core(t))));
}

void throw_shapes(const char* function, Span from, Span to) {
  throw ShapeError(std::string(function) + ": values of shape " + to_string(dims(from)) +
                   " do not fit an array of shape " + to_string(dims(to)));
}

void note_called_for_each(const char* function) {
  if (logging(Log::Fallback))
    log(Log::Fallback,
        std::string(function) +
            ": the function takes numbers, or asks for them (`if`), where elements "
            "that stand for them ([](auto x) ... where()) are recorded: it is called "
            "for each element");
}

void throw_ragged() {
  throw ValueError(
      "array: the rows of a nested list differ in length: every row takes as many elements");
}

void throw_deep() {
  throw ValueError("array: maximum supported dimension for an ndarray is " +
                   std::to_string(kMaxDims) + ", found more");
}

}  // namespace detail

void set_num_threads(int n) {
  if (n < 1) throw ValueError("the number of threads must be at least 1");
  detail::start();
  engine::set_num_threads(n);
}
int num_threads() {
  detail::start();
  return engine::num_threads();
}
std::size_t trim() {
  detail::start();
  const std::size_t bytes = engine::trim();
  const std::lock_guard held(tracer::lock());
  return bytes + detail::trim_small() + detail::boxes.trim();
}
const char* version() { return PLAIT_VERSION; }

}  // namespace plait
