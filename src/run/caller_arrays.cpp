#include "caller_arrays.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "core/buffer.hpp"
#include "core/config.hpp"
#include "core/log_topic.hpp"
#include "core/shape_limits.hpp"
#include "plait/error.hpp"
#include "tracer/layout.hpp"

namespace plait::run {
namespace {

using engine::NodeMemory;

NodeMemory borrowed(const Range& r, bool writeable) {
  return {adopt(r.first, r.bytes, writeable, nullptr, nullptr), 0};
}

struct Strided {
  std::byte* first;
  const Dims& strides;
};
template <std::size_t kItem>
void copy_row(std::byte* to, std::int64_t to_step, const std::byte* from, std::int64_t from_step,
              std::int64_t n) {
  for (; n > 0; --n, to += to_step, from += from_step) std::memcpy(to, from, kItem);
}
// Elements of one shape, which has an axis at least.
void copy_elements(std::size_t item, const Dims& shape, Strided to, Strided from, int axis = 0) {
  const std::int64_t n = shape[axis], to_step = to.strides[axis], from_step = from.strides[axis];
  if (axis + 1 == shape.size()) {
    const auto copy = item == 1   ? copy_row<1>
                      : item == 2 ? copy_row<2>
                      : item == 4 ? copy_row<4>
                      : item == 8 ? copy_row<8>
                                  : copy_row<16>;
    return copy(to.first, to_step, from.first, from_step, n);
  }
  for (std::int64_t i = 0; i < n; ++i, to.first += to_step, from.first += from_step)
    copy_elements(item, shape, to, from, axis + 1);
}

}  // namespace

std::size_t bytes_of(const Dims& shape, DType t) {
  const auto item = static_cast<std::int64_t>(itemsize(t));
  check_shape(shape, item);
  return static_cast<std::size_t>(element_count(shape) * item);
}

Argument::Argument(const plait_array& a, const engine::ProgramArgument& of, bool written)
    : type_(of.dtype), name_(of.name) {
  const auto wrong = [&](const std::string& why) {
    return ValueError("argument '" + of.name + "' " + why);
  };
  const std::string_view wanted = name(type_);
  if (!a.dtype || a.dtype != wanted)
    throw DTypeError("argument '" + of.name + "' has to be of " + std::string(wanted) +
                     ", not of " + (a.dtype ? a.dtype : "no dtype"));
  if (a.ndim < 0 || a.ndim > kMaxDims || (a.ndim > 0 && !a.shape)) throw wrong("has no shape");
  shape_ = Dims(a.shape, a.shape + a.ndim);
  for (const std::int64_t n : shape_)
    if (n < 0) throw wrong("has a negative extent");
  const std::size_t bytes = bytes_of(shape_, type_);
  const auto item = static_cast<std::int64_t>(itemsize(type_));
  strides_ = contiguous_strides(shape_, item);
  if (bytes == 0) return;
  if (!a.data) throw wrong("has no data");
  first_ = static_cast<std::byte*>(a.data);
  range_ = {first_, bytes};
  if (!a.strides) {
    if (a.bytes < bytes) throw wrong("has too few bytes");
    return;
  }
  std::int64_t before = 0, behind = item;
  for (int d = 0; d < a.ndim; ++d) {
    if (shape_[d] == 1) continue;
    std::int64_t span;
    std::int64_t& side = a.strides[d] < 0 ? before : behind;
    if (__builtin_mul_overflow(a.strides[d], shape_[d] - 1, &span) ||
        __builtin_add_overflow(side, span, &side))
      throw wrong("has strides that no memory has");
    dense_ &= a.strides[d] == strides_[d];
    strides_[d] = a.strides[d];
  }
  range_ = {first_ + before, static_cast<std::size_t>(behind - before)};
  if (written && lies_over_itself())
    throw wrong("has elements that share memory, and is written to");
}

NodeMemory Argument::readable() const {
  if (dense_ && range_.aligned(type_)) return borrowed(range_, false);
  if (logging(Log::Fallback))
    log(Log::Fallback, "an argument of a program is copied: '" + name_ + "' is not " +
                           (dense_ ? "aligned" : "in C order"));
  NodeMemory copy{allocate(bytes_of(shape_, type_)), 0};
  transfer(copy.at(), true);
  return copy;
}

void Argument::transfer(std::byte* memory, bool out) const {
  if (range_.bytes == 0) return;
  if (dense_) {
    std::memcpy(out ? memory : first_, out ? first_ : memory, range_.bytes);
    return;
  }
  const std::size_t item = itemsize(type_);
  const Dims in_order = contiguous_strides(shape_, static_cast<std::int64_t>(item));
  const Strided here{first_, strides_}, there{memory, in_order};
  copy_elements(item, shape_, out ? there : here, out ? here : there);
}

bool Argument::lies_over_itself() const {
  Dims steps;
  for (const std::int64_t s : strides_) steps.push_back(std::abs(s));
  auto span = static_cast<std::int64_t>(itemsize(type_));
  for (const std::int64_t d : tracer::iteration_order(steps.size(), {&steps, 1})) {
    const int axis = static_cast<int>(d);
    if (shape_[axis] == 1) continue;
    if (steps[axis] < span) return true;
    span += steps[axis] * (shape_[axis] - 1);
  }
  return false;
}

Places::Places(const engine::Program& program, const std::vector<Argument>& arguments)
    : program_(program), arguments_(arguments) {
  program.check_apart([&](std::size_t i, std::size_t j) {
    return arguments_[i].memory().meets(arguments_[j].memory());
  });
}

NodeMemory Places::place(const Range& r) {
  const auto& data = program_.data();
  const std::string result = "result " + std::to_string(results_.size()) + " ";
  for (std::size_t i = 0; i < results_.size(); ++i)
    if (r.meets(results_[i]))
      throw ValueError(result + "shares memory with result " + std::to_string(i));
  for (const std::int32_t w : data.writes)
    if (r.meets(arguments_[static_cast<std::size_t>(w)].memory()))
      throw ValueError(result + "shares memory with argument '" +
                       data.arguments[static_cast<std::size_t>(w)].name + "', which is written");
  const bool apart =
      std::ranges::none_of(arguments_, [&](const Argument& a) { return r.meets(a.memory()); });
  const bool direct = r.first && apart && r.aligned(data.results[results_.size()].dtype);
  results_.push_back(r);
  return direct ? borrowed(r, true) : NodeMemory{};
}

}  // namespace plait::run
