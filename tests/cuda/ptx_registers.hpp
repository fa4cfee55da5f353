// What single instructions compute: conversions, arithmetic and comparisons of registers, under
// the processor's rounding modes and without contraction.
#pragma once
#include <limits>

#include "ptx_values.hpp"

namespace ptx {

// The registers of one frame, and the carry of its thread.
class Registers {
 protected:
  U* r_ = nullptr;
  const std::uint8_t* widths_ = nullptr;
  bool* carry_ = nullptr;

  U get(const Instruction& i, std::size_t n, Type t) const { return extended(r_[i.in[n]], t); }
  void put(Slot slot, U v) {
    if (slot != kNone) r_[slot] = v & mask_of(widths_[slot]);
  }

  // What reads and writes nothing but registers.
  void compute(const Instruction& i) {
    const int width = bits(i.type);
    switch (i.op) {
      case Op::Mov:
        return move(i);
      case Op::Setp: {
        bool v = compared(i), other = !v;
        if (i.combine) {
          const bool with = (r_[i.in[2]] != 0) != i.negate_last;
          const auto combined = [&](bool b) {
            return i.combine == '&' ? b && with : i.combine == '|' ? b || with : b != with;
          };
          v = combined(v);
          other = combined(other);
        }
        put(i.to[0], v);
        if (i.to.size() > 1) put(i.to[1], other);
        return;
      }
      case Op::Set: {
        const Type result = i.type;
        Instruction typed = i;
        typed.type = i.from;
        const bool v = compared(typed);
        return put(i.to[0], !v ? 0 : result == Type::F32 ? bits_of(1.0f) : mask_of(32));
      }
      case Op::Selp:
        return put(i.to[0], r_[i.in[(r_[i.in[2]] != 0) != i.negate_last ? 0 : 1]] & mask_of(width));
      case Op::Slct:
        return put(i.to[0], r_[i.in[i.from == Type::F32 ? !(number<float>(i, 2) >= 0)
                                                        : signed_of(r_[i.in[2]], 32) < 0]] &
                                mask_of(width));
      case Op::Cvt:
        return convert(i);
      case Op::Testp: {
        const double v = i.type == Type::F32 ? static_cast<double>(as_float(r_[i.in[0]]))
                                             : as_double(r_[i.in[0]]);
        const int kind =
            i.type == Type::F32 ? std::fpclassify(as_float(r_[i.in[0]])) : std::fpclassify(v);
        const bool is = i.mode == 'f'   ? std::isfinite(v)
                        : i.mode == 'i' ? std::isinf(v)
                        : i.mode == 'n' ? !std::isnan(v)
                        : i.mode == 'a' ? std::isnan(v)
                        : i.mode == 'o' ? kind == FP_NORMAL
                                        : kind == FP_SUBNORMAL;
        return put(i.to[0], is);
      }
      default:
        break;
    }
    if (is_float(i.type)) {
      if (i.type == Type::F32) return arithmetic<float>(i);
      if (i.type == Type::F64) return arithmetic<double>(i);
      throw Fault{"arithmetic of float16"};
    }
    integers(i);
  }
  void integers(const Instruction& i) {
    const int width = bits(i.type);
    const U a = get(i, 0, i.type), b = i.in.size() > 1 ? get(i, 1, i.type) : 0;
    const U mask = mask_of(width);
    switch (i.op) {
      case Op::Add:
      case Op::Addc:
        return sum(i, a & mask, b & mask, i.carry_in && *carry_);
      case Op::Sub:
      case Op::Subc: {
        const bool borrow = i.carry_in && *carry_;
        const Wide v = static_cast<Wide>(a & mask) - (b & mask) - (borrow ? 1 : 0);
        if (i.carry_out) *carry_ = (v >> width & 1) != 0;
        return put(i.to[0], static_cast<U>(v) & mask);
      }
      case Op::Mul:
      case Op::Mad:
      case Op::Madc:
        return multiply(i);
      case Op::Div:
      case Op::Rem:
        return divide(i);
      case Op::And:
        return put(i.to[0], a & b);
      case Op::Or:
        return put(i.to[0], a | b);
      case Op::Xor:
        return put(i.to[0], a ^ b);
      case Op::Not:
        return put(i.to[0], ~a & mask);
      case Op::Cnot:
        return put(i.to[0], a == 0);
      case Op::Neg:
        return put(i.to[0], (U{0} - a) & mask);
      case Op::Abs:
        return put(i.to[0], (static_cast<S>(a) < 0 ? U{0} - a : a) & mask);
      case Op::Min:
      case Op::Max: {
        const bool less = is_signed(i.type) ? static_cast<S>(a) < static_cast<S>(b) : a < b;
        return put(i.to[0], (less == (i.op == Op::Min) ? a : b) & mask);
      }
      case Op::Shl: {
        const U n = r_[i.in[1]] & 0xffffffff;
        return put(i.to[0], n >= static_cast<U>(width) ? 0 : a << n & mask);
      }
      case Op::Shr: {
        const U n = std::min<U>(r_[i.in[1]] & 0xffffffff, static_cast<U>(width));
        if (is_signed(i.type))
          return put(i.to[0], static_cast<U>(static_cast<S>(a) >> std::min<U>(n, 63)) & mask);
        return put(i.to[0], n >= static_cast<U>(width) ? 0 : a >> n);
      }
      case Op::Popc:
        return put(i.to[0], static_cast<U>(std::popcount(a)));
      case Op::Clz:
        return put(i.to[0], static_cast<U>(std::countl_zero(a) - (64 - width)));
      case Op::Brev: {
        U v = 0;
        for (int n = 0; n < width; ++n) v |= (a >> n & 1) << (width - 1 - n);
        return put(i.to[0], v);
      }
      case Op::Bfe: {
        const int at = static_cast<int>(b & 0xff), n = static_cast<int>(r_[i.in[2]] & 0xff);
        const bool is = is_signed(i.type);
        U v = 0;
        const int top = std::min(at + n - 1, width - 1);
        const U sign = is && n > 0 && (a >> top & 1) ? 1 : 0;
        for (int k = 0; k < width; ++k)
          v |= (k < n && at + k < width ? a >> (at + k) & 1 : sign) << k;
        return put(i.to[0], v & mask);
      }
      case Op::Bfi: {
        const int at = static_cast<int>(r_[i.in[2]] & 0xff),
                  n = static_cast<int>(r_[i.in[3]] & 0xff);
        U v = b;
        for (int k = 0; k < n && at + k < width; ++k)
          v = (v & ~(U{1} << (at + k))) | (a >> k & 1) << (at + k);
        return put(i.to[0], v & mask);
      }
      case Op::Lop3: {
        const U c = r_[i.in[2]], table = r_[i.in[3]];
        U v = 0;
        for (int k = 0; k < width; ++k)
          v |= (table >> ((a >> k & 1) << 2 | (b >> k & 1) << 1 | (c >> k & 1)) & 1) << k;
        return put(i.to[0], v);
      }
      case Op::Shf: {
        const U both = (b & 0xffffffff) << 32 | (a & 0xffffffff);
        U n = r_[i.in[2]] & 0xffffffff;
        n = i.wrap ? n & 31 : std::min<U>(n, 32);
        return put(i.to[0], (i.mode == 'l' ? both << n >> 32 : both >> n) & 0xffffffff);
      }
      case Op::Prmt: {
        const U both = (b & 0xffffffff) << 32 | (a & 0xffffffff), pick = r_[i.in[2]];
        U v = 0;
        for (int k = 0; k < 4; ++k) {
          const U p = pick >> (4 * k) & 15, byte = both >> (8 * (p & 7)) & 0xff;
          v |= (p & 8 ? (byte & 0x80 ? U{0xff} : 0) : byte) << (8 * k);
        }
        return put(i.to[0], v);
      }
      case Op::Sad: {
        const U c = get(i, 2, i.type);
        const bool less = is_signed(i.type) ? static_cast<S>(a) < static_cast<S>(b) : a < b;
        return put(i.to[0], (c + (less ? b - a : a - b)) & mask);
      }
      default:
        throw Fault{"an instruction that is not known here"};
    }
  }

