// .npz files: ZIP archives of .npy files, which are stored as they are. What is written has the
// 64-bit fields of ZIP everywhere, as numpy.savez has it.
#include "plait/npz.hpp"

#include <array>
#include <cstdint>

#include "npy.hpp"

namespace plait {

const any_array& named_arrays::at(const std::string& name) const {
  for (const auto& [other, a] : *this)
    if (other == name) return a;
  throw ValueError("load_npz: '" + name + "' is not a file in the archive");
}

namespace detail {

namespace {

constexpr std::uint32_t kLocal = 0x04034b50, kCentral = 0x02014b50, kEnd = 0x06054b50,
                        kEnd64 = 0x06064b50, kLocator64 = 0x07064b50;
constexpr std::size_t kLocalSize = 30, kCentralSize = 46, kEndSize = 22, kEnd64Size = 56,
                      kLocator64Size = 20;
constexpr std::uint16_t kVersion = 45;  // of ZIP, with 64-bit fields
constexpr std::uint16_t kDay = 0x21;    // 1980-01-01, the first day of ZIP
constexpr std::uint16_t kUtf8 = 0x800, kEncrypted = 1;
constexpr std::uint32_t kElsewhere = 0xffffffff;  // in the 64-bit field
constexpr std::uint16_t kExtra64 = 1;
constexpr std::size_t kLongestComment = 0xffff;

// kTables[k][b]: what a byte b that k bytes stand behind does to a CRC-32.
using Tables = std::array<std::array<std::uint32_t, 256>, 8>;
constexpr Tables tables_of_bytes() {
  Tables t{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t c = i;
    for (int bit = 0; bit < 8; ++bit) c = c & 1 ? 0xedb88320 ^ c >> 1 : c >> 1;
    t[0][i] = c;
  }
  for (std::size_t k = 1; k < 8; ++k)
    for (std::size_t i = 0; i < 256; ++i) t[k][i] = t[k - 1][i] >> 8 ^ t[0][t[k - 1][i] & 0xff];
  return t;
}
constexpr Tables kTables = tables_of_bytes();

// CRC-32 of ZIP, eight bytes at a time.
class Crc {
 public:
  void add(const void* data, std::size_t n) {
    const auto* p = static_cast<const unsigned char*>(data);
    for (; n >= 8; n -= 8, p += 8) {
      std::uint32_t next = 0;
      for (std::size_t i = 0; i < 8; ++i)
        next ^= kTables[7 - i][p[i] ^ (i < 4 ? value_ >> (8 * i) & 0xff : 0)];
      value_ = next;
    }
    for (; n > 0; --n) value_ = kTables[0][(value_ ^ *p++) & 0xff] ^ value_ >> 8;
  }
  std::uint32_t value() const { return ~value_; }

 private:
  std::uint32_t value_ = kElsewhere;
};

// Numbers in little-endian order, one behind the other.
struct Fields {
  std::string text;
  template <class T>
  Fields& add(T value) {
    for (std::size_t i = 0; i < sizeof(T); ++i)
      text += static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * i));
    return *this;
  }
};
template <class T>
T number_at(const std::string& text, std::size_t at) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i)
    value |= static_cast<std::uint64_t>(static_cast<unsigned char>(text[at + i])) << (8 * i);
  return static_cast<T>(value);
}

class Writer {
 public:
  explicit Writer(const std::string& path) : path_(path), file_(open("savez", path, "wb")) {}

