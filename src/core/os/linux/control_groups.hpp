// The control groups of Linux that this process is in.
#pragma once
#include <string>
#include <vector>

namespace plait::os {

struct ControlGroup {
  std::string folder;  // of its files
  bool unified;        // version 2, whose files have other names
};

// The groups that bound what a controller ("cpu", "memory") gives this process: its own, then those
// around it. Where there are none it is empty; a folder need not have the controller's files.
// `root` stands before /proc and before the mount points, for tests.
std::vector<ControlGroup> control_groups(const std::string& controller,
                                         const std::string& root = "");

}  // namespace plait::os