 private:
  template <class T>
  T number(const Instruction& i, std::size_t n) const {
    T v;
    if constexpr (sizeof(T) == 4)
      v = as_float(r_[i.in[n]]);
    else
      v = as_double(r_[i.in[n]]);
    return i.flush ? flushed(v) : v;
  }
  template <class T>
  void put_number(const Instruction& i, T v) {
    if (i.flush) v = flushed(v);
    if (i.saturate) v = std::isnan(v) ? T(0) : std::clamp(v, T(0), T(1));
    put(i.to[0], bits_of(v));
  }

  template <class T>
  static bool compare(Compare c, T a, T b) {
    bool unordered = false;
    if constexpr (std::is_floating_point_v<T>) unordered = std::isnan(a) || std::isnan(b);
    switch (c) {
      case Compare::Eq:
        return a == b;
      case Compare::Ne:
        return !unordered && a != b;
      case Compare::Lt:
      case Compare::Lo:
        return a < b;
      case Compare::Le:
      case Compare::Ls:
        return a <= b;
      case Compare::Gt:
      case Compare::Hi:
        return a > b;
      case Compare::Ge:
      case Compare::Hs:
        return a >= b;
      case Compare::Equ:
        return unordered || a == b;
      case Compare::Neu:
        return unordered || a != b;
      case Compare::Ltu:
        return unordered || a < b;
      case Compare::Leu:
        return unordered || a <= b;
      case Compare::Gtu:
        return unordered || a > b;
      case Compare::Geu:
        return unordered || a >= b;
      case Compare::Num:
        return !unordered;
      case Compare::Nan:
        return unordered;
      default:
        throw Fault{"a comparison of an unknown kind"};
    }
  }
  bool compared(const Instruction& i) const {
    if (i.type == Type::F32) return compare(i.compare, number<float>(i, 0), number<float>(i, 1));
    if (i.type == Type::F64) return compare(i.compare, number<double>(i, 0), number<double>(i, 1));
    const U a = get(i, 0, i.type), b = get(i, 1, i.type);
    return is_signed(i.type) ? compare(i.compare, static_cast<S>(a), static_cast<S>(b))
                             : compare(i.compare, a, b);
  }

