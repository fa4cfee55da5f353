// What a process in control groups sees, under a folder of its own.
#pragma once
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

namespace plait::test {

struct FakeSystem {
  explicit FakeSystem(const std::map<std::string, std::string>& files) {
    std::filesystem::create_directories(root);
    for (const auto& [name, text] : files) {
      std::filesystem::create_directories((root / name).parent_path());
      std::ofstream(root / name) << text << '\n';
    }
  }
  ~FakeSystem() { std::filesystem::remove_all(root); }
  FakeSystem(const FakeSystem&) = delete;
  FakeSystem& operator=(const FakeSystem&) = delete;

  std::filesystem::path root =
      std::filesystem::temp_directory_path() / ("plait-system-" + std::to_string(::getpid()));
};

inline const std::string kUnified = "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw";

}  // namespace plait::test
