// Classes that hold tensors, and are copied as classes of vectors are.
#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include <plait/plait.hpp>

#include "programs.hpp"

namespace {

using plait::tensor;

// Particles with a copy of the state at each checkpoint, and a run that goes back to it.
struct Particles {
  tensor<double> position, velocity;
  double time = 0;

  explicit Particles(std::int64_t n)
      : position(plait::linspace(0, 1, n)), velocity(plait::sin(position * 6.0)) {}
  void step(double dt) {
    velocity -= dt * position;
    position += dt * velocity;
    auto outside = position > 1.0;
    position[outside] = 1.0;
    velocity[outside] *= -1.0;
    time += dt;
  }
};
void particles() {
  const std::int64_t n = 1000;
  Particles now(n);
  std::vector<Particles> checkpoints;
  std::vector<double> x(n), v(n);
  std::vector<std::vector<double>> expected;
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = double(i) / double(n - 1);
    v[i] = std::sin(x[i] * 6);
  }
  for (int step = 0; step < 40; ++step) {
    if (step % 10 == 0) {
      checkpoints.push_back(now);
      expected.push_back(x);
    }
    now.step(0.05);
    for (std::size_t i = 0; i < x.size(); ++i) {
      v[i] -= 0.05 * x[i];
      x[i] += 0.05 * v[i];
      if (x[i] > 1) x[i] = 1, v[i] = -v[i];
    }
  }
  for (std::size_t c = 0; c < checkpoints.size(); ++c)
    for (std::size_t i = 0; i < x.size(); i += 37)
      expect_near(checkpoints[c].position(i), expected[c][i], 1e-12, "a checkpoint");
  Particles again = checkpoints[2];
  for (int step = 0; step < 20; ++step) again.step(0.05);
  for (std::size_t i = 0; i < x.size(); i += 37) {
    expect_near(now.position(i), x[i], 1e-12, "the end");
    expect_near(again.position(i), x[i], 1e-12, "the end from a checkpoint");
  }
  expect_near(checkpoints[2].position(99), expected[2][99], 1e-12, "a checkpoint that was copied");
  expect_near(again.time, now.time, 1e-12, "time");
}

// The last few fields of a heat equation, and the mean of what is kept.
template <std::size_t N>
class Ring {
 public:
  void push(const tensor<float>& field) {
    fields_[at_] = field;
    at_ = (at_ + 1) % N;
    count_ = std::min(count_ + 1, N);
  }
  const tensor<float>& back(std::size_t age) const { return fields_[(at_ + N - 1 - age) % N]; }
  tensor<float> mean() const {
    tensor<float> sum = fields_[0];
    for (std::size_t i = 1; i < count_; ++i) sum += fields_[i];
    return sum / float(count_);
  }

 private:
  std::array<tensor<float>, N> fields_;
  std::size_t at_ = 0, count_ = 0;
};
void ring() {
  const std::size_t rows = 24, columns = 16;
  tensor<float> field = plait::zeros<float>({rows, columns});
  std::vector<float> u(rows * columns);
  field(12, 8) = 100;
  u[12 * columns + 8] = 100;
  Ring<5> kept;
  std::deque<std::vector<float>> expected;
  using plait::range;
  using plait::view;
  for (int step = 0; step < 12; ++step) {
    kept.push(field);
    expected.push_front(u);
    const tensor<float> before = field;
    view(field, range(1, -1), range(1, -1)) +=
        0.1f *
        (view(before, range(2, rows), range(1, -1)) + view(before, range(0, -2), range(1, -1)) +
         view(before, range(1, -1), range(2, columns)) + view(before, range(1, -1), range(0, -2)) -
         4.0f * view(before, range(1, -1), range(1, -1)));
    const std::vector<float> w = u;
    for (std::size_t i = 1; i + 1 < rows; ++i)
      for (std::size_t j = 1; j + 1 < columns; ++j) {
        const std::size_t k = i * columns + j;
        u[k] += 0.1f * (w[k + columns] + w[k - columns] + w[k + 1] + w[k - 1] - 4 * w[k]);
      }
  }
  const tensor<float> mean = kept.mean();
  for (std::size_t i = 8; i < 17; ++i) {
    float sum = 0;
    for (std::size_t age = 0; age < 5; ++age) {
      const float value = expected[age][i * columns + 8];
      expect_near(double(kept.back(age)(i, 8)), double(value), 1e-4, "a field of the ring");
      sum += value;
    }
    expect_near(double(mean(i, 8)), double(sum) / 5, 1e-4, "mean of the ring");
  }
}

// An image editor: every state is a copy, and an undone one comes back as it was.
class Editor {
 public:
  explicit Editor(tensor<std::uint8_t> image) : image_(std::move(image)) {}
  template <class Edit>
  void apply(Edit edit) {
    undo_.push_back(image_);
    redo_.clear();
    edit(image_);
  }
  bool undo() { return move(undo_, redo_); }
  bool redo() { return move(redo_, undo_); }
  const tensor<std::uint8_t>& image() const { return image_; }
  std::size_t states() const { return undo_.size(); }