  template <class T>
  void arithmetic(const Instruction& i) {
    const T a = number<T>(i, 0), b = i.in.size() > 1 ? number<T>(i, 1) : T(0);
    // Read and written through memory, so that nothing is folded under another rounding mode.
    volatile T x = a, y = b, v = T(0);
    {
      const Rounding rounding(i.round);
      switch (i.op) {
        case Op::Add:
          v = x + y;
          break;
        case Op::Sub:
          v = x - y;
          break;
        case Op::Mul:
          v = x * y;
          break;
        case Op::Div:
          v = x / y;
          break;
        case Op::Rcp:
          v = T(1) / x;
          break;
        case Op::Sqrt:
          v = std::sqrt(x);
          break;
        case Op::Fma:
        case Op::Mad: {
          volatile T z = number<T>(i, 2);
          v = std::fma(x, y, z);
          break;
        }
        case Op::Rsqrt:
          v = static_cast<T>(1 / std::sqrt(static_cast<long double>(a)));
          break;
        case Op::Ex2:
          v = std::exp2(a);
          break;
        case Op::Lg2:
          v = std::log2(a);
          break;
        case Op::Sin:
          v = std::sin(a);
          break;
        case Op::Cos:
          v = std::cos(a);
          break;
        case Op::Tanh:
          v = std::tanh(a);
          break;
        case Op::Abs:
          v = std::fabs(a);
          break;
        case Op::Neg:
          v = -a;
          break;
        case Op::Copysign:  // the sign of the first, the size of the second
          v = std::copysign(b, a);
          break;
        case Op::Min:
        case Op::Max: {
          const bool least = i.op == Op::Min;
          if (std::isnan(a) || std::isnan(b))
            v = i.nan || (std::isnan(a) && std::isnan(b)) ? std::numeric_limits<T>::quiet_NaN()
                : std::isnan(a)                           ? b
                                                          : a;
          else if (a == b)  // -0.0 is less than 0.0
            v = std::signbit(a) == least ? a : b;
          else
            v = (a < b) == least ? a : b;
          break;
        }
        default:
          throw Fault{"an instruction that has no floating point form"};
      }
    }
    T result = v;
    // Those of float64 look at the upper half alone and give no more.
    if constexpr (sizeof(T) == 8)
      if (i.approximate) result = as_double(bits_of(result) & ~U{0xffffffff});
    put_number(i, result);
  }

  void divide(const Instruction& i) {
    const int width = bits(i.type);
    const U a = get(i, 0, i.type), b = get(i, 1, i.type);
    // What the hardware's routines leave, if not what the ISA promises.
    if (b == 0) return put(i.to[0], i.op == Op::Div ? mask_of(width) : a);
    if (is_signed(i.type)) {
      const S x = static_cast<S>(a), y = static_cast<S>(b);
      if (y == -1) return put(i.to[0], i.op == Op::Div ? U{0} - a : 0);
      return put(i.to[0], static_cast<U>(i.op == Op::Div ? x / y : x % y));
    }
    put(i.to[0], i.op == Op::Div ? a / b : a % b);
  }

