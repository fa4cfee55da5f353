#include <algorithm>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <sstream>
#include <thread>
#include <vector>

#include <plait/io.hpp>
#include <plait/plait.hpp>

#include "programs.hpp"

namespace {

// A class with buffers of its own: Plait computes in them, and nothing of Plait shows in its
// interface.
class Mixer {
 public:
  explicit Mixer(std::size_t frames) : left_(frames), right_(frames), out_(2 * frames) {}
  std::vector<float>& left() { return left_; }
  std::vector<float>& right() { return right_; }
  const std::vector<float>& mix(float gain, float pan) {
    const auto l = plait::adapt(left_.data(), {left_.size()});
    const auto r = plait::adapt(right_.data(), {right_.size()});
    auto limited = plait::tanh(plait::stack({(1.0f - pan) * l, pan * r}, 1) * gain);
    limited.eval_into(out_.data());
    return out_;
  }

 private:
  std::vector<float> left_, right_, out_;
};
void mixer() {
  Mixer m(100);
  for (std::size_t round = 1; round <= 3; ++round) {
    for (std::size_t i = 0; i < 100; ++i)
      m.left()[i] = float(i * round) / 100, m.right()[i] = -float(i) / 50;
    const std::vector<float>& out = m.mix(0.8f, 0.25f);
    for (std::size_t i = 0; i < 100; ++i) {
      expect_near(double(out[2 * i]), std::tanh(0.75 * double(i * round) / 100 * 0.8), 1e-6,
                  "left");
      expect_near(double(out[2 * i + 1]), std::tanh(-0.25 * double(i) / 50 * 0.8), 1e-6, "right");
    }
  }
}

// A model that holds arrays: copies, moves, constant access, functions that take and return arrays.
class Layer {
 public:
  Layer(plait::array<double> weights, plait::array<double> bias)
      : weights_(std::move(weights)), bias_(std::move(bias)) {}
  plait::array<double> operator()(const plait::array<double>& x) const {
    return plait::maximum(plait::matmul(x, weights_) + bias_, 0.0);
  }
  const plait::array<double>& weights() const { return weights_; }
  void step(const plait::array<double>& gradient, double rate) { weights_ -= rate * gradient; }

