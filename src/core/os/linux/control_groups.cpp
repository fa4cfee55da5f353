#include "control_groups.hpp"

#include <fstream>
#include <sstream>

namespace plait::os {
namespace {

struct Hierarchy {
  std::string mounted;      // where the group `root` is
  std::string root;         // not "/" when it is mounted from inside a container
  std::string controllers;  // and other options
  bool unified;             // version 2: all controllers
};

bool has_word(const std::string& list, const std::string& word) {
  std::istringstream in(list);
  for (std::string w; std::getline(in, w, ',');)
    if (w == word) return true;
  return false;
}

std::vector<Hierarchy> mounted_under(const std::string& root) {
  std::vector<Hierarchy> all;
  std::ifstream in(root + "/proc/self/mountinfo");
  for (std::string line; std::getline(in, line);) {
    const auto dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    std::istringstream front(line), back(line.substr(dash + 3));
    std::string id, parent, device, group, place, type, source, options;
    front >> id >> parent >> device >> group >> place;
    back >> type >> source >> options;
    if (type == "cgroup2" || type == "cgroup")
      all.push_back({root + place, group, options, type == "cgroup2"});
  }
  return all;
}

// Mounts stay where they are, and there may be many others among them.
std::vector<Hierarchy> hierarchies(const std::string& root) {
  static const auto& own = *new std::vector<Hierarchy>(mounted_under(""));
  return root.empty() ? own : mounted_under(root);
}

// The group of this process in a hierarchy: lines "number:controllers:path".
std::string own_group(const std::string& root, const Hierarchy& h, const std::string& controller) {
  std::ifstream in(root + "/proc/self/cgroup");
  for (std::string line; std::getline(in, line);) {
    const auto first = line.find(':');
    const auto second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (h.unified ? controllers.empty() : has_word(controllers, controller))
      return line.substr(second + 1);
  }
  return "/";
}

}  // namespace

std::vector<ControlGroup> control_groups(const std::string& controller, const std::string& root) {
  std::vector<ControlGroup> groups;
  for (const Hierarchy& h : hierarchies(root)) {
    if (!h.unified && !has_word(h.controllers, controller)) continue;
    std::string group = own_group(root, h, controller);
    if (h.root != "/" && group.starts_with(h.root)) group.erase(0, h.root.size());
    while (true) {
      while (group.ends_with('/')) group.pop_back();
      groups.push_back({h.mounted + group, h.unified});
      if (group.empty()) break;
      const auto slash = group.rfind('/');
      group.erase(slash == std::string::npos ? 0 : slash);
    }
  }
  return groups;
}

}  // namespace plait::os