  void add(const std::string& name, const NpyContent& c) {
    const std::string entry = name + ".npy";
    const std::uint64_t size = c.header.size() + c.bytes, offset = written_;
    Crc crc;
    crc.add(c.header.data(), c.header.size());
    crc.add(c.elements, c.bytes);
    // What stands in both headers, without the 64-bit fields.
    Fields common;
    common.add(kVersion).add(kUtf8).add(std::uint16_t{0}).add(std::uint16_t{0}).add(kDay);
    common.add(crc.value()).add(kElsewhere).add(kElsewhere);
    common.add(static_cast<std::uint16_t>(entry.size()));
    Fields local, sizes;
    sizes.add(size).add(size);
    local.add(kLocal).text += common.text;
    local.add(std::uint16_t{20}).text += entry;
    local.add(kExtra64).add(std::uint16_t{16}).text += sizes.text;
    write(local.text);
    write(c.header);
    write(c.elements, c.bytes);
    directory_.add(kCentral).add(kVersion).text += common.text;
    directory_.add(std::uint16_t{28}).add(std::uint16_t{0}).add(std::uint16_t{0});
    directory_.add(std::uint16_t{0}).add(std::uint32_t{0}).add(kElsewhere).text += entry;
    directory_.add(kExtra64).add(std::uint16_t{24}).text += sizes.text;
    directory_.add(offset);
    ++entries_;
  }
  void finish() {
    const std::uint64_t offset = written_, size = directory_.text.size(), end = offset + size;
    write(directory_.text);
    Fields last;
    last.add(kEnd64).add(std::uint64_t{kEnd64Size - 12}).add(kVersion).add(kVersion);
    last.add(std::uint32_t{0}).add(std::uint32_t{0}).add(entries_).add(entries_);
    last.add(size).add(offset);
    last.add(kLocator64).add(std::uint32_t{0}).add(end).add(std::uint32_t{1});
    last.add(kEnd).add(std::uint32_t{0}).add(std::uint16_t{0xffff}).add(std::uint16_t{0xffff});
    last.add(kElsewhere).add(kElsewhere).add(std::uint16_t{0});
    write(last.text);
    if (std::fclose(file_.release()) != 0) fail_by_errno("savez", path_);
  }

 private:
  void write(const std::string& text) { write(text.data(), text.size()); }
  void write(const void* data, std::size_t n) {
    if (std::fwrite(data, 1, n, file_.get()) != n) fail_by_errno("savez", path_);
    written_ += n;
  }
  const std::string& path_;
  File file_;
  std::uint64_t written_ = 0, entries_ = 0;
  Fields directory_;
};

struct Entry {
  std::string name;
  std::uint64_t size, offset;
  std::uint32_t crc;
};

