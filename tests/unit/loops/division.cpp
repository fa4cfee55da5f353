// Division of numbers against wider integers and libm's fmod, over special values and random bits,
// one divisor for all and one each.
#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "support.hpp"

using namespace loops_test;
namespace {

__extension__ typedef __int128 Int128;
std::mt19937_64 random_bits{7};

template <class T>
std::vector<T> numbers(std::size_t n) {
  std::vector<T> v;
  if constexpr (std::is_integral_v<T>) {
    using L = std::numeric_limits<T>;
    for (T x : {T(0), T(1), T(2), T(3), T(7), T(-1), T(-2), T(-7), L::min(), L::max()})
      for (int d : {-1, 0, 1}) v.push_back(T(std::uint64_t(x) + std::uint64_t(d)));
    for (unsigned bit = 0; bit < 8 * sizeof(T); ++bit)
      for (int d : {-1025, -1, 0, 1}) v.push_back(T((std::uint64_t(1) << bit) + std::uint64_t(d)));
    while (v.size() < n) v.push_back(T(std::int64_t(random_bits()) >> (random_bits() % 64)));
  } else {
    using L = std::numeric_limits<T>;
    for (T x : {T(0), T(0.3), T(1), T(1.5), T(7), L::min(), L::denorm_min(), L::max(),
                L::infinity(), L::quiet_NaN(), L::epsilon(), T(1e-30), T(1e30)})
      v.insert(v.end(), {x, T(-x), std::nextafter(x, T(0)), T(x * 3)});
    while (v.size() < n) {
      const double mantissa = double(std::int64_t(random_bits())) * 0x1p-63;
      v.push_back(T(std::ldexp(mantissa, int(random_bits() % 80) - 30)));
      v.push_back(T(int(random_bits() % 200) - 100) * T(0.5));
      if constexpr (sizeof(T) == 4) {
        v.push_back(__builtin_bit_cast(float, std::uint32_t(random_bits())));
      } else {
        v.push_back(__builtin_bit_cast(double, random_bits()));
      }
    }
  }
  return v;
}

template <class T>
T expected(OpId op, T a, T b, int& flags) {
  if constexpr (std::is_integral_v<T>) {
    if (b == 0) return flags |= FE_DIVBYZERO, T(0);
    Int128 q = Int128(a) / Int128(b), r = Int128(a) % Int128(b);
    if (op == OpId::Fmod) return T(r);
    if (r != 0 && (r < 0) != (b < 0)) q -= 1, r += Int128(b);
    if (op == OpId::FloorDivide && q != Int128(T(q))) flags |= FE_OVERFLOW;
    return op == OpId::FloorDivide ? T(q) : T(r);
  } else {
    std::feclearexcept(FE_ALL_EXCEPT);
    volatile T result;
    if (op == OpId::FloorDivide && b == 0) {
      result = a / b;
    } else {
      const T mod = std::fmod(a, b);
      const bool apart = mod != 0 && std::isless(b, T(0)) != std::isless(mod, T(0));
      result = mod;
      if (op == OpId::Remainder && b != 0)
        result = mod == 0 ? std::copysign(T(0), b) : apart ? mod + b : mod;
      if (op == OpId::FloorDivide) {
        T div = (a - mod) / b;
        if (apart) div -= 1;
        const T floor = std::floor(div);
        result = div == 0                              ? std::copysign(T(0), a / b)
                 : std::isgreater(div - floor, T(0.5)) ? floor + 1
                                                       : floor;
      }
    }
    flags |= std::fetestexcept(kFlags | FE_UNDERFLOW);
    return result;
  }
}

template <class T>
bool agree(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    if (std::isnan(a) && std::isnan(b)) return true;
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

template <class T>
void check(OpId op, const std::vector<T>& a, const std::vector<T>& b, bool one) {
  std::vector<T> want(a.size()), got(a.size());
  int want_flags = 0, wrong = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    want[i] = expected(op, a[i], b[one ? 0 : i], want_flags);
  for (CpuTier tier : tiers()) {
    void* args[] = {const_cast<T*>(a.data()), const_cast<T*>(b.data()), got.data()};
    const std::int64_t strides[] = {sizeof(T), one ? 0 : std::int64_t(sizeof(T)), sizeof(T)};
    std::feclearexcept(FE_ALL_EXCEPT);
    loops::elementwise(op, dtype<T>(), tier)(args, strides, std::int64_t(a.size()));
    const int flags = std::fetestexcept(std::is_integral_v<T> ? kFlags : kFlags | FE_UNDERFLOW);
    INFO(op_info(op).name << " of " << name(dtype<T>()) << " tier " << int(tier) << " by "
                          << +b[0]);
    CHECK(flags == want_flags);
    for (std::size_t i = 0; i < a.size() && wrong < 5; ++i)
      if (!agree(got[i], want[i])) {
        ++wrong;
        INFO(+a[i] << " by " << +b[one ? 0 : i] << " gave " << +got[i] << ", not " << +want[i]);
        CHECK(false);
      }
  }
}

template <class T>
void check_all() {
  const std::vector<T> all = numbers<T>(3000);
  for (OpId op : {OpId::FloorDivide, OpId::Remainder, OpId::Fmod}) {
    for (std::size_t i = 0; i < 60; ++i) check<T>(op, all, {all[i]}, true);
    for (std::size_t shift = 0; shift < 40; ++shift) {
      std::vector<T> by(all.begin() + std::ptrdiff_t(shift), all.end());
      by.insert(by.end(), all.begin(), all.begin() + std::ptrdiff_t(shift));
      check<T>(op, all, by, false);
    }
    // Few at a time, so that what raises nothing shows.
    for (int round = 0; round < 1500; ++round) {
      const auto some = [&] {
        const auto at = all.begin() + std::ptrdiff_t(random_bits() % (all.size() - 5));
        return std::vector<T>(at, at + 5);
      };
      check<T>(op, some(), some(), round % 2);
    }
  }
}

}  // namespace

TEST_CASE("integers are divided exactly") {
  check_all<std::int8_t>();
  check_all<std::uint8_t>();
  check_all<std::int16_t>();
  check_all<std::uint16_t>();
  check_all<std::int32_t>();
  check_all<std::uint32_t>();
  check_all<std::int64_t>();
  check_all<std::uint64_t>();
}

template <class T>
void check_bytes() {
  std::vector<T> all(256);
  for (int i = 0; i < 256; ++i) all[std::size_t(i)] = T(i);
  for (OpId op : {OpId::FloorDivide, OpId::Remainder, OpId::Fmod})
    for (T by : all) check<T>(op, all, {by}, true);
}
TEST_CASE("every byte is divided by every byte") {
  check_bytes<std::int8_t>();
  check_bytes<std::uint8_t>();
}

TEST_CASE("floats are divided as NumPy divides them") {
  check_all<float>();
  check_all<double>();
}
