#include "search.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "core/os/library.hpp"

namespace plait::cuda {
namespace fs = std::filesystem;

namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

// Sub-folders whose name begins so, in the order of the numbers in it, greatest first.
std::vector<fs::path> subfolders(const fs::path& folder, const std::string& prefix) {
  std::vector<fs::path> found;
  std::error_code ignored;
  for (fs::directory_iterator d(folder, ignored), end; !ignored && d != end; d.increment(ignored))
    if (d->path().filename().string().rfind(prefix, 0) == 0) found.push_back(d->path());
  std::sort(found.begin(), found.end(), [](const fs::path& a, const fs::path& b) {
    const std::string x = a.filename().string(), y = b.filename().string();
    return std::pair(x.size(), x) > std::pair(y.size(), y);
  });
  return found;
}

class Folders {
 public:
  std::vector<std::string> list() && { return std::move(list_); }

  void add(const fs::path& folder) {
    std::error_code ignored;
    if (fs::is_directory(folder, ignored) &&
        std::find(list_.begin(), list_.end(), folder.string()) == list_.end())
      list_.push_back(folder.string());
  }
  void toolkit(const fs::path& root) {
    for (const char* lib : {"lib64", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib", "lib",
                            "lib/x86_64-linux-gnu"})
      add(root / lib);
  }
  void wheels(const fs::path& site_packages) {
    // cu13 before those that are older and a library each.
    std::vector<fs::path> all = subfolders(site_packages / "nvidia", "");
    std::reverse(all.begin(), all.end());
    for (const fs::path& wheel : all) add(wheel / "lib");
  }
  void environment(const fs::path& root) {
    for (const fs::path& python : subfolders(root / "lib", "python"))
      wheels(python / "site-packages");
  }

 private:
  std::vector<std::string> list_;
};

}  // namespace

std::vector<std::string> toolkit_folders() {
  Folders f;
  for (const char* named : {"CUDA_HOME", "CUDA_PATH"})
    if (const std::string root = variable(named); !root.empty()) f.toolkit(root);
  // This library may lie in a package's folder in site-packages.
  const std::string self = os::file_of(reinterpret_cast<const void*>(&toolkit_folders));
  if (!self.empty()) f.wheels(fs::path(self).parent_path().parent_path());
  const std::string conda = variable("CONDA_PREFIX"), home = variable("HOME");
  for (const std::string& root : {variable("VIRTUAL_ENV"), conda})
    if (!root.empty()) f.environment(root);
  if (!home.empty()) f.environment(fs::path(home) / ".local");
  if (!conda.empty()) f.toolkit(conda);
  f.toolkit("/usr/local/cuda");
  for (const fs::path& root : subfolders("/usr/local", "cuda-")) f.toolkit(root);
  for (const char* folder :
       {"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64"})
    f.add(folder);
  return std::move(f).list();
}

std::string missing_symbols(void* library, std::initializer_list<Symbol> wanted) {
  std::string missing;
  for (const Symbol& s : wanted) {
    void* const found = os::symbol(library, s.name);
    std::memcpy(s.function, &found, sizeof found);
    if (!found) missing += (missing.empty() ? "" : ", ") + std::string(s.name);
  }
  return missing;
}

Found find_library(const char* named, const std::vector<std::string>& names,
                   const std::function<std::string(void*)>& fault) {
  Found found;
  auto attempt = [&](const std::string& path) {
    std::string why;
    void* const handle = os::open_library(path, &why);
    if (handle) why = fault(handle);
    if (why.empty()) {
      found.handle = handle;
      found.path = path;
      return true;
    }
    found.tried += "\n  " + path + ": " + why;
    if (handle) os::close_library(handle);
    return false;
  };
  if (const std::string chosen = variable(named); !chosen.empty()) {
    if (!attempt(chosen)) found.why = std::string("$") + named + " is set:" + found.tried;
    return found;
  }
  const std::vector<std::string> folders = toolkit_folders();
  std::error_code ignored;
  for (const std::string& folder : folders)
    for (const std::string& name : names)
      if (const fs::path file = fs::path(folder) / name; fs::exists(file, ignored))
        if (attempt(file.string())) return found;
  for (const std::string& name : names)
    if (attempt(name)) return found;
  std::string looked;
  for (const std::string& name : names) looked += (looked.empty() ? "" : " or ") + name;
  found.why = "Plait looked for " + looked + " (or the file in $" + named + ") in";
  for (const std::string& folder : folders) found.why += "\n  " + folder;
  found.why += "\n  the system's library path" + found.tried;
  return found;
}

}  // namespace plait::cuda
