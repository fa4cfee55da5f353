// NumPy's file format, versions 1 to 3 (numpy.lib.format): a header that is a Python dictionary of
// dtype, order and shape, then the elements.
#include "npy.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "core/array_memory.hpp"
#include "core/shape_limits.hpp"

namespace plait::detail {

namespace {

constexpr char kMagic[] = "\x93NUMPY";
constexpr std::size_t kMagicSize = 6;
constexpr std::size_t kAlignment = 64;      // of the elements in the file
constexpr std::size_t kMaxHeader = 10'000;  // NumPy's own bound

// "f8" and the like: NumPy's kind and size of each dtype. Those of ml_dtypes are raw bytes to it,
// but for one.
std::string type_code(DType t) {
  if (t == DType::Float8E5M2) return "f1";
  if (is_narrow(t)) return "V" + std::to_string(itemsize(t));
  constexpr const char* codes[] = {"b1", "i1", "u1", "i2", "u2", "i4", "u4",
                                   "i8", "u8", "f2", "f4", "f8", "c8", "c16"};
  return codes[static_cast<int>(t)];
}

struct Header {
  DType dtype = DType::Float64;
  bool swapped = false;  // of the other byte order
  bool fortran = false;
  Dims shape;
};

// Reads what stands behind `'key':` in the dictionary.
class HeaderReader {
 public:
  // `wanted`: what elements are taken for of which the file does not say what they are.
  HeaderReader(std::string text, const std::string& path, std::optional<DType> wanted = {})
      : text_(std::move(text)), path_(path), wanted_(wanted) {}

  Header read() {
    Header h;
    read_type(value_of("descr"), h);
    const char* order = value_of("fortran_order");
    h.fortran = std::strncmp(order, "True", 4) == 0;
    if (!h.fortran && std::strncmp(order, "False", 5) != 0) fail("fortran_order is no bool");
    read_shape(value_of("shape"), h);
    return h;
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw ValueError("load_npy: '" + path_ + "' is not a valid .npy file: " + what);
  }

 private:
  const char* value_of(const char* key) const {
    for (const char quote : {'\'', '"'}) {
      const std::size_t at = text_.find(quote + std::string(key) + quote);
      if (at == std::string::npos) continue;
      const std::size_t colon = text_.find(':', at);
      const std::size_t value = text_.find_first_not_of(" :", colon);
      if (colon != std::string::npos && value != std::string::npos) return text_.c_str() + value;
    }
    fail(std::string("its header has no ") + key);
  }

  void read_type(const char* at, Header& h) const {
    if (*at == '[')
      throw DTypeError("load_npy: '" + path_ +
                       "' holds records of several fields, which Plait's arrays do not have");
    const std::string descr = *at == '\'' || *at == '"'
                                  ? std::string(at + 1, std::strcspn(at + 1, "'\""))
                                  : std::string(at, std::strcspn(at, "}"));
    const bool ordered = !descr.empty() && std::strchr("<>|=", descr[0]);
    const std::string code = ordered ? descr.substr(1) : descr;
    for (int i = 0; i < kDTypeCount; ++i) {
      const auto t = static_cast<DType>(i);
      if (code != type_code(t) || (is_narrow(t) && t != wanted_)) continue;
      h.dtype = t;
      const char other = std::endian::native == std::endian::little ? '>' : '<';
      h.swapped = ordered && descr[0] == other;
      return;
    }
    if (code == "V1" || code == "V2" || code == "f1")
      throw DTypeError("load_npy: '" + path_ + "' holds elements of type " + descr +
                       ", of which NumPy's format does not say what they are: name their type, as "
                       "load_npy<plait::bfloat16>() does");
    throw DTypeError("load_npy: '" + path_ + "' holds elements of type " + descr +
                     ", which Plait's arrays do not have");
  }

  void read_shape(const char* at, Header& h) const {
    if (*at++ != '(') fail("shape is no tuple");
    const char* const end = text_.c_str() + text_.size();
    for (;;) {
      while (*at == ' ' || *at == ',') ++at;
      if (*at == ')') return;
      std::int64_t extent = 0;
      const auto [next, error] = std::from_chars(at, end, extent);
      if (error != std::errc{} || extent < 0 || h.shape.size() == kMaxDims) fail("its shape");
      h.shape.push_back(extent);
      at = next;
    }
  }

