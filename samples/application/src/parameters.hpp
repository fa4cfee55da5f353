// What a run is told: a text file of lines `name = value`.
#pragma once
#include <string>
#include <vector>

namespace plume {

struct Source {
  double row, column, rate;  // cells, cells, kg/s
};

struct Parameters {
  long rows = 100, columns = 200;
  double spacing = 10;     // m, of cells
  double step = 0.5;       // s
  double diffusivity = 2;  // m^2/s
  double wind = 5;         // m/s, from the left
  int steps = 400, report = 100;
  std::vector<Source> sources;
  std::string output = "plume.npy";
};

// Throws std::runtime_error, which names the line.
Parameters read_parameters(const std::string& path);

}  // namespace plume
