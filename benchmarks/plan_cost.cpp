// What planning costs: microseconds of a processor a node, of graphs of growing size, by the kind
// of program. It is to be the same in a row: planning is linear in the nodes.
//
//     plan_cost [words that a program's name has to contain]
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>

#include "fusion/graph/graph.hpp"
#include "fusion/plan.hpp"
#include "numpy_compat/functions.hpp"
#include "plan/arrays.hpp"
#include "tracer/context.hpp"

using namespace plait;
using namespace plait::test;
using tracer::All;
using tracer::NewAxis;
using tracer::Slice;

namespace {

Array add(const Operand& a, const Operand& b) { return apply(OpId::Add, a, b); }
Array sub(const Operand& a, const Operand& b) { return apply(OpId::Subtract, a, b); }
Array mul(const Operand& a, const Operand& b) { return apply(OpId::Multiply, a, b); }
Array tanh(const Array& a) { return apply(OpId::Tanh, a); }

const Slice mid{1, -1, {}}, low{{}, -2, {}}, high{2, {}, {}};

Array laplacian(const Array& u) {
  Array s = add(view(u, {low, mid}), view(u, {high, mid}));
  s = add(s, add(view(u, {mid, low}), view(u, {mid, high})));
  return sub(s, mul(weak(4), view(u, {mid, mid})));
}

struct Program {
  const char* name;
  // What is asked for after so many steps.
  std::vector<Array> (*run)(int steps);
};

const Program programs[] = {
    {"chain",
     [](int steps) {
       Array x = random_f64({1000});
       for (int t = 0; t < steps; ++t) x = add(mul(x, weak(.9)), weak(t));
       return std::vector{x};
     }},
    {"chain, every value asked for",
     [](int steps) {
       std::vector<Array> all{random_f64({1000})};
       for (int t = 0; t < steps; ++t) all.push_back(add(mul(all.back(), weak(.9)), weak(t)));
       return all;
     }},
    {"outputs of one input",
     [](int steps) {
       std::vector<Array> all;
       const Array x = random_f64({1000});
       for (int t = 0; t < steps; ++t) all.push_back(tanh(add(x, weak(t))));
       return all;
     }},
    {"outputs of several shapes",
     [](int steps) {
       std::vector<Array> all;
       for (int t = 0; t < steps; ++t) all.push_back(tanh(mul(random_f64({100 + t}), weak(t))));
       return all;
     }},
    {"sums of rows and of everything",
     [](int steps) {
       Array x = random_f64({100, 1000}), s = random_f64({100});
       for (int t = 0; t < steps; ++t) {
         s = add(s, reduce(ReduceKind::Sum, mul(x, weak(t)), 1));
         s = mul(s, tracer::reduce(ReduceKind::Sum, tanh(add(x, weak(t)))));
       }
       return std::vector{s};
     }},
    {"recurrence",
     [](int steps) {
       Array h = random_f64({512, 32}), v = random_f64({32, 32}), c = random_f64({512, 32});
       for (int t = 0; t < steps; ++t) {
         const Array z = tracer::matmul(h, v);
         c = add(mul(c, weak(.9)), tanh(z));
         h = tanh(c);
       }
       return std::vector{h};
     }},
    {"recurrence over column means",
     [](int steps) {
       Array h = random_f64({512, 32}), c = random_f64({512, 32});
       for (int t = 0; t < steps; ++t) {
         c = add(mul(c, weak(.9)), sub(h, mul(reduce(ReduceKind::Sum, h, 0), weak(1. / 512))));
         h = tanh(c);
       }
       return std::vector{h};
     }},
    {"in-place stencil",
     [](int steps) {
       Array u = tracer::copy(random_f64({100, 100}));
       for (int t = 0; t < steps; ++t)
         tracer::assign(view(u, {mid, mid}), add(view(u, {mid, mid}), mul(weak(.1), laplacian(u))));
       return std::vector{u};
     }},
    {"two fields in place, edges too",
     [](int steps) {
       Array u = tracer::copy(random_f64({100, 100})), v = tracer::copy(u);
       for (int t = 0; t < steps; ++t) {
         tracer::assign(view(u, {mid, mid}), add(view(u, {mid, mid}), laplacian(v)));
         tracer::assign(view(u, {0}), view(u, {1}));
         tracer::assign(view(u, {-1}), weak(0));
         tracer::assign(view(v, {mid, mid}), sub(view(v, {mid, mid}), laplacian(u)));
         tracer::assign(view(v, {All{}, 0}), view(v, {All{}, 1}));
       }
       return std::vector{u, v};
     }},
    {"Floyd-Warshall",
     [](int steps) {
       Array d = random_f64({100, 100});
       for (std::int64_t k = 0; k < steps; ++k) {
         const std::int64_t at = k % 100;
         d = apply(OpId::Minimum, d, add(view(d, {All{}, Slice{at, at + 1, {}}}), view(d, {at})));
       }
       return std::vector{d};
     }},
    {"Floyd-Warshall in place",
     [](int steps) {
       Array d = tracer::copy(random_f64({100, 100}));
       for (std::int64_t k = 0; k < steps; ++k) {
         const std::int64_t at = k % 100;
         tracer::assign(d, apply(OpId::Minimum, d,
                                 add(view(d, {All{}, Slice{at, at + 1, {}}}), view(d, {at}))));
       }
       return std::vector{d};
     }},
    {"rolls",
     [](int steps) {
       Array u = random_f64({100, 100});
       for (int t = 0; t < steps; ++t)
         u = mul(weak(.25),
                 add(add(numpy::roll(u, Dims{1}, Dims{0}), numpy::roll(u, Dims{-1}, Dims{0})),
                     add(numpy::roll(u, Dims{1}, Dims{1}), numpy::roll(u, Dims{-1}, Dims{1}))));
       return std::vector{u};
     }},
    {"flocking",
     [](int steps) {
       Array p = random_f64({100, 2}), v = random_f64({100, 2}, 2);
       for (int t = 0; t < steps; ++t) {
         const Array d = sub(view(p, {NewAxis{}}), view(p, {All{}, NewAxis{}}));
         const Array r = apply(OpId::Sqrt, reduce(ReduceKind::Sum, mul(d, d), 2));
         const Array near = tracer::astype(apply(OpId::Less, r, weak(.5)), DType::Float64);
         const Array count = reduce(ReduceKind::Sum, near, 1, true);
         const Array others = reduce(
             ReduceKind::Sum, mul(view(near, {All{}, All{}, NewAxis{}}), view(v, {NewAxis{}})), 1);
         v = add(v, mul(weak(.05), sub(apply(OpId::Divide, others, count), v)));
         p = add(p, mul(weak(.1), v));
       }
       return std::vector{p, v};
     }},
};

double microseconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return 1e6 * static_cast<double>(t.tv_sec) + 1e-3 * static_cast<double>(t.tv_nsec);
}

