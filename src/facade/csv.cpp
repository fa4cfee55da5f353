// Tables as text: rows of numbers, one a line.
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "box.hpp"
#include "plait/memory.hpp"

namespace plait::detail {

namespace {

[[noreturn]] void fail(const std::string& path, std::int64_t line, const std::string& what) {
  throw ValueError("load_csv: '" + path + "', line " + std::to_string(line) + ": " + what);
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r";
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

// Numbers of T in memory, those of all rows one after the other.
template <class T>
Handle read(const std::string& path, char delimiter, std::int64_t skip) {
  std::ifstream in(path);
  if (!in) throw Error("load_csv: '" + path + "': " + std::strerror(errno));
  std::vector<T> values;
  std::int64_t rows = 0, columns = 0, line = 0;
  for (std::string text; std::getline(in, text);) {
    if (++line <= skip || trimmed(text).empty()) continue;
    std::int64_t found = 0;
    for (std::size_t at = 0; at <= text.size(); ++found) {
      const std::size_t end = std::min(text.find(delimiter, at), text.size());
      std::string_view cell = trimmed(std::string_view(text).substr(at, end - at));
      if (cell.size() > 1 && cell[0] == '+') cell.remove_prefix(1);
      T value{};
      const auto [rest, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
      if (error != std::errc{} || rest != cell.data() + cell.size())
        fail(path, line, "'" + std::string(cell) + "' is no number of the element type");
      values.push_back(value);
      at = end + 1;
    }
    if (rows++ == 0) columns = found;
    if (found != columns)
      fail(path, line,
           std::to_string(found) + " columns, where the first row has " + std::to_string(columns));
  }
  const std::int64_t shape[] = {rows, columns};
  return from_values(values.data(), {shape, 2}, dtype_of_v<T>);
}

}  // namespace

Handle load_csv(const std::string& path, dtype t, char delimiter, std::int64_t skip) {
  switch (kind_of(t)) {
    case detail::kind::signed_int:
      return astype(read<std::int64_t>(path, delimiter, skip), t);
    case detail::kind::unsigned_int:
      return astype(read<std::uint64_t>(path, delimiter, skip), t);
    case detail::kind::floating:
      return astype(read<double>(path, delimiter, skip), t);
    default:
      throw DTypeError("load_csv reads integers and floating-point numbers");
  }
}

void dump_csv(const std::string& path, const Handle& a, char delimiter) {
  const tracer::Array& array = unwrap(a);
  if (array.ndim() < 1 || array.ndim() > 2)
    throw ValueError("dump_csv: takes one or two dimensions, not " + std::to_string(array.ndim()));
  if (is_complex(array.dtype)) throw DTypeError("dump_csv: writes real numbers");
  const DType wide = is_float(array.dtype)                        ? DType::Float64
                     : plait::kind(array.dtype) == Kind::Unsigned ? DType::UInt64
                                                                  : DType::Int64;
  const Handle converted = astype(a, outer(wide)), rows = copy(converted);
  const void* elements = data(rows);  // before the file is touched
  const std::int64_t columns = array.ndim() == 1 ? 1 : array.shape[1];
  std::string text;
  const auto write = [&](auto* values) {
    char cell[32];
    for (std::int64_t i = 0; i < array.size(); ++i) {
      text.append(cell, std::to_chars(cell, cell + sizeof cell, values[i]).ptr);
      text += (i + 1) % columns == 0 ? '\n' : delimiter;
    }
  };
  if (wide == DType::Float64)
    write(static_cast<const double*>(elements));
  else if (wide == DType::UInt64)
    write(static_cast<const std::uint64_t*>(elements));
  else
    write(static_cast<const std::int64_t*>(elements));
  std::ofstream out(path, std::ios::binary);
  if (!out || !out.write(text.data(), static_cast<std::streamsize>(text.size())) || !out.flush())
    throw Error("dump_csv: '" + path + "': " + std::strerror(errno));
}

}  // namespace plait::detail
