// Programs as users of NumPy and xtensor write them, from the documentation alone. Each computes
// what it checks a second time, without Plait.
#pragma once

#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

struct Program {
  const char* name;
  void (*run)();
};

inline void expect(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(what);
}

inline void expect_near(double got, double expected, double tolerance, const char* what) {
  const double scale = std::fmax(1.0, std::fabs(expected));
  if (!(std::fabs(got - expected) <= tolerance * scale))
    throw std::runtime_error(std::string(what) + ": " + std::to_string(got) + " is not " +
                             std::to_string(expected));
}

const std::vector<Program>& simulations();
const std::vector<Program>& statistics();
const std::vector<Program>& images();
const std::vector<Program>& series();
const std::vector<Program>& embeddings();
const std::vector<Program>& physics();
const std::vector<Program>& signals();
const std::vector<Program>& learning();
const std::vector<Program>& tables();
const std::vector<Program>& strangers();
const std::vector<Program>& ports();
const std::vector<Program>& values();
#ifdef PLAIT_TEST_XTENSOR
const std::vector<Program>& xtensor_programs();
#endif
