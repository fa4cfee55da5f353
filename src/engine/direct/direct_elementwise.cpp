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

namespace {
// The loops of a cast: several by way of what narrow dtypes are computed in, a block after another.
class CastLoops {
 public:
  CastLoops(DType from, DType to) {
    add(from, computes_in(from));
    add(computes_in(from), computes_in(to));
    add(computes_in(to), to);
  }
  void run(std::byte* from, std::int64_t from_stride, std::byte* to, std::int64_t to_stride,
           std::int64_t n) const {
    if (count_ == 1) return step(0, from, from_stride, to, to_stride, n);
    alignas(64) std::byte blocks[2][kBlock * kWidest];
    for (std::int64_t at = 0; at < n; at += kBlock) {
      const std::int64_t some = std::min(kBlock, n - at);
      std::byte* source = from + at * from_stride;
      std::int64_t stride = from_stride;
      for (int i = 0; i < count_; ++i) {
        const bool last = i + 1 == count_;
        std::byte* target = last ? to + at * to_stride : blocks[i];
        const std::int64_t target_stride = last ? to_stride : size_[i];
        step(i, source, stride, target, target_stride, some);
        source = target;
        stride = target_stride;
      }
    }
  }

 private:
  static constexpr std::int64_t kBlock = 256, kWidest = 16;
  void add(DType from, DType to) {
    if (from == to) return;
    loops_[count_] = loops::cast(from, to, config().tier);
    if (!loops_[count_])
      throw InternalError("no cast from " + std::string(name(from)) + " to " +
                          std::string(name(to)));
    size_[count_++] = static_cast<std::int64_t>(itemsize(to));
  }
  void step(int i, std::byte* from, std::int64_t from_stride, std::byte* to, std::int64_t to_stride,
            std::int64_t n) const {
    void* args[] = {from, to};
    const std::int64_t strides[] = {from_stride, to_stride};
    loops_[i](args, strides, n);
  }
  loops::LoopFn loops_[3];
  std::int64_t size_[3];
  int count_ = 0;
};
}  // namespace

void run_cast(DType from, DType to, const Dims& shape, const Memory& in, const Memory& out,
              const Memory* mask) {
  std::optional<CastLoops> convert;
  if (from != to) convert.emplace(from, to);
  const std::size_t size = itemsize(to);
  auto row = [&](std::byte* source, std::int64_t source_stride, std::byte* target,
                 std::int64_t target_stride, std::int64_t n) {
    if (convert)
      convert->run(source, source_stride, target, target_stride, n);
    else
      copy_row_of(size, source, source_stride, target, target_stride, n);
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