  // a * b + c: the lower, the upper half, or both.
  void multiply(const Instruction& i) {
    const int width = bits(i.type);
    const U a = get(i, 0, i.type), b = get(i, 1, i.type);
    const Wide product =
        is_signed(i.type)
            ? static_cast<Wide>(static_cast<__int128>(static_cast<S>(a)) * static_cast<S>(b))
            : static_cast<Wide>(a) * b;
    const bool adds = i.op == Op::Mad || i.op == Op::Madc;
    if (i.mode == 'w') {
      U v = static_cast<U>(product);
      if (adds) v += r_[i.in[2]];
      return put(i.to[0], v & mask_of(2 * width));
    }
    const U part = static_cast<U>(i.mode == 'h' ? product >> width : product) & mask_of(width);
    if (!adds) return put(i.to[0], part);
    sum(i, part, r_[i.in[2]] & mask_of(width), i.carry_in && *carry_);
  }
  void sum(const Instruction& i, U a, U b, bool carry) {
    const int width = bits(i.type);
    const Wide v = static_cast<Wide>(a) + b + (carry ? 1 : 0);
    if (i.carry_out) *carry_ = (v >> width & 1) != 0;
    put(i.to[0], static_cast<U>(v) & mask_of(width));
  }

  void convert(const Instruction& i) {
    const Type to = i.type, from = i.from;
    if (is_float(from)) {
      double v = 0;
      if (from == Type::F16)
        v = static_cast<double>(std::bit_cast<_Float16>(static_cast<std::uint16_t>(r_[i.in[0]])));
      else if (from == Type::F32)
        v = number<float>(i, 0);
      else
        v = as_double(r_[i.in[0]]);
      if (!is_float(to)) return put(i.to[0], integer_of(v, i));
      volatile double x = v;
      if (i.to_integral) {
        const Rounding rounding(i.round);
        x = std::nearbyint(x);
      }
      if (to == Type::F64) {
        put_number(i, static_cast<double>(x));
      } else if (to == Type::F32) {
        volatile float narrow;
        {
          const Rounding rounding(i.to_integral ? Round::Nearest : i.round);
          narrow = static_cast<float>(x);
        }
        put_number(i, static_cast<float>(narrow));
      } else {
        if (i.round != Round::Nearest || i.saturate)
          throw Fault{"a conversion to float16 of an unknown kind"};
        const auto half = static_cast<_Float16>(static_cast<double>(x));
        put(i.to[0], std::isnan(v) ? 0x7fff : std::bit_cast<std::uint16_t>(half));
      }
      return;
    }
    const U a = get(i, 0, from);
    if (!is_float(to)) {
      if (i.saturate) return put(i.to[0], clamped(a, from, to));
      return put(i.to[0], extended(a, to));
    }
    const bool negative = is_signed(from);
    const Rounding rounding(i.round);
    if (to == Type::F64) {
      volatile double v;
      if (negative)
        v = static_cast<double>(static_cast<S>(a));
      else
        v = static_cast<double>(a);
      put(i.to[0], bits_of(static_cast<double>(v)));
    } else if (to == Type::F32) {
      volatile float v;
      if (negative)
        v = static_cast<float>(static_cast<S>(a));
      else
        v = static_cast<float>(a);
      put(i.to[0], bits_of(static_cast<float>(v)));
    } else {
      const _Float16 v =
          negative ? static_cast<_Float16>(static_cast<S>(a)) : static_cast<_Float16>(a);
      put(i.to[0], std::bit_cast<std::uint16_t>(v));
    }
  }
  void move(const Instruction& i) {
    if (i.to.size() == 1 && i.in.size() == 1)
      return put(i.to[0], i.type == Type::Pred ? r_[i.in[0]] : r_[i.in[0]] & mask_of(bits(i.type)));
    // Packs or unpacks.
    const int part = bits(i.type) / static_cast<int>(std::max(i.to.size(), i.in.size()));
    U all = 0;
    for (std::size_t n = 0; n < i.in.size(); ++n)
      all |= (i.in.size() == 1 ? r_[i.in[0]]
                               : (r_[i.in[n]] & mask_of(part)) << (part * static_cast<int>(n)));
    for (std::size_t n = 0; n < i.to.size(); ++n)
      put(i.to[n], i.to.size() == 1 ? all : all >> (part * static_cast<int>(n)) & mask_of(part));
  }
};

}  // namespace ptx
