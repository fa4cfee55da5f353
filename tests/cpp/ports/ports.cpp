#include "ports.hpp"

const std::vector<Program>& ports() {
  static const std::vector<Program> programs{
      {"burgers", ported::burgers},           {"mixture", ported::mixture},
      {"american put", ported::american_put}, {"spectral factor", ported::spectral},
      {"forest fire", ported::forest_fire},   {"cavity", ported::cavity},
      {"stable fluid", ported::fluid},        {"lattice", ported::lattice},
      {"acoustic", ported::acoustic},         {"marching", ported::marching}};
  return programs;
}