void measure(const Program& p) {
  std::printf("%-32s", p.name);
  for (const int nodes : {50, 100, 200, 400, 800, 1600, 3200}) {
    double best = INFINITY;
    int steps = 1, size = 0, regions = 0, surveys = 0;
    for (int round = 0; round < 5; ++round) {
      // Steps are nodes on the way there: the first round is for the count.
      const std::vector<Array> asked = p.run(steps);
      std::vector<Ref<tracer::Node>> nodes_of;
      std::vector<tracer::Node*> wanted;
      for (const Array& a : asked) wanted.push_back(nodes_of.emplace_back(tracer::read(a)).get());
      const double start = microseconds();
      const fusion::Graph g(wanted);
      const auto plan = fusion::make_plan(g);
      const double t = microseconds() - start;
      if (round == 0) {
        steps = std::max(1, nodes / std::max(1, g.size()));
      } else {
        best = std::min(best, t);
        size = g.size();
        regions = static_cast<int>(plan->steps.size());
        surveys = plan->surveys;
      }
    }
    std::printf("  %5.1f", best / size);
    if (nodes == 1600) std::printf(" (%d nodes, %d regions, %d surveys)", size, regions, surveys);
    std::fflush(stdout);
  }
  std::printf("\n");
}

}  // namespace

int main(int argc, char** argv) {
  config().eager_limit = 0;
  tracer::set_graph_limit(1 << 20, std::size_t{1} << 34);
  std::printf("microseconds a node, in graphs of about 50, 100, 200, 400, 800, 1600, 3200 nodes\n");
  for (const Program& p : programs)
    if (argc < 2 || std::strstr(p.name, argv[1])) measure(p);
}
