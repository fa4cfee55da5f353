#include "scatter.hpp"

#include <cstring>

#include "codegen/loops/loops.hpp"
#include "core/config.hpp"
#include "core/fixed_size.hpp"
#include "core/machine.hpp"
#include "engine/threads/split.hpp"
#include "plait/error.hpp"

namespace plait::engine {

namespace {
// The index and the value: of elements with one index the last in this order stays, as NumPy's.
constexpr int kOrdering = 2;

// body(indices, values, target, their strides, count) for parts of the rows, with looks at
// interrupts in between.
template <class F>
void for_each_part(const Rows& rows, F&& body) {
  for_each_row(rows, [&](std::byte* const* p, const std::int64_t* s, std::int64_t n) {
    in_parts(n, [&](std::int64_t first, std::int64_t some) {
      body(p[0] + first * s[0], p[1] + first * s[1], p[2] + first * s[2], s, some);
    });
  });
}
}  // namespace

double scatter_seconds(std::int64_t elements, std::int64_t bytes) {
  const Machine& m = host_machine();
  return static_cast<double>(elements) * (bytes <= m.memory[0].bytes ? m.near_write : m.far_write);
}

void run_scatter(DType t, const Dims& shape, const Memory& value, const Memory& index,
                 std::int64_t step, const Memory& to) {
  const Memory operands[] = {index, value, to};
  const Rows rows = make_rows(shape, operands, kOrdering);
  with_fixed_size(itemsize(t), [&](auto bytes) {
    for_each_part(rows, [=](const std::byte* at, const std::byte* from, std::byte* out,
                            const std::int64_t* s, std::int64_t n) {
      for (std::int64_t i = 0; i < n; ++i, at += s[0], from += s[1], out += s[2]) {
        std::int64_t k;
        std::memcpy(&k, at, sizeof k);
        std::memcpy(out + k * step, from, bytes);
      }
    });
  });
}

namespace {

template <class T, class F>
void combine(const Rows& rows, std::int64_t step, F f) {
  const auto item = static_cast<std::int64_t>(sizeof(T));
  for_each_part(rows, [=](const std::byte* at, const std::byte* from, std::byte* out,
                          const std::int64_t* s, std::int64_t n) {
    std::int64_t k;
    if (s[0] == 0 && s[1] == item && s[2] == item) {  // a row that one index names
      std::memcpy(&k, at, sizeof k);
      auto* to = reinterpret_cast<T*>(out + k * step);
      const auto* v = reinterpret_cast<const T*>(from);
      for (std::int64_t i = 0; i < n; ++i) to[i] = f(to[i], v[i]);
      return;
    }
    if (s[0] == sizeof k && s[1] == item && s[2] == 0 && step == item) {  // a table of elements
      auto* to = reinterpret_cast<T*>(out);
      const auto* index = reinterpret_cast<const std::int64_t*>(at);
      const auto* v = reinterpret_cast<const T*>(from);
      for (std::int64_t i = 0; i < n; ++i) to[index[i]] = f(to[index[i]], v[i]);
      return;
    }
    for (std::int64_t i = 0; i < n; ++i, at += s[0], from += s[1], out += s[2]) {
      std::memcpy(&k, at, sizeof k);
      T now, v;
      std::memcpy(&now, out + k * step, sizeof now);
      std::memcpy(&v, from, sizeof v);
      now = f(now, v);
      std::memcpy(out + k * step, &now, sizeof now);
    }
  });
}

template <class T>
void combine(OpId fn, const Rows& rows, std::int64_t step) {
  // Integers wrap around.
  using Wide = std::conditional_t<(sizeof(T) < sizeof(int)), unsigned, T>;
  const auto wrapping = [](auto&& f) {
    return [f](T a, T b) {
      if constexpr (std::is_integral_v<T>) {
        using U = std::make_unsigned_t<Wide>;
        return static_cast<T>(f(static_cast<U>(a), static_cast<U>(b)));
      } else {
        return f(a, b);
      }
    };
  };
  switch (fn) {
    case OpId::Add:
      return combine<T>(rows, step, wrapping([](auto a, auto b) { return a + b; }));
    case OpId::Subtract:
      return combine<T>(rows, step, wrapping([](auto a, auto b) { return a - b; }));
    case OpId::Multiply:
      return combine<T>(rows, step, wrapping([](auto a, auto b) { return a * b; }));
    case OpId::Maximum:  // a NaN stays
      return combine<T>(rows, step, [](T a, T b) {
        if (b != b) [[unlikely]]
          return a != a ? a : b;
        return b > a ? b : a;
      });
    case OpId::Minimum:
      return combine<T>(rows, step, [](T a, T b) {
        if (b != b) [[unlikely]]
          return a != a ? a : b;
        return b < a ? b : a;
      });
    case OpId::Fmax:  // a number stays, without a flag
      return combine<T>(rows, step,
                        [](T a, T b) { return !(b != b) && (a != a || b > a) ? b : a; });
    case OpId::Fmin:
      return combine<T>(rows, step,
                        [](T a, T b) { return !(b != b) && (a != a || b < a) ? b : a; });
    default:
      break;
  }
}

}  // namespace

bool combines(OpId fn, DType t) {
  const bool known = fn == OpId::Add || fn == OpId::Subtract || fn == OpId::Multiply ||
                     fn == OpId::Maximum || fn == OpId::Minimum || fn == OpId::Fmax ||
                     fn == OpId::Fmin;
  return known && (is_integer(t) || t == DType::Float32 || t == DType::Float64);
}

void run_combine(OpId fn, DType t, const Dims& shape, const Memory& value, const Memory& index,
                 std::int64_t step, const Memory& to) {
  const Memory operands[] = {index, value, to};
  const Rows rows = make_rows(shape, operands, kOrdering);
  switch (t) {
    case DType::Float64:
      return combine<double>(fn, rows, step);
    case DType::Float32:
      return combine<float>(fn, rows, step);
    case DType::Int64:
      return combine<std::int64_t>(fn, rows, step);
    case DType::Int32:
      return combine<std::int32_t>(fn, rows, step);
    case DType::Int16:
      return combine<std::int16_t>(fn, rows, step);
    case DType::Int8:
      return combine<std::int8_t>(fn, rows, step);
    case DType::UInt64:
      return combine<std::uint64_t>(fn, rows, step);
    case DType::UInt32:
      return combine<std::uint32_t>(fn, rows, step);
    case DType::UInt16:
      return combine<std::uint16_t>(fn, rows, step);
    case DType::UInt8:
      return combine<std::uint8_t>(fn, rows, step);
    default:
      break;
  }
}

void run_combine_by_loop(OpId fn, const LoopTypes& loop, DType t, const Dims& shape,
                         const Memory& value, const Memory& index, std::int64_t step,
                         const Memory& to) {
  const CpuTier tier = config().tier;
  const loops::LoopFn f = loops::elementwise(fn, loop.in[0], tier);
  const loops::LoopFn widen = t == loop.in[0] ? nullptr : loops::cast(t, loop.in[0], tier);
  const loops::LoopFn narrow = t == loop.out ? nullptr : loops::cast(loop.out, t, tier);
  if (!f || (t != loop.in[0] && !widen) || (t != loop.out && !narrow))
    throw InternalError("no loop for " + std::string(op_info(fn).name) + ".at");
  const Memory operands[] = {index, value, to};
  for_each_part(make_rows(shape, operands, kOrdering),
                [=](const std::byte* at, const std::byte* from, std::byte* out,
                    const std::int64_t* s, std::int64_t n) {
                  const std::int64_t still[] = {0, 0, 0};
                  alignas(16) std::byte wide[16], result[16];
                  for (std::int64_t i = 0; i < n; ++i, at += s[0], from += s[1], out += s[2]) {
                    std::int64_t k;
                    std::memcpy(&k, at, sizeof k);
                    std::byte* const element = out + k * step;
                    if (widen) {
                      void* cast[] = {element, wide};
                      widen(cast, still, 1);
                    }
                    void* args[] = {widen ? wide : element, const_cast<std::byte*>(from),
                                    narrow ? result : element};
                    f(args, still, 1);
                    if (narrow) {
                      void* cast[] = {result, element};
                      narrow(cast, still, 1);
                    }
                  }
                });
}

void write_coordinates(const std::int64_t* places, std::int64_t n, const Dims& shape,
                       std::int64_t* out, std::int64_t item, std::int64_t axis) {
  const int axes = shape.size();
  split(n, host_machine().divided * axes, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      auto rest = static_cast<std::uint64_t>(places[i]);
      for (int d = axes; d-- > 0;) {
        const auto extent = static_cast<std::uint64_t>(shape[d]);
        out[i * item + d * axis] = static_cast<std::int64_t>(d == 0 ? rest : rest % extent);
        rest /= extent;
      }
    }
  });
}

}  // namespace plait::engine
