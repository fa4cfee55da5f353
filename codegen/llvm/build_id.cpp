// Reads the build-id note through the program headers, which a stripped file still has.
#include "build_id.hpp"

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <optional>
#include <vector>

namespace plait::jit {
namespace {

using Bytes = std::vector<char>;

constexpr std::size_t kMostNotes = 64 << 10;

std::optional<Bytes> read(std::ifstream& file, std::uint64_t at, std::size_t size) {
  Bytes bytes(size);
  file.seekg(static_cast<std::streamoff>(at));
  if (!file.read(bytes.data(), static_cast<std::streamsize>(size))) return std::nullopt;
  return bytes;
}

std::string hex(const char* bytes, std::size_t size) {
  std::string s;
  for (std::size_t i = 0; i < size; ++i) {
    const auto b = static_cast<unsigned char>(bytes[i]);
    s += "0123456789abcdef"[b >> 4];
    s += "0123456789abcdef"[b & 15];
  }
  return s;
}

std::size_t padded(std::size_t n) { return (n + 3) / 4 * 4; }

std::string find(const Bytes& notes) {
  for (std::size_t at = 0; at + sizeof(Elf64_Nhdr) <= notes.size();) {
    Elf64_Nhdr h;
    std::memcpy(&h, notes.data() + at, sizeof h);
    const std::size_t name = at + sizeof h, content = name + padded(h.n_namesz);
    at = content + padded(h.n_descsz);
    if (at > notes.size()) break;
    if (h.n_type == NT_GNU_BUILD_ID && h.n_namesz == sizeof ELF_NOTE_GNU &&
        std::memcmp(notes.data() + name, ELF_NOTE_GNU, sizeof ELF_NOTE_GNU) == 0)
      return hex(notes.data() + content, h.n_descsz);
  }
  return {};
}

}  // namespace

std::string build_id(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const auto start = read(file, 0, sizeof(Elf64_Ehdr));
  if (!start || std::memcmp(start->data(), ELFMAG, SELFMAG) != 0 ||
      (*start)[EI_CLASS] != ELFCLASS64)
    return {};
  Elf64_Ehdr header;
  std::memcpy(&header, start->data(), sizeof header);
  if (header.e_phentsize != sizeof(Elf64_Phdr)) return {};
  for (std::uint64_t i = 0; i < header.e_phnum; ++i) {
    const auto entry = read(file, header.e_phoff + i * sizeof(Elf64_Phdr), sizeof(Elf64_Phdr));
    if (!entry) return {};
    Elf64_Phdr segment;
    std::memcpy(&segment, entry->data(), sizeof segment);
    if (segment.p_type != PT_NOTE || segment.p_filesz > kMostNotes) continue;
    const auto notes = read(file, segment.p_offset, segment.p_filesz);
    if (!notes) return {};
    if (std::string id = find(*notes); !id.empty()) return id;
  }
  return {};
}

}  // namespace plait::jit
