#include "parameters.hpp"

#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>

namespace plume {

Parameters read_parameters(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(path + ": cannot be read");
  Parameters p;
  const std::map<std::string, double*> reals = {{"spacing", &p.spacing},
                                                {"step", &p.step},
                                                {"diffusivity", &p.diffusivity},
                                                {"wind", &p.wind}};
  const std::map<std::string, int*> counts = {{"steps", &p.steps}, {"report", &p.report}};
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    line = line.substr(0, line.find('#'));
    std::istringstream words(line);
    std::string name, equals;
    if (!(words >> name)) continue;
    words >> equals;
    Source s{};
    if (reals.count(name))
      words >> *reals.at(name);
    else if (counts.count(name))
      words >> *counts.at(name);
    else if (name == "cells")
      words >> p.rows >> p.columns;
    else if (name == "output")
      words >> p.output;
    else if (name == "source" && words >> s.row >> s.column >> s.rate)
      p.sources.push_back(s);
    else
      words.setstate(std::ios::failbit);
    if (equals != "=" || !words)
      throw std::runtime_error(path + ":" + std::to_string(number) + ": not understood: " + line);
  }
  if (p.rows < 3 || p.columns < 3 || p.report < 1)
    throw std::runtime_error(path + ": at least 3 x 3 cells and a report every step");
  return p;
}

}  // namespace plume