 private:
  plait::array<double> weights_, bias_;
};
void layers() {
  plait::random::engine rng(6);
  std::vector<Layer> network;
  network.emplace_back(rng.standard_normal({4, 8}), plait::zeros<double>({8}));
  network.emplace_back(rng.standard_normal({8, 2}), plait::full<double>({2}, 0.1));
  plait::array<double> x = rng.standard_normal({5, 4}), y = x;
  for (const Layer& layer : network) y = layer(y);
  for (long s = 0; s < 5; ++s)
    for (long o = 0; o < 2; ++o) {
      double out = 0.1;
      for (long h = 0; h < 8; ++h) {
        double in = 0;
        for (long i = 0; i < 4; ++i) in += x.get(s, i) * network[0].weights().get(i, h);
        out += std::fmax(in, 0.0) * network[1].weights().get(h, o);
      }
      expect_near(y(s, o), std::fmax(out, 0.0), 1e-12, "output");
    }
  const double before = network[0].weights()(1, 1);
  network[0].step(plait::ones<double>({4, 8}), 0.5);
  expect_near(network[0].weights()(1, 1), before - 0.5, 1e-15, "weights");
  plait::array<double> taken = std::move(x);
  expect(x.size() == 0 && taken.shape(0) == 5, "moved");
}

// Threads of the application: arrays of their own, and one that all read.
void threads() {
  const plait::array<double> shared = plait::linspace(0.0, 1.0, 5000);
  std::vector<double> results(4);
  std::atomic<int> errors{0};
  std::vector<std::thread> team;
  for (std::size_t id = 0; id < 4; ++id)
    team.emplace_back([&, id] {
      plait::array<double> own = shared * double(id + 1);
      for (int i = 0; i < 10; ++i) own = plait::sqrt(own * own + shared);
      results[id] = plait::sum(own).item();
      try {
        plait::reshape(own, {7, 7}).eval();
      } catch (const plait::Error&) {
        ++errors;
      }
    });
  for (auto& thread : team) thread.join();
  expect(errors == 4, "errors of the threads");
  for (std::size_t id = 0; id < 4; ++id) {
    double sum = 0;
    for (int i = 0; i < 5000; ++i) {
      const double s = double(i) / 4999;
      double own = s * double(id + 1);
      for (int k = 0; k < 10; ++k) own = std::sqrt(own * own + s);
      sum += own;
    }
    expect_near(results[id], sum, 1e-11, "sum");
  }
}

// Tables and arrays in files, and what is printed.
void files() {
  const auto folder = std::filesystem::temp_directory_path() / "plait_programs";
  std::filesystem::create_directories(folder);
  const std::string npy = (folder / "a.npy").string(), csv = (folder / "a.csv").string();
  plait::array<float> a = plait::arange<float>(0, 12).reshape({3, 4}) / 4.0f;
  plait::dump_npy(npy, a);
  plait::dump_csv(csv, plait::transpose(a));
  auto back = plait::load_npy<float>(npy);
  auto table = plait::load_csv<double>(csv);
  expect(plait::array_equal(a, back), "npy");
  expect(table.shape(0) == 4 && table.shape(1) == 3 && table(3, 2) == 2.75, "csv");
  std::ostringstream text;
  text << plait::array<int>{{1, 2}, {30, 4}};
  expect(text.str() == "[[ 1  2]\n [30  4]]", "as NumPy prints");
  std::filesystem::remove_all(folder);
}

// Vectors in, vectors out; a lambda in the loop; elements by iterators.
void containers() {
  std::vector<double> data(60);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = std::sin(double(i));
  const std::vector<double> kept = data;
  auto a = plait::adopt(std::move(data)).reshape({12, 5});
  auto y = plait::vectorize([](auto x, auto t) { return plait::where(x > t, x * x, -x); }, a, 0.25);
  std::vector<double> out(60);
  plait::cumsum(y, 0).eval_into(out.data());
  std::vector<double> own(60);
  for (std::size_t i = 0; i < 60; ++i) {
    const double v = kept[i] > 0.25 ? kept[i] * kept[i] : -kept[i];
    own[i] = v + (i >= 5 ? own[i - 5] : 0);
    expect_near(out[i], own[i], 1e-13, "running sums");
  }
  const std::vector<double> copy(a.begin(), a.end());
  expect(copy == kept, "elements");
  std::sort(a.begin(), a.end());
  expect(std::is_sorted(a.begin(), a.end()) && plait::min(a).item() == a.get(0, 0), "sorted");
  for (double& element : plait::view(a, plait::all(), 1)) element = 0;
  expect(plait::count_nonzero(a).item() == 47, "zeros");
  plait::array<std::int64_t> table =
      plait::fromfunction<std::int64_t>([](auto i, auto j) { return i * 10 + j; }, 3, 4);
  expect(table(2, 3) == 23, "fromfunction");
  long long total = 0;
  for (auto row = plait::axis_begin(table); row != plait::axis_end(table); ++row)
    total += plait::sum(*row).item();
  expect(total == 12 * 10 + 18, "rows");
  plait::options options;
  options.threads = 2;
  plait::configure(options);
  plait::trim();
  expect(table(0, 3) == 3, "after trim");
}

// Errors say what is wrong, and leave everything as it was.
template <class Exception, class F>
void fails(F&& f, const char* words) {
  try {
    f();
  } catch (const Exception& error) {
    if (std::string(error.what()).find(words) == std::string::npos)
      throw std::runtime_error("says: " + std::string(error.what()));
    return;
  }
  throw std::runtime_error(std::string("no error that says ") + words);
}
void mistakes() {
  plait::array<double> a = plait::ones<double>({3, 4}), b = plait::ones<double>({5});
  fails<plait::ShapeError>([&] { (a + b).eval(); }, "(3,4) (5,)");
  fails<plait::AxisError>([&] { plait::sum(a, {2}).eval(); }, "axis 2");
  fails<plait::IndexError>([&] { a(3, 0) = 1; }, "out of bounds");
  fails<plait::ValueError>([&] { a.reshape({5, 3}); }, "(5,3)");
  fails<plait::LinAlgError>([&] { plait::linalg::inv(plait::zeros<double>({2, 2})); }, "ingular");
  fails<plait::OverflowError>([&] { plait::full<std::uint8_t>({2}, 300); }, "300");
  fails<std::bad_alloc>([&] { plait::empty<double>({1L << 40, 1L << 10}).eval(); }, "");
  expect(plait::sum(a).item() == 12, "operands");
}

}  // namespace

const std::vector<Program>& embeddings() {
  static const std::vector<Program> programs{{"mixer", mixer},           {"layers", layers},
                                             {"threads", threads},       {"files", files},
                                             {"containers", containers}, {"mistakes", mistakes}};
  return programs;
}
