// Graphs in which some value is used more often than it has elements, over two extents: what the
// choice between storing and recomputing is about. The plan test counts them, the benchmark times
// them.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "arrays.hpp"

namespace plait::test {

struct Extents {
  std::int64_t n, m;
};
inline constexpr Extents kReuseSweep[] = {
    {2, 3},    {3, 1000},  {8, 8},    {9, 20000}, {50, 17},    {64, 512},   {300, 300},
    {1000, 3}, {2000, 40}, {4096, 4}, {5000, 60}, {20000, 16}, {700, 1100}, {40, 30000}};

struct ReuseGraph {
  std::string name;
  std::function<Array(std::int64_t n, std::int64_t m)> build;
};

// One map of growing cost, in front of what uses it again.
inline std::vector<std::pair<std::string, std::function<Array(const Array&)>>> reused_maps() {
  return {
      {"x + 1", [](const Array& x) { return apply(OpId::Add, x, weak(1)); }},
      {"x * x + x",
       [](const Array& x) { return apply(OpId::Add, apply(OpId::Multiply, x, x), x); }},
      {"1 / (x * x + 1)",
       [](const Array& x) {
         Array d = apply(OpId::Add, apply(OpId::Multiply, x, x), weak(1));
         return apply(OpId::Divide, weak(1), d);
       }},
      {"sqrt(abs(x) + 1) / 3",
       [](const Array& x) {
         Array r = apply(OpId::Sqrt, apply(OpId::Add, apply(OpId::Absolute, x), weak(1)));
         return apply(OpId::Divide, r, weak(3));
       }},
      {"exp(x)", [](const Array& x) { return apply(OpId::Exp, x); }},
      {"tanh(sin(x))", [](const Array& x) { return apply(OpId::Tanh, apply(OpId::Sin, x)); }},
  };
}

// `leaf` makes what the graphs read, of a shape and a seed.
using Leaf = Array (*)(const Dims& shape, unsigned seed);
inline std::vector<ReuseGraph> reuse_graphs(Leaf leaf) {
  using tracer::All;
  using tracer::NewAxis;
  using tracer::Slice;
  std::vector<ReuseGraph> graphs;
  for (const auto& [text, map] : reused_maps()) {
    auto add = [&, f = map](const std::string& name, auto build) {
      graphs.push_back({name + ", f(x) = " + text,
                        [f, build](std::int64_t n, std::int64_t m) { return build(f, n, m); }});
    };
    add("a row of m under n rows", [leaf](auto& f, std::int64_t n, std::int64_t m) {
      return apply(OpId::Add, leaf({n, m}, 1), f(leaf({m}, 2)));
    });
    add("pairs of n and m, summed", [leaf](auto& f, std::int64_t n, std::int64_t m) {
      Array x = view(f(leaf({n}, 1)), {All{}, NewAxis{}}), y = f(leaf({m}, 2));
      return reduce(ReduceKind::Sum, apply(OpId::Maximum, x, y), 1);
    });
    add("pairs summed over the outer axis", [leaf](auto& f, std::int64_t n, std::int64_t m) {
      Array x = view(f(leaf({n}, 1)), {All{}, NewAxis{}}), y = f(leaf({m}, 2));
      return reduce(ReduceKind::Max, apply(OpId::Multiply, x, y), 0);
    });
    add("three neighbours in a row", [leaf](auto& f, std::int64_t n, std::int64_t m) {
      Array y = f(leaf({n, m + 2}, 1));
      Array s =
          apply(OpId::Add, view(y, {All{}, Slice{{}, -2, {}}}), view(y, {All{}, Slice{1, -1, {}}}));
      return apply(OpId::Add, s, view(y, {All{}, Slice{2, {}, {}}}));
    });
    add("five neighbours in a plane", [leaf](auto& f, std::int64_t n, std::int64_t m) {
      Array y = f(leaf({n + 2, m + 2}, 1));
      const Slice mid{1, -1, {}}, up{{}, -2, {}}, down{2, {}, {}};
      Array s = apply(OpId::Add, view(y, {mid, mid}), view(y, {up, mid}));
      s = apply(OpId::Add, s, view(y, {down, mid}));
      s = apply(OpId::Add, s, view(y, {mid, up}));
      return apply(OpId::Add, s, view(y, {mid, down}));
    });
    add("with its mirror image", [leaf](auto& f, std::int64_t n, std::int64_t m) {
      Array y = f(leaf({n, m}, 1));
      return apply(OpId::Subtract, y, view(y, {All{}, Slice{{}, {}, -1}}));
    });
    add("less its row's mean", [leaf](auto& f, std::int64_t n, std::int64_t m) {
      Array y = f(leaf({n, m}, 1));
      Array mean = apply(OpId::Divide, reduce(ReduceKind::Sum, y, 1, true), weak(7));
      return apply(OpId::Subtract, y, mean);
    });
    add("less its column's maximum", [leaf](auto& f, std::int64_t n, std::int64_t m) {
      Array y = f(leaf({n, m}, 1));
      return apply(OpId::Subtract, y, reduce(ReduceKind::Max, y, 0));
    });
    add("sums of rows, in pairs", [leaf](auto& f, std::int64_t n, std::int64_t m) {
      Array s = reduce(ReduceKind::Sum, f(leaf({m, 6}, 1)), 1);
      Array x = leaf({n, 1}, 2);
      return reduce(ReduceKind::Min, apply(OpId::Absolute, apply(OpId::Subtract, x, s)), 1);
    });
  }
  return graphs;
}

}  // namespace plait::test
