// Text of arrays as NumPy's str() has it: one format for all elements that are shown, long axes
// abbreviated, lines of limited width.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <ios>
#include <limits>
#include <mutex>
#include <ostream>
#include <vector>

#include "box.hpp"
#include "plait/print.hpp"

namespace plait::detail {

namespace {

// How numbers are written: as the options say, or, asked for by a stream, each with as many digits.
enum class Notation : std::uint8_t { Chosen, Fixed, Scientific };
struct Format {
  print_options options;
  Notation notation = Notation::Chosen;
  bool whole = true;      // a scalar has all its digits
  std::size_t width = 0;  // of an element, at least
};

template <class F>
std::string digits(F v, std::chars_format format, int precision) {
  char text[512];
  const auto end = precision < 0
                       ? std::to_chars(text, text + sizeof text, v, format).ptr
                       : std::to_chars(text, text + sizeof text, v, format, precision).ptr;
  return std::string(text, end);
}
// What stands before the point, behind it, and the exponent.
struct Parts {
  std::string whole, fraction, exponent;
};
Parts split(const std::string& text) {
  const std::size_t e = std::min(text.find('e'), text.size());
  const std::size_t point = std::min(text.find('.'), e);
  Parts p{text.substr(0, point), {}, text.substr(e)};
  if (point < e) p.fraction = text.substr(point + 1, e - point - 1);
  return p;
}
void drop_zeros(std::string& fraction) { fraction.resize(fraction.find_last_not_of('0') + 1); }
// The shortest digits that read back as the value, rounded where they are more than the precision.
template <class F>
Parts parts(F v, std::chars_format format, int precision) {
  Parts p = split(digits(v, format, -1));
  if (p.fraction.size() > static_cast<std::size_t>(precision))
    p = split(digits(v, format, precision));
  drop_zeros(p.fraction);
  return p;
}

// A scalar's own text, with all its digits.
template <class F>
std::string scalar_text(F v) {
  if (std::isnan(v)) return "nan";
  if (std::isinf(v)) return v < 0 ? "-inf" : "inf";
  const F size = std::fabs(v);
  const bool fixed = size == 0 || (size >= F(1e-4) && size < F(1e16));
  std::string s = digits(v, fixed ? std::chars_format::fixed : std::chars_format::scientific, -1);
  if (fixed && s.find('.') == std::string::npos) s += ".0";
  return s;
}

template <class F>
std::string complex_text(std::complex<F> z) {
  const auto part = [](F v) {
    std::string s = scalar_text(v);
    if (s.size() > 2 && s.compare(s.size() - 2, 2, ".0") == 0) s.resize(s.size() - 2);
    return s;
  };
  std::string imaginary = part(z.imag()) + 'j';
  if (z.real() == 0 && !std::signbit(z.real())) return imaginary;
  return '(' + part(z.real()) + (imaginary[0] == '-' ? "" : "+") + imaginary + ')';
}

// One format for many values (NumPy's FloatingFormat).
template <class F>
class FloatFormat {
 public:
  FloatFormat(const std::vector<F>& values, const Format& format, bool plus)
      : plus_(plus),
        exact_(format.notation != Notation::Chosen),
        precision_(std::min(format.options.precision, kMostDigits)) {
    F most = 0, least = std::numeric_limits<F>::infinity();
    for (const F v : values)
      if (std::isfinite(v) && v != 0) {
        most = std::max(most, std::fabs(v));
        least = std::min(least, std::fabs(v));
      }
    const F many = std::numeric_limits<F>::digits10 < 8 ? F(1e6) : F(1e8);
    const bool far_apart = !format.options.suppress && (least < F(1e-4) || most / least > F(1000));
    scientific_ = format.notation == Notation::Scientific ||
                  (!exact_ && most > 0 && (most >= many || far_apart));
    for (const F v : values)
      if (std::isfinite(v)) {
        const Parts p = parts_of(v);
        left_ = std::max(left_, p.whole.size());
        right_ = std::max(right_, p.fraction.size());
        exponent_ = std::max(exponent_, p.exponent.size());
      }
    for (const F v : values)
      if (!std::isfinite(v)) {
        const std::size_t n = special(v).size(), behind = right_ + exponent_ + 1;
        left_ = std::max(left_, n > behind ? n - behind : 0);
      }
  }
  std::string operator()(F v) const {
    if (!std::isfinite(v)) return padded(special(v), left_ + right_ + exponent_ + 1);
    Parts p = parts_of(v);
    p.fraction.resize(right_, scientific_ ? '0' : ' ');
    if (!p.exponent.empty()) p.exponent.insert(2, exponent_ - p.exponent.size(), '0');
    return padded(p.whole, left_) + '.' + p.fraction + p.exponent;
  }

