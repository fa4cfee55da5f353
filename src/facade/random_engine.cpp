// An engine's state, and numbers of one law.
#include <algorithm>

#include "numpy_compat/random_fill.hpp"
#include "random_parameters.hpp"
#include "random_stream.hpp"

namespace plait::random {

engine::engine() : stream_(new stream(numpy::SeedSequence::of_chance())) {}
engine::engine(std::uint64_t seed) : engine(std::vector<std::uint64_t>{seed}) {}
engine::engine(const std::vector<std::uint64_t>& seed)
    : stream_(new stream(numpy::SeedSequence(seed))) {}
engine::~engine() { delete stream_; }
engine::stream& engine::own() const {
  if (!stream_) detail::throw_moved_from();
  return *stream_;
}

std::vector<engine> engine::spawn(std::int64_t n) {
  if (n < 0) throw ValueError("spawn: n_children must be non-negative");
  std::vector<engine> children;
  for (numpy::SeedSequence& s : own().seeds.spawn(n)) {
    children.emplace_back(0);
    *children.back().stream_ = stream(std::move(s));
  }
  return children;
}
engine engine::jumped(std::int64_t jumps) const {
  constexpr numpy::Wide kJump =
      numpy::Wide{0x9e3779b97f4a7c15} << 64 | numpy::Wide{0xf39cc0605cedc835};
  engine ahead;
  numpy::Pcg64 g = own().own().generator;
  g.advance(kJump * static_cast<numpy::Wide>(jumps));
  ahead.stream_->own() = {g};
  return ahead;
}
void engine::advance(std::uint64_t draws) {
  Stream::State& s = own().own();
  s.generator.advance(draws);
  s = {s.generator};
}
engine_state engine::state() const {
  const Stream::State& s = own().own();
  const numpy::Wide state = s.generator.state(), increment = s.generator.increment();
  return {static_cast<std::uint64_t>(state >> 64),
          static_cast<std::uint64_t>(state),
          static_cast<std::uint64_t>(increment >> 64),
          static_cast<std::uint64_t>(increment),
          s.has_half,
          s.half};
}
engine engine::from_state(const engine_state& s) {
  engine made;
  const auto wide = [](std::uint64_t high, std::uint64_t low) {
    return numpy::Wide{high} << 64 | low;
  };
  made.stream_->own() = {numpy::Pcg64(wide(s.high, s.low), wide(s.increment_high, s.increment_low)),
                         s.has_uint32, s.uinteger};
  return made;
}

detail::Handle engine::draw_standard(law l, const extents& shape, dtype t) {
  stream& s = own();
  const auto fill = [&](auto* out, std::int64_t n) {
    l == law::uniform  ? numpy::fill_uniform(s, out, n)
    : l == law::normal ? numpy::fill_normal(s, out, n)
                       : numpy::fill_exponential(s, out, n);
  };
  return t == dtype::float32 ? made<float>(shape, fill) : made<double>(shape, fill);
}

detail::Handle engine::draw(law l, const extents* shape, const parameter& a, const parameter& b,
                            const parameter& c) {
  const Law& law_of = kLaws[static_cast<int>(l)];
  stream& s = own();
  const Source source{s, s.binomial};
  return detail::named(law_of.name, [&] {
    const parameter* const given[] = {&a, &b, &c};
    Parameters p(law_of.parameter, given, law_of.parameters, shape);
    const extents to(p.shape());
    const std::int64_t n = count_of(to);
    if (law_of.check)
      for (std::int64_t i = 0; i < (p.has_arrays() ? n : 1); ++i) law_of.check(p[i]);
    if (!p.has_arrays()) {
      const Number* const v = p[0];
      if (l == law::uniform)
        return made<double>(to, [&](double* out, std::int64_t size) {
          numpy::fill_uniform(s, out, size, {v[0].real, v[1].real - v[0].real});
        });
      if (l == law::normal)
        return made<double>(to, [&](double* out, std::int64_t size) {
          numpy::fill_normal(s, out, size, {v[0].real, v[1].real});
        });
      if (l == law::exponential)
        return made<double>(to, [&](double* out, std::int64_t size) {
          numpy::fill_exponential(s, out, size, {-0.0, v[0].real});
        });
    }
    if (law_of.real)
      return filled<double>(to, [&](std::int64_t i) { return law_of.real(source, p[i]); });
    return filled<std::int64_t>(to, [&](std::int64_t i) { return law_of.whole(source, p[i]); });
  });
}

detail::Handle engine::draw_gamma_float(const parameter& k, const extents* shape) {
  return detail::named("standard_gamma", [&] {
    const Parameter kind{"shape", Rule::not_negative};
    const parameter* const given[] = {&k};
    Parameters p(&kind, given, 1, shape);
    return filled<float>(p.shape(), [&](std::int64_t i) {
      return numpy::standard_gamma_float(own(), static_cast<float>(p[i]->real));
    });
  });
}

detail::Handle engine::draw_integers(const parameter& low, const parameter& high,
                                     const extents* shape, bool endpoint, dtype t) {
  return detail::named("integers", [&] {
    stream& s = own();
    const Parameter kinds[] = {{"low", Rule::any, true}, {"high", Rule::any, true}};
    const parameter* const given[] = {&low, &high};
    Parameters p(kinds, given, 2, shape);
    const extents to(p.shape());
    const std::int64_t n = count_of(to);
    for (std::int64_t i = 0; i < (p.has_arrays() ? n : 1); ++i)
      detail::check_integers(p[i][0].whole, p[i][1].whole, endpoint, t);
    const auto first = [&](const Number* v) { return static_cast<std::uint64_t>(v[0].whole); };
    const auto most = [&](const Number* v) {
      return static_cast<std::uint64_t>(v[1].whole) - first(v) - (endpoint ? 0 : 1);
    };
    numpy::NarrowIntegers narrow(s, t == dtype::bool_ ? 1 : std::min(detail::bits_of(t), 16));
    const auto parts = [&](auto element) {
      using T = decltype(element);
      return filled<T>(to, [&](std::int64_t i) {
        const Number* const v = p[i];
        return static_cast<T>(first(v) + narrow.below_or_at(static_cast<std::uint32_t>(most(v))));
      });
    };
    const auto wide = [&](auto element) {
      using T = decltype(element);
      if (p.has_arrays())
        return filled<T>(to, [&](std::int64_t i) {
          const Number* const v = p[i];
          return static_cast<T>(first(v) + s.below_or_at(most(v)));
        });
      return made<T>(to, [&](T* out, std::int64_t size) {
        numpy::fill_integers(s, out, size, first(p[0]), most(p[0]));
      });
    };
    switch (t) {
      case dtype::bool_:
        return parts(bool());
      case dtype::int8:
        return parts(std::int8_t());
      case dtype::uint8:
        return parts(std::uint8_t());
      case dtype::int16:
        return parts(std::int16_t());
      case dtype::uint16:
        return parts(std::uint16_t());
      case dtype::int32:
        return wide(std::int32_t());
      case dtype::uint32:
        return wide(std::uint32_t());
      case dtype::int64:
        return wide(std::int64_t());
      case dtype::uint64:
        return wide(std::uint64_t());
      default:
        return detail::astype(parts(std::int8_t()), t);  // of fewer bits: NumPy has none
    }
  });
}

detail::Handle engine::drawn_bytes(std::int64_t n) {
  require(n >= 0, "bytes: negative dimensions are not allowed");
  stream& s = own();
  std::uint32_t word = 0;
  return filled<std::uint8_t>(n, [&](std::int64_t i) {
    word = i % 4 == 0 ? s.half() : word >> 8;
    return static_cast<std::uint8_t>(word);
  });
}

}  // namespace plait::random
