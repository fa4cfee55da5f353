#include "core/os/library.hpp"

#include <dlfcn.h>
#include <link.h>

#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

namespace plait::os {

void* open_library(const std::string& path, std::string* why) {
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library && why) {
    const char* said = dlerror();
    *why = said ? said : "it cannot be opened";
  }
  return library;
}
void* opened_library(const std::string& path) {
  return dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD);
}
void close_library(void* library) { dlclose(library); }

void* symbol(void* library, const std::string& name) { return dlsym(library, name.c_str()); }

std::string library_with(const char* part_of_path) {
  std::pair<const char*, std::string> search{part_of_path, {}};
  dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* p) {
        auto& [part, found] = *static_cast<decltype(search)*>(p);
        if (!object->dlpi_name || !std::strstr(object->dlpi_name, part)) return 0;
        found = object->dlpi_name;
        return 1;
      },
      &search);
  return search.second;
}

std::string file_of(const void* function) {
  Dl_info info;
  link_map* object = nullptr;
  if (!dladdr1(function, &info, reinterpret_cast<void**>(&object), RTLD_DL_LINKMAP)) return "";
  if (*object->l_name) return object->l_name;
  // The program, of which dladdr has the name that it was called by.
  std::error_code unknown;
  return std::filesystem::read_symlink("/proc/self/exe", unknown).string();
}

}  // namespace plait::os