 private:
  using States = std::vector<tensor<std::uint8_t>>;
  bool move(States& from, States& to) {
    if (from.empty()) return false;
    to.push_back(std::exchange(image_, from.back()));
    from.pop_back();
    return true;
  }
  tensor<std::uint8_t> image_;
  States undo_, redo_;
};
void editor() {
  Editor e(plait::zeros<std::uint8_t>({32, 32}));
  const std::uint8_t* const blank = e.image().data();
  std::vector<double> sums{0};
  const auto sum_of = [&] { return double(plait::sum(e.image()).item()); };
  const auto apply = [&](auto edit) {
    e.apply(edit);
    sums.push_back(sum_of());
  };
  apply([](auto& image) { plait::view(image, plait::range(0, 8), plait::all()) = 3; });
  apply([](auto& image) { image(20, 20) = 200; });
  apply([](auto& image) { image[image == 3] = 1; });
  apply([](auto& image) { image = plait::flipud(image); });
  apply([](auto& image) { plait::fill_diagonal(image, 7); });
  const std::vector<double> expected{0, 768, 968, 456, 456, 456 + 32 * 7 - 8};
  for (std::size_t i = 0; i < sums.size(); ++i) expect_near(sums[i], expected[i], 0, "an edit");
  expect(e.image()(11, 20) == 200, "flipped");
  for (std::size_t i = sums.size() - 1; i-- > 0;) {
    expect(e.undo(), "there is a state to go back to");
    expect_near(sum_of(), sums[i], 0, "undone");
  }
  expect(!e.undo(), "the first state");
  expect(e.image().data() == blank, "states are kept without copies");
  Editor branch = e;
  for (std::size_t i = 1; i < sums.size(); ++i) {
    expect(e.redo(), "there is a state to go on to");
    expect_near(sum_of(), sums[i], 0, "done again");
  }
  branch.apply([](auto& image) { image += 1; });
  expect(!branch.redo(), "another branch");
  expect_near(double(plait::sum(branch.image()).item()), 1024, 0, "the branch");
  expect_near(sum_of(), sums.back(), 0, "the trunk");
}

// A solver of differential equations with adaptive steps: a step that is too long is taken back by
// assigning the state before it.
struct Orbit {
  tensor<double> q, p;
  Orbit& operator+=(const Orbit& o) {
    q += o.q;
    p += o.p;
    return *this;
  }
};
Orbit operator*(double h, Orbit o) {
  o.q *= h;
  o.p *= h;
  return o;
}
Orbit operator+(Orbit a, const Orbit& b) { return a += b; }
Orbit force(const Orbit& o) {
  auto r = plait::sqrt(plait::sum(o.q * o.q, 0));
  return {o.p, -o.q / (r * r * r)};
}
Orbit rk4(const Orbit& s, double h) {
  const Orbit a = force(s), b = force(s + h / 2 * a), c = force(s + h / 2 * b),
              d = force(s + h * c);
  return s + h / 6 * (a + 2.0 * b + 2.0 * c + d);
}
void orbits() {
  // Circles of radii 1, 2 ... 8, whose periods are 2 pi r^(3/2).
  const auto radius = plait::arange<double>(1, 9);
  Orbit s{plait::stack({radius, plait::zeros_like(radius)}),
          plait::stack({plait::zeros_like(radius), 1.0 / plait::sqrt(radius)})};
  const Orbit start = s;
  double time = 0, h = 0.5;
  int refused = 0;
  std::optional<Orbit> tried;
  while (time < 3) {
    const double step = std::min(h, 3 - time);
    const Orbit before = s;
    s = rk4(s, step);
    tried = rk4(rk4(before, step / 2), step / 2);
    const double error = plait::amax(plait::abs(s.q - tried->q)).item();
    if (error > 1e-8) {
      s = before;
      h /= 2;
      ++refused;
      continue;
    }
    s = *tried;
    time += step;
    if (error < 1e-10) h *= 1.5;
  }
  expect(refused > 0, "a step was refused");
  for (std::size_t i = 0; i < 8; ++i) {
    const double r = double(i + 1), angle = 3 / std::pow(r, 1.5);
    expect_near(s.q(0, i), r * std::cos(angle), 1e-6, "x");
    expect_near(s.q(1, i), r * std::sin(angle), 1e-6, "y");
    expect_near(start.q(0, i), r, 0, "where it started");
    expect_near(start.q(1, i), 0, 0, "where it started");
  }
}

}  // namespace

const std::vector<Program>& values() {
  static const std::vector<Program> programs{
      {"particles", particles}, {"ring of fields", ring}, {"editor", editor}, {"orbits", orbits}};
  return programs;
}
