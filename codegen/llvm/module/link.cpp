// A linker for one object: text and constants side by side, PC-relative references only.
#include <llvm/BinaryFormat/ELF.h>
#include <llvm/Object/ELFObjectFile.h>

#include <map>

#include "compile.hpp"
#include "plait/error.hpp"
#include "processor.hpp"

namespace plait::jit {
using namespace llvm;
namespace {

template <class T>
T value_of(Expected<T> e) {
  if (!e) throw CompileError("linking a kernel: " + toString(e.takeError()));
  return std::move(*e);
}

}  // namespace

Image link(const object::ObjectFile& object, const std::string& symbol) {
  Image image;
  std::map<std::uint64_t, std::size_t> place;  // of each section that is kept
  for (const object::SectionRef& s : object.sections()) {
    object::ELFSectionRef elf(s);
    // Unwind tables are allocated too, but nobody unwinds through a kernel.
    if (!(elf.getFlags() & ELF::SHF_ALLOC) || !s.getSize() ||
        value_of(s.getName()).starts_with(".eh_frame"))
      continue;
    if (elf.getFlags() & ELF::SHF_WRITE) throw CompileError("a kernel with writable data");
    std::size_t align = std::max<std::size_t>(s.getAlignment().value(), 16);
    image.bytes.resize((image.bytes.size() + align - 1) / align * align, '\xcc');
    place[s.getIndex()] = image.bytes.size();
    StringRef data = value_of(s.getContents());
    image.bytes.insert(image.bytes.end(), data.begin(), data.end());
  }
  auto address = [&](const object::SymbolRef& s) {
    auto section = value_of(s.getSection());
    auto at = section == object.section_end() ? place.end() : place.find(section->getIndex());
    if (at == place.end())
      throw CompileError("a kernel calls " + value_of(s.getName()).str() + " by name");
    return at->second + static_cast<std::size_t>(value_of(s.getAddress()));
  };
  for (const object::SectionRef& s : object.sections()) {
    auto patched = value_of(s.getRelocatedSection());
    if (patched == object.section_end()) continue;
    auto at = place.find(patched->getIndex());
    if (at == place.end()) continue;
    for (const object::RelocationRef& r : s.relocations()) {
      std::size_t where = at->second + r.getOffset();
      auto addend = value_of(object::ELFRelocationRef(r).getAddend());
      const auto target = static_cast<std::int64_t>(address(*r.getSymbol())) + addend;
      if (!relocate(r.getType(), reinterpret_cast<std::byte*>(image.bytes.data()), where, target))
        throw CompileError("a kernel has a relocation of type " + std::to_string(r.getType()));
    }
  }
  for (const object::SymbolRef& s : object.symbols())
    if (value_of(s.getName()) == symbol) image.entry = address(s);
  return image;
}

}  // namespace plait::jit
