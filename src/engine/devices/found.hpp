// What is known of devices before one is opened.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace plait::engine {

struct FoundDevice {
  std::string name;  // "cuda:0"
  std::string model;
  std::size_t memory = 0;  // bytes
  std::string why;         // it cannot be used; empty: it can
};
// Those beside the host; opens none. Where they cannot be counted, one that says why.
std::vector<FoundDevice> find_devices();

}  // namespace plait::engine
