// Text of arrays in the manner of NumPy's str(): aligned columns, long axes abbreviated.
#include <charconv>
#include <cmath>
#include <ostream>
#include <vector>

#include "box.hpp"
#include "plait/io.hpp"

namespace plait::detail {

namespace {

constexpr std::int64_t kEdge = 3;           // items shown at each end of an abbreviated axis
constexpr std::int64_t kAbbreviate = 1000;  // elements from which axes are abbreviated

// The shortest text that reads back as the value, at most 8 digits behind the point.
template <class F>
std::string float_text(F v) {
  if (std::isnan(v)) return "nan";
  if (std::isinf(v)) return v < 0 ? "-inf" : "inf";
  const F size = std::fabs(v);
  const bool fixed = size == 0 || (size >= F(1e-4) && size < F(1e16));
  char text[64];
  const auto format = fixed ? std::chars_format::fixed : std::chars_format::scientific;
  std::string out(text, std::to_chars(text, text + sizeof text, v, format).ptr);
  const std::size_t point = out.find('.');
  if (!fixed) return out;
  if (point == std::string::npos) return out + '.';
  if (out.size() - point <= 9) return out;
  out.assign(text, std::to_chars(text, text + sizeof text, v, format, 8).ptr);
  return out.substr(0, out.find_last_not_of('0') + 1);
}

std::string text_of(const Value& v) {
  switch (v.type) {
    case dtype::bool_:
      return v.as<bool>() ? "True" : "False";
    case dtype::uint64:
      return std::to_string(v.as<std::uint64_t>());
    case dtype::float16:
      return float_text(static_cast<float>(v.as<float16>()));
    case dtype::float32:
      return float_text(v.as<float>());
    case dtype::float64:
      return float_text(v.as<double>());
    case dtype::complex64:
    case dtype::complex128: {
      const auto z = cast(to_scalar(v), DType::Complex128).as<std::complex<double>>();
      const std::string imaginary = float_text(z.imag());
      return float_text(z.real()) + (imaginary[0] == '-' ? "" : "+") + imaginary + "j";
    }
    default:
      return std::to_string(cast(to_scalar(v), DType::Int64).as<std::int64_t>());
  }
}

class Printer {
 public:
  explicit Printer(const Handle& a)
      : array_(a), shape_(unwrap(a).shape), abbreviate_(size_of(a) > kAbbreviate) {}
  std::string text() {
    index_.resize(static_cast<std::size_t>(shape_.size()));
    visit(0, [this](const std::string& s) { width_ = std::max(width_, s.size()); });
    visit(0, nullptr);
    return std::move(out_);
  }

 private:
  template <class Measure>
  void visit(int axis, Measure measure) {
    constexpr bool writing = std::is_null_pointer_v<Measure>;
    if (axis == shape_.size()) {
      const std::string s = text_of(item(array_, index_.data(), static_cast<int>(index_.size())));
      if constexpr (writing)
        out_.append(width_ - s.size(), ' ') += s;
      else
        measure(s);
      return;
    }
    const std::int64_t n = shape_[axis];
    if constexpr (writing) out_ += '[';
    for (std::int64_t i = 0; i < n; ++i) {
      if constexpr (writing)
        if (i) separate(axis);
      if (abbreviate_ && n > 2 * kEdge && i == kEdge) {
        if constexpr (writing) {
          out_ += "...";
          separate(axis);
        }
        i = n - kEdge;
      }
      index_[static_cast<std::size_t>(axis)] = i;
      visit(axis + 1, measure);
    }
    if constexpr (writing) out_ += ']';
  }
  void separate(int axis) {
    const int below = shape_.size() - 1 - axis;
    if (below == 0) {
      out_ += ' ';
      return;
    }
    out_.append(static_cast<std::size_t>(below), '\n');
    out_.append(static_cast<std::size_t>(axis + 1), ' ');
  }

  const Handle& array_;
  const Dims shape_;
  const bool abbreviate_;
  std::vector<std::int64_t> index_;
  std::size_t width_ = 0;
  std::string out_;
};

}  // namespace

std::string to_text(const Handle& a) { return Printer(a).text(); }
void write(std::ostream& out, const Handle& a) { out << to_text(a); }

}  // namespace plait::detail