class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path), file_(open("load_npz", path, "rb")) {
    if (std::fseek(file_.get(), 0, SEEK_END) != 0) fail_by_errno("load_npz", path);
    size_ = static_cast<std::uint64_t>(std::ftell(file_.get()));
    read_directory();
  }

  const std::vector<Entry>& entries() const { return entries_; }

  Handle read(const Entry& e, const dtype* wanted) {
    const std::string local = bytes(e.offset, kLocalSize);
    if (number_at<std::uint32_t>(local, 0) != kLocal) fail("an entry is not where it should be");
    const std::uint64_t start = e.offset + kLocalSize + number_at<std::uint16_t>(local, 26) +
                                number_at<std::uint16_t>(local, 28);
    Crc crc;
    constexpr std::uint64_t kPart = 1 << 16;
    for (std::uint64_t at = 0; at < e.size; at += kPart) {
      const std::string part = bytes(start + at, std::min(kPart, e.size - at));
      crc.add(part.data(), part.size());
    }
    if (crc.value() != e.crc) fail("the check sum of '" + e.name + "' is another");
    seek(start);
    return read_npy(file_.get(), path_ + "', '" + e.name, wanted);
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw ValueError("load_npz: '" + path_ + "' is not a valid .npz file: " + what);
  }

 private:
  void seek(std::uint64_t at) {
    if (std::fseek(file_.get(), static_cast<long>(at), SEEK_SET) != 0)
      fail_by_errno("load_npz", path_);
  }
  std::string bytes(std::uint64_t at, std::uint64_t n) {
    if (at > size_ || n > size_ - at) fail("it ends too early");
    seek(at);
    std::string text(n, '\0');
    if (std::fread(text.data(), 1, n, file_.get()) != n) fail("it ends too early");
    return text;
  }

  void read_directory() {
    const std::uint64_t behind = std::min<std::uint64_t>(size_, kEndSize + kLongestComment);
    const std::string tail = bytes(size_ - behind, behind);
    const std::size_t at = tail.rfind(Fields().add(kEnd).text);
    if (at == std::string::npos || tail.size() - at < kEndSize) fail("it has no directory");
    std::uint64_t n = number_at<std::uint16_t>(tail, at + 10);
    std::uint64_t size = number_at<std::uint32_t>(tail, at + 12);
    std::uint64_t offset = number_at<std::uint32_t>(tail, at + 16);
    const std::uint64_t end = size_ - behind + at;
    if ((n == 0xffff || size == kElsewhere || offset == kElsewhere) && end >= kLocator64Size) {
      const std::string locator = bytes(end - kLocator64Size, kLocator64Size);
      if (number_at<std::uint32_t>(locator, 0) == kLocator64) {
        const std::string end64 = bytes(number_at<std::uint64_t>(locator, 8), kEnd64Size);
        n = number_at<std::uint64_t>(end64, 32);
        size = number_at<std::uint64_t>(end64, 40);
        offset = number_at<std::uint64_t>(end64, 48);
      }
    }
    const std::string directory = bytes(offset, size);
    std::size_t from = 0;
    for (; n > 0; --n) from = read_entry(directory, from);
  }

  // The entry at `from`; returns where the next one is.
  std::size_t read_entry(const std::string& directory, std::size_t from) {
    if (directory.size() - from < kCentralSize ||
        number_at<std::uint32_t>(directory, from) != kCentral)
      fail("its directory");
    const auto half = [&](std::size_t at) {
      return number_at<std::uint16_t>(directory, from + at);
    };
    const auto word = [&](std::size_t at) {
      return number_at<std::uint32_t>(directory, from + at);
    };
    const std::size_t names = from + kCentralSize, extra = names + half(28),
                      comment = extra + half(30), next = comment + half(32);
    if (next > directory.size()) fail("its directory");
    Entry e{directory.substr(names, half(28)), word(24), word(42), word(16)};
    std::uint64_t stored = word(20);
    for (std::size_t at = extra; at + 4 <= comment;) {
      const std::size_t stop = at + 4 + number_at<std::uint16_t>(directory, at + 2);
      if (stop > comment) fail("its directory");
      if (number_at<std::uint16_t>(directory, at) == kExtra64) {
        std::size_t field = at + 4;
        for (std::uint64_t* value : {&e.size, &stored, &e.offset})
          if (*value == kElsewhere && field + 8 <= stop) {
            *value = number_at<std::uint64_t>(directory, field);
            field += 8;
          }
      }
      at = stop;
    }
    if (half(8) & kEncrypted) fail("'" + e.name + "' is encrypted");
    if (half(10) != 0)
      throw Error("load_npz: '" + path_ + "', '" + e.name +
                  "' is compressed, which is not read: numpy.savez writes what is");
    if (stored != e.size) fail("the sizes of '" + e.name + "' differ");
    constexpr std::string_view kSuffix = ".npy";
    if (e.name.size() >= kSuffix.size() &&
        e.name.compare(e.name.size() - kSuffix.size(), kSuffix.size(), kSuffix) == 0) {
      e.name.resize(e.name.size() - kSuffix.size());
      entries_.push_back(std::move(e));
    }
    return next;
  }

  const std::string& path_;
  File file_;
  std::uint64_t size_ = 0;
  std::vector<Entry> entries_;
};

}  // namespace

void savez(const std::string& path, const named_arrays& arrays) {
  std::vector<NpyContent> contents;  // before the file is touched
  for (const auto& [name, a] : arrays) {
    for (const auto& other : arrays)
      if (&other.second != &a && other.first == name)
        throw ValueError("savez: two arrays have the name '" + name + "'");
    contents.push_back(npy_content(a.handle()));
  }
  Writer out(path);
  auto content = contents.begin();
  for (const auto& entry : arrays) out.add(entry.first, *content++);
  out.finish();
}

named_arrays load_npz(const std::string& path, const std::string* name, const dtype* wanted) {
  Reader in(path);
  named_arrays out;
  for (const Entry& e : in.entries())
    if (!name || e.name == *name) out.emplace_back(e.name, any_array(in.read(e, wanted)));
  return out;
}

}  // namespace detail
}  // namespace plait