  std::string text_;
  const std::string& path_;
  std::optional<DType> wanted_;
};

Header read_header(std::FILE* f, const std::string& path, std::optional<DType> wanted) {
  const HeaderReader broken("", path);
  unsigned char start[kMagicSize + 2], length[4] = {};
  if (std::fread(start, 1, sizeof start, f) != sizeof start ||
      std::memcmp(start, kMagic, kMagicSize) != 0)
    broken.fail("it does not begin with \\x93NUMPY");
  const int version = start[kMagicSize];
  if (version < 1 || version > 3) broken.fail("version " + std::to_string(version));
  const std::size_t digits = version == 1 ? 2 : 4;
  if (std::fread(length, 1, digits, f) != digits) broken.fail("it ends in the header");
  const std::size_t n =
      length[0] | length[1] << 8 | length[2] << 16 | static_cast<std::size_t>(length[3]) << 24;
  if (n > kMaxHeader) broken.fail("a header of " + std::to_string(n) + " bytes");
  std::string text(n, '\0');
  if (std::fread(text.data(), 1, n, f) != n) broken.fail("it ends in the header");
  return HeaderReader(std::move(text), path, wanted).read();
}

void swap_bytes(std::byte* at, std::size_t bytes, DType t) {
  const std::size_t unit = is_complex(t) ? itemsize(t) / 2 : itemsize(t);
  for (std::byte* end = at + bytes; at != end; at += unit) std::reverse(at, at + unit);
}

}  // namespace

File open(const char* function, const std::string& path, const char* mode) {
  File f(std::fopen(path.c_str(), mode));
  if (!f) fail_by_errno(function, path);
  return f;
}
void fail_by_errno(const char* function, const std::string& path) {
  throw Error(std::string(function) + ": '" + path + "': " + std::strerror(errno));
}

Handle load_npy(const std::string& path, const dtype* wanted) {
  const File f = open("load_npy", path, "rb");
  return read_npy(f.get(), path, wanted);
}
Handle read_npy(std::FILE* f, const std::string& path, const dtype* wanted) {
  start();
  const Header h = read_header(f, path, wanted ? std::optional(core(*wanted)) : std::nullopt);
  Dims shape = h.shape;
  if (h.fortran) std::reverse(shape.begin(), shape.end());
  const auto unit = static_cast<std::int64_t>(itemsize(h.dtype));
  const dtype t = wanted ? *wanted : outer(h.dtype);
  if (!can_cast_safely(outer(h.dtype), t))
    throw DTypeError("load_npy: '" + path + "' holds " + std::string(name(h.dtype)) +
                     ", of which " + std::string(name(core(t))) +
                     " does not keep every value: load it as that and take astype()");
  check_shape(shape, unit);
  const OnHost host;
  Ref<Buffer> memory = allocate_array(shape, h.dtype);
  const std::size_t there = std::fread(memory->data, 1, memory->bytes, f);
  if (there != memory->bytes)
    HeaderReader("", path).fail("it holds " + std::to_string(there) + " of " +
                                std::to_string(memory->bytes) + " bytes of elements");
  if (h.swapped) swap_bytes(memory->data, memory->bytes, h.dtype);
  tracer::Array a =
      tracer::from_buffer(std::move(memory), h.dtype, shape, contiguous_strides(shape, unit), 0);
  if (h.dtype == DType::Bool) tracer::take_any_bytes(a);
  if (h.fortran) a = tracer::transpose(a);
  return host.placed(wrap(h.dtype == core(t) ? a : tracer::astype(a, core(t))));
}

NpyContent npy_content(const Handle& a) {
  const tracer::Array& array = unwrap(a);
  const bool fortran = !tracer::is_c_contiguous(array) && tracer::is_f_contiguous(array);
  const Handle memory = fortran || tracer::is_c_contiguous(array) ? a : copy(a);
  const char order = std::endian::native == std::endian::little ? '<' : '>';
  std::string shape;
  for (const std::int64_t n : array.shape) shape += std::to_string(n) + ", ";
  if (array.ndim() > 1) shape.resize(shape.size() - 2);
  if (array.ndim() == 1) shape.pop_back();
  std::string header = std::string("{'descr': '") +
                       (itemsize(array.dtype) == 1 && !is_narrow(array.dtype) ? '|' : order) +
                       type_code(array.dtype) +
                       "', 'fortran_order': " + (fortran ? "True" : "False") + ", 'shape': (" +
                       shape + "), }";
  constexpr std::size_t kBefore = kMagicSize + 4;
  while ((kBefore + header.size() + 1) % kAlignment != 0) header += ' ';
  header += '\n';
  const std::string start = std::string(kMagic, kMagicSize) + '\1' + '\0' +
                            static_cast<char>(header.size() & 0xff) +
                            static_cast<char>(header.size() >> 8);
  return {start + header, memory, data(memory),
          static_cast<std::size_t>(array.size()) * itemsize(array.dtype)};
}

void dump_npy(const std::string& path, const Handle& a) {
  const NpyContent c = npy_content(a);  // before the file is touched
  File f = open("dump_npy", path, "wb");
  const bool written =
      std::fwrite(c.header.data(), 1, c.header.size(), f.get()) == c.header.size() &&
      std::fwrite(c.elements, 1, c.bytes, f.get()) == c.bytes;
  if (std::fclose(f.release()) != 0 || !written) fail_by_errno("dump_npy", path);
}

}  // namespace plait::detail