 private:
  static std::string padded(const std::string& s, std::size_t n) {
    return s.size() < n ? std::string(n - s.size(), ' ') + s : s;
  }
  std::string special(F v) const {
    if (std::isnan(v)) return plus_ ? "+nan" : "nan";
    return v < 0 ? "-inf" : plus_ ? "+inf" : "inf";
  }
  Parts parts_of(F v) const {
    const auto format = scientific_ ? std::chars_format::scientific : std::chars_format::fixed;
    Parts p = exact_ ? split(digits(v, format, precision_)) : parts(v, format, precision_);
    if (plus_ && p.whole[0] != '-') p.whole.insert(p.whole.begin(), '+');
    return p;
  }

  static constexpr int kMostDigits = 150;
  bool plus_, exact_, scientific_ = false;
  int precision_;
  std::size_t left_ = 0, right_ = 0, exponent_ = 0;
};

template <class F>
std::vector<std::string> texts(const std::vector<F>& values, const Format& f, bool plus = false) {
  const FloatFormat<F> format(values, f, plus);
  std::vector<std::string> out;
  for (const F v : values) out.push_back(format(v));
  return out;
}
template <class F>
std::vector<std::string> complex_texts(const std::vector<Value>& values, const Format& f) {
  std::vector<F> re, im;
  for (const Value& v : values) {
    re.push_back(v.as<std::complex<F>>().real());
    im.push_back(v.as<std::complex<F>>().imag());
  }
  std::vector<std::string> out = texts(re, f);
  const std::vector<std::string> behind = texts(im, f, true);
  for (std::size_t i = 0; i < out.size(); ++i) {
    std::string s = behind[i];
    s.insert(s.find_last_not_of(' ') + 1, "j");
    out[i] += s;
  }
  return out;
}
template <class T, class F>
std::vector<F> as(const std::vector<Value>& values) {
  std::vector<F> out;
  for (const Value& v : values) out.push_back(static_cast<F>(v.as<T>()));
  return out;
}

// As ml_dtypes writes its numbers: six digits.
std::string narrow_text(const Value& v) {
  if (is_integer(v.type))
    return std::to_string(cast(to_scalar(v), DType::Int64).as<std::int64_t>());
  const auto number = cast(to_scalar(v), DType::Float32).as<float>();
  return std::isnan(number) ? "nan" : digits(number, std::chars_format::general, 6);
}

// All of one width, but for those of ml_dtypes, which NumPy writes as they are.
std::vector<std::string> texts_of(const std::vector<Value>& values, dtype t, const Format& f) {
  if (t == dtype::float16) return texts(as<float16, float>(values), f);
  if (t == dtype::float32) return texts(as<float, float>(values), f);
  if (t == dtype::float64) return texts(as<double, double>(values), f);
  if (t == dtype::complex64) return complex_texts<float>(values, f);
  if (t == dtype::complex128) return complex_texts<double>(values, f);
  std::vector<std::string> out;
  if (is_narrow(t)) {
    for (const Value& v : values) out.push_back(narrow_text(v));
    return out;
  }
  std::size_t width = t == dtype::bool_ ? 5 : 0;
  for (const Value& v : values) {
    out.push_back(t == dtype::bool_ ? (v.as<bool>() ? "True" : "False")
                  : t == dtype::uint64
                      ? std::to_string(v.as<std::uint64_t>())
                      : std::to_string(cast(to_scalar(v), DType::Int64).as<std::int64_t>()));
    width = std::max(width, out.back().size());
  }
  for (std::string& s : out) s.insert(0, width - s.size(), ' ');
  return out;
}

std::string text_of(const Value& v, const Format& f) {
  if (!f.whole) return texts_of({v}, v.type, f)[0];
  switch (v.type) {
    case dtype::bool_:
      return v.as<bool>() ? "True" : "False";
    case dtype::float16:
      return scalar_text(static_cast<float>(v.as<float16>()));
    case dtype::float32:
      return scalar_text(v.as<float>());
    case dtype::float64:
      return scalar_text(v.as<double>());
    case dtype::complex64:
      return complex_text(v.as<std::complex<float>>());
    case dtype::complex128:
      return complex_text(v.as<std::complex<double>>());
    default:
      return texts_of({v}, v.type, f)[0];
  }
}

class Printer {
 public:
  Printer(const Handle& a, const Format& format)
      : array_(a),
        shape_(unwrap(a).shape),
        format_(format),
        edge_(format.options.edgeitems),
        abbreviate_(size_of(a) > format.options.threshold) {}
  std::string text() {
    if (shape_.size() == 0) return padded(text_of(item(array_, nullptr, 0), format_));
    if (size_of(array_) == 0) return "[]";
    index_.resize(static_cast<std::size_t>(shape_.size()));
    collect(0);
    words_ = texts_of(values_, dtype_of(array_), format_);
    write(0);
    return std::move(out_);
  }

