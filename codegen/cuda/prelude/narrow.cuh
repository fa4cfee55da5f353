// Narrow dtypes as stored, and the casts between them and what is computed in: the steps of core/narrow.hpp, whose
// table of formats follows in the program.
enum Specials { Ieee, Fn, Fnuz, Finite };
template <int exponent, int mantissa, int bias, Specials specials, class Bits>
struct NarrowFloat {
  Bits code;
  static constexpr int sign_shift = exponent + mantissa, shift = 23 - mantissa;
  static constexpr uint32 sign = 1u << sign_shift, rebias = uint32(127 - bias) << 23;
  static constexpr uint32 first_special = specials == Ieee ? (sign - 1) >> mantissa << mantissa
                                          : specials == Fn ? sign - 1
                                                           : sign;
  static constexpr uint32 overflow = specials == Finite ? sign - 1 : specials == Fnuz ? sign : first_special;
  static constexpr uint32 nan = specials == Ieee ? first_special | 1u << (mantissa - 1)
                                : specials == Fn ? first_special
                                                 : sign;
  static constexpr uint32 smallest_normal = uint32(128 - bias) << 23, magic = uint32(151 - bias - mantissa) << 23;

  PLAIT_INLINE static NarrowFloat rounded(float v) {
    const uint32 bits = to_bits(v), magnitude = bits & 0x7fffffffu;
    uint32 code = ((magnitude + (1u << (shift - 1)) - 1 + (magnitude >> shift & 1u)) >> shift) - (rebias >> shift);
    if (bias != 127 && magnitude < smallest_normal)
      code = to_bits(from_bits(magnitude) + from_bits(magic)) - magic;
    if (int32(code) >= int32(first_special)) code = overflow;
    if (magnitude > 0x7f800000u) code = nan;
    const uint32 negative = bits >> 31 << sign_shift;
    if (specials == Fnuz) return {Bits(code == 0 ? 0 : code | negative)};
    return {Bits(code ^ negative)};
  }
  PLAIT_INLINE float widened() const {
    const uint32 bits = code;
    if (bias == 127) return from_bits(bits << shift);
    const uint32 low = bits & (sign - 1), normal = (low << shift) + rebias;
    uint32 value = normal;
    if (low < 1u << mantissa) value = to_bits(from_bits(normal + (1u << 23)) - from_bits(smallest_normal));
    if (specials == Ieee && low >= first_special) value = low == first_special ? 0x7f800000u : 0x7fc00000u;
    if (specials == Fn && low == first_special) value = 0x7fc00000u;
    if (specials == Fnuz && bits == sign) value = 0x7fc00000u;
    return from_bits(value | (bits & sign) << (31 - sign_shift));
  }
};
template <int bits, class Wide>
struct NarrowInt {
  uint8 code;
  PLAIT_INLINE static NarrowInt rounded(Wide v) { return {uint8(uint8(v) & ((1u << bits) - 1))}; }
  PLAIT_INLINE Wide widened() const { return Wide(Wide(uint8(code << (8 - bits))) >> (8 - bits)); }
};
template <class T>
constexpr bool is_narrow = false;
template <int exponent, int mantissa, int bias, Specials specials, class Bits>
constexpr bool is_narrow<NarrowFloat<exponent, mantissa, bias, specials, Bits>> = true;
template <int bits, class Wide>
constexpr bool is_narrow<NarrowInt<bits, Wide>> = true;
