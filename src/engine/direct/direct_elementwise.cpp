#include <complex>
#include <cstring>

#include "codegen/loops/loops.hpp"
#include "direct_kernels.hpp"
#include "plait/error.hpp"

namespace plait::engine {

void run_elementwise(OpId fn, DType loop, const Dims& shape, std::span<const Memory> in,
                     const Memory& out) {
  const loops::LoopFn run = loops::elementwise(fn, loop, config().tier);
  if (!run)
    throw InternalError("no loop for " + std::string(op_info(fn).name) + " of " +
                        std::string(name(loop)));
  std::array<Memory, kMaxRowOperands> all;
  std::copy(in.begin(), in.end(), all.begin());
  all[in.size()] = out;
  const std::span<const Memory> operands(all.data(), in.size() + 1);
  Rows rows = make_rows(shape, operands, static_cast<int>(operands.size()));
  lengthen_rows(rows);
  for_each_row(rows, [&](std::byte* const* p, const std::int64_t* strides, std::int64_t n) {
    void* args[kMaxRowOperands];
    in_parts(n, [&](std::int64_t at, std::int64_t length) {
      for (std::size_t i = 0; i < operands.size(); ++i) args[i] = p[i] + at * strides[i];
      run(args, strides, length);
    });
  });
}

namespace {

template <std::size_t Size>
void copy_row(const std::byte* in, std::int64_t in_stride, std::byte* out, std::int64_t out_stride,
              std::int64_t n) {
  if (in_stride == Size && out_stride == Size) {
    std::memmove(out, in, Size * static_cast<std::size_t>(n));
    return;
  }
  if (in_stride == 0 && out_stride == Size) {
    std::array<std::byte, Size> value;
    std::memcpy(value.data(), in, Size);
    for (std::int64_t i = 0; i < n; ++i)
      std::memcpy(out + i * static_cast<std::int64_t>(Size), value.data(), Size);
    return;
  }
  for (std::int64_t i = 0; i < n; ++i, in += in_stride, out += out_stride)
    std::memcpy(out, in, Size);
}

void copy_row_of(std::size_t size, const std::byte* in, std::int64_t in_stride, std::byte* out,
                 std::int64_t out_stride, std::int64_t n) {
  switch (size) {
    case 1:
      return copy_row<1>(in, in_stride, out, out_stride, n);
    case 2:
      return copy_row<2>(in, in_stride, out, out_stride, n);
    case 4:
      return copy_row<4>(in, in_stride, out, out_stride, n);
    case 8:
      return copy_row<8>(in, in_stride, out, out_stride, n);
    default:
      return copy_row<16>(in, in_stride, out, out_stride, n);
  }
}

template <class T>
void iota(T start, T step, std::int64_t n, std::byte* out) {
  auto* p = reinterpret_cast<T*>(out);
  for (std::int64_t i = 0; i < n; ++i) {
    if constexpr (std::is_integral_v<T>)
      p[i] = static_cast<T>(static_cast<std::uint64_t>(start) +
                            static_cast<std::uint64_t>(i) * static_cast<std::uint64_t>(step));
    else if constexpr (std::is_floating_point_v<T>)
      p[i] = start + static_cast<T>(i) * step;
    else
      p[i] = start + static_cast<typename T::value_type>(i) * step;
  }
}

}  // namespace

void run_cast(DType from, DType to, const Dims& shape, const Memory& in, const Memory& out,
              const Memory* mask) {
  const loops::LoopFn convert = from == to ? nullptr : loops::cast(from, to, config().tier);
  if (from != to && !convert)
    throw InternalError("no cast from " + std::string(name(from)) + " to " + std::string(name(to)));
  const std::size_t size = itemsize(to);
  auto row = [&](std::byte* source, std::int64_t source_stride, std::byte* target,
                 std::int64_t target_stride, std::int64_t n) {
    if (!convert) {
      copy_row_of(size, source, source_stride, target, target_stride, n);
      return;
    }
    void* args[] = {source, target};
    const std::int64_t strides[] = {source_stride, target_stride};
    convert(args, strides, n);
  };
  std::array<Memory, 3> operands{in, out, mask ? *mask : Memory()};
  const std::size_t count = mask ? 3 : 2;
  // The target's order first: it is what is written.
  std::swap(operands[0], operands[1]);
  Rows rows = make_rows(shape, std::span<const Memory>(operands.data(), count), 2);
  lengthen_rows(rows);
  for_each_row(rows, [&](std::byte* const* p, const std::int64_t* s, std::int64_t n) {
    if (!mask) {
      in_parts(n, [&](std::int64_t at, std::int64_t length) {
        row(p[1] + at * s[1], s[1], p[0] + at * s[0], s[0], length);
      });
      return;
    }
    for_each_run(p[2], s[2], n, [&](std::int64_t first, std::int64_t length) {
      row(p[1] + first * s[1], s[1], p[0] + first * s[0], s[0], length);
    });
  });
}

void run_fill(const Scalar& value, const Dims& shape, const Memory& out) {
  Scalar s = value;
  const Memory in{reinterpret_cast<std::byte*>(s.bytes), Dims(shape.size(), 0)};
  run_cast(s.dtype, s.dtype, shape, in, out);
}

void run_iota(const Scalar& start, const Scalar& step, std::int64_t n, std::byte* out) {
  switch (start.dtype) {
#define PLAIT_IOTA(id, type) \
  case DType::id:            \
    return iota<type>(start.as<type>(), step.as<type>(), n, out);
    PLAIT_IOTA(Int8, std::int8_t)
    PLAIT_IOTA(UInt8, std::uint8_t)
    PLAIT_IOTA(Int16, std::int16_t)
    PLAIT_IOTA(UInt16, std::uint16_t)
    PLAIT_IOTA(Int32, std::int32_t)
    PLAIT_IOTA(UInt32, std::uint32_t)
    PLAIT_IOTA(Int64, std::int64_t)
    PLAIT_IOTA(UInt64, std::uint64_t)
    PLAIT_IOTA(Float32, float)
    PLAIT_IOTA(Float64, double)
    PLAIT_IOTA(Complex64, std::complex<float>)
    PLAIT_IOTA(Complex128, std::complex<double>)
#undef PLAIT_IOTA
    case DType::Bool:
      for (std::int64_t i = 0; i < n; ++i)
        out[i] = std::byte{start.bytes[0] != 0 || (i > 0 && step.bytes[0] != 0)};
      return;
    case DType::Float16: {
      const float first = cast(start, DType::Float32).as<float>();
      const float by = cast(step, DType::Float32).as<float>();
      for (std::int64_t i = 0; i < n; ++i) {
        const Scalar v =
            cast(Scalar::of(DType::Float32, first + static_cast<float>(i) * by), DType::Float16);
        std::memcpy(out + 2 * i, v.bytes, 2);
      }
      return;
    }
    default:
      throw InternalError("no range is computed in " + std::string(name(start.dtype)));
  }
}

}  // namespace plait::engine