 private:
  std::string padded(std::string word) const {
    if (word.size() < format_.width) word.insert(0, format_.width - word.size(), ' ');
    return word;
  }
  // Calls item(i) for each index of the axis that is shown, and gap() where others are left out.
  template <class Item, class Gap>
  void shown(int axis, Item item, Gap gap) {
    const std::int64_t n = shape_[axis];
    for (std::int64_t i = 0; i < n; ++i) {
      if (abbreviate_ && n > 2 * edge_ && i == edge_) {
        gap();
        i = n - edge_;
        if (i == n) return;
      }
      index_[static_cast<std::size_t>(axis)] = i;
      item(i);
    }
  }
  void collect(int axis) {
    shown(
        axis,
        [&](std::int64_t) {
          if (axis + 1 < shape_.size())
            collect(axis + 1);
          else
            values_.push_back(item(array_, index_.data(), shape_.size()));
        },
        [] {});
  }
  void write(int axis) {
    const int below = shape_.size() - 1 - axis;
    const std::string indent(static_cast<std::size_t>(axis) + 1, ' ');
    out_ += '[';
    if (below == 0) {
      std::string line = indent;
      const auto line_width =
          static_cast<std::size_t>(std::max(format_.options.linewidth, axis + 2));
      const std::size_t width = line_width - static_cast<std::size_t>(axis) - 1;
      std::string lines;
      const auto add = [&](const std::string& word) {
        if (line.size() + word.size() > width && line.size() > indent.size()) {
          line.resize(line.find_last_not_of(' ') + 1);
          lines += line + '\n';
          line = indent;
        }
        line += word + ' ';
      };
      shown(axis, [&](std::int64_t) { add(padded(words_[next_++])); }, [&] { add("..."); });
      line.pop_back();
      lines += line;
      out_ += lines.substr(indent.size());
    } else {
      const std::string between = std::string(static_cast<std::size_t>(below), '\n') + indent;
      shown(
          axis,
          [&](std::int64_t i) {
            if (i) out_ += between;
            write(axis + 1);
          },
          [&] { out_ += between + "..."; });
    }
    out_ += ']';
  }

  const Handle& array_;
  const Dims shape_;
  const Format format_;
  const std::int64_t edge_;
  const bool abbreviate_;
  std::vector<std::int64_t> index_;
  std::vector<Value> values_;
  std::vector<std::string> words_;
  std::size_t next_ = 0;
  std::string out_;
};

}  // namespace

std::string to_text(const Handle& a, const print_options& options) {
  return Printer(a, {options}).text();
}

void write(std::ostream& out, const Handle& a) {
  constexpr std::streamsize kInitial = 6;
  const std::ios_base::fmtflags notation = out.flags() & std::ios_base::floatfield;
  Format f{get_printoptions()};
  if (notation == std::ios_base::fixed) f.notation = Notation::Fixed;
  if (notation == std::ios_base::scientific) f.notation = Notation::Scientific;
  f.whole = f.notation == Notation::Chosen && out.precision() == kInitial;
  if (!f.whole) f.options.precision = static_cast<int>(out.precision());
  f.width = static_cast<std::size_t>(out.width(0));
  out << Printer(a, f).text();
}

namespace {
std::mutex options_mutex;
print_options options_now;
}  // namespace

}  // namespace plait::detail

namespace plait {

void set_printoptions(const print_options& options) {
  if (options.precision < 0 || options.threshold < 0 || options.edgeitems < 0 ||
      options.linewidth < 0)
    throw ValueError("set_printoptions: the numbers cannot be negative");
  const std::lock_guard held(detail::options_mutex);
  detail::options_now = options;
}
print_options get_printoptions() {
  const std::lock_guard held(detail::options_mutex);
  return detail::options_now;
}
std::string to_string(const shape_type& shape) {
  return to_string(Dims(shape.data(), shape.data() + shape.size()));
}
std::ostream& operator<<(std::ostream& out, dtype t) { return out << to_string(t); }

}  // namespace plait
