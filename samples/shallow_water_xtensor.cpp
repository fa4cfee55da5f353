// Waves in a basin, written with xtensor: shallow_water.cpp is the same program with Plait.
// Linear shallow water on a staggered grid, with an island, wind, a drifting dye and statistics.
//
//   shallow_water_xtensor [rows columns steps]
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include <xtensor/xadapt.hpp>
#include <xtensor/xarray.hpp>
#include <xtensor/xbuilder.hpp>
#include <xtensor/xhistogram.hpp>
#include <xtensor/xindex_view.hpp>
#include <xtensor/xmasked_view.hpp>
#include <xtensor/xmath.hpp>
#include <xtensor/xsort.hpp>
#include <xtensor/xtensor.hpp>
#include <xtensor/xview.hpp>

using namespace xt::placeholders;
using field = xt::xtensor<double, 2>;

struct Parameters {
  std::size_t rows = 64, columns = 96;
  int steps = 200;
  double dx = 1.0, dt = 0.05, gravity = 9.81, depth = 2.0, drag = 0.002, wind = 0.01;
};

class Basin {
 public:
  explicit Basin(const Parameters& p)
      : p_(p),
        height_(xt::zeros<double>({p.rows, p.columns})),
        east_(xt::zeros<double>({p.rows, p.columns + 1})),
        north_(xt::zeros<double>({p.rows + 1, p.columns})),
        dye_(xt::zeros<double>({p.rows, p.columns})),
        land_(xt::zeros<bool>({p.rows, p.columns})) {
    const double rows = double(p.rows), columns = double(p.columns);
    auto y = xt::view(xt::arange<double>(0, rows), xt::all(), xt::newaxis());
    auto x = xt::view(xt::arange<double>(0, columns), xt::newaxis(), xt::all());
    // A hill of water, an island beside it, dye on the left.
    height_ = 0.3 * xt::exp(-(xt::square(y - rows / 2) + xt::square(x - columns / 4)) / 40.0);
    land_ = xt::square(y - rows / 3) + xt::square(x - 2 * columns / 3) < 30.0;
    dye_ = xt::where(x < columns / 4, 1.0, 0.0) + 0.0 * y;
    xt::masked_view(height_, land_) = 0.0;
    wind_ = p.wind * xt::sin(y * (3.14159265358979 / rows)) * (1.0 + 0.0 * x);
    close_coast();
  }

  void step() {
    const double push = p_.gravity * p_.dt / p_.dx, flow = p_.depth * p_.dt / p_.dx;
    // Velocities lie between the cells, and follow the slope of the surface.
    auto slope_east = xt::view(height_, xt::all(), xt::range(1, _)) -
                      xt::view(height_, xt::all(), xt::range(_, -1));
    auto slope_north = xt::view(height_, xt::range(1, _), xt::all()) -
                       xt::view(height_, xt::range(_, -1), xt::all());
    xt::view(east_, xt::all(), xt::range(1, -1)) -= push * slope_east;
    xt::view(north_, xt::range(1, -1), xt::all()) -= push * slope_north;
    xt::view(east_, xt::all(), xt::range(1, -1)) +=
        p_.dt * xt::view(wind_, xt::all(), xt::range(1, _));
    east_ *= 1.0 - p_.drag;
    north_ *= 1.0 - p_.drag;
    close_coast();
    // The surface follows what flows in and out.
    height_ -= flow * (xt::view(east_, xt::all(), xt::range(1, _)) -
                       xt::view(east_, xt::all(), xt::range(_, -1)) +
                       xt::view(north_, xt::range(1, _), xt::all()) -
                       xt::view(north_, xt::range(_, -1), xt::all()));
    carry_dye();
  }

  void report(int step) const {
    const field speed = this->speed();
    const double volume = xt::sum(height_)();
    const double energy = 0.5 * (p_.gravity * xt::sum(xt::square(height_))() +
                                 p_.depth * xt::sum(xt::square(speed))());
    const double rough = xt::stddev(height_)();
    std::printf("step %4d: volume %.8f energy %.8f roughness %.8f fastest %.8f dye %.8f\n", step,
                volume, energy, rough, xt::amax(speed)(), xt::sum(dye_)());
  }

  void summary() const {
    // Where the surface is highest, how rows differ, what is dyed, how heights are spread.
    const std::size_t top = xt::argmax(height_)();
    std::printf("highest at (%zu, %zu): %.8f\n", top / p_.columns, top % p_.columns,
                height_.flat(top));
    const xt::xarray<double> by_row = xt::mean(height_, {1});
    const xt::xarray<double> sorted = xt::sort(by_row);
    std::printf("rows: lowest %.8f middle %.8f highest %.8f\n", sorted(0),
                sorted(sorted.size() / 2), sorted(sorted.size() - 1));
    const xt::xarray<double> wet = xt::filter(dye_, !land_ && dye_ > 0.01);
    std::printf("dyed cells %zu, median %.8f\n", wet.size(), xt::median(wet));
    const xt::xarray<double> clipped = xt::clip(height_, -0.05, 0.05);
    const auto counts = xt::histogram(xt::ravel(clipped), std::size_t(8));
    std::printf("heights:");
    for (auto count : counts) std::printf(" %d", int(count));
    std::printf("\n");
    const xt::xarray<double> profile = xt::cumsum(xt::view(height_, p_.rows / 2, xt::all()));
    std::printf("volume along the middle: %.8f half way, %.8f in all\n", profile(p_.columns / 2),
                profile(p_.columns - 1));
  }

 private:
  // Nothing flows through the edges of the basin, nor through those of the island.
  void close_coast() {
    xt::view(east_, xt::all(), 0) = 0.0;
    xt::view(east_, xt::all(), -1) = 0.0;
    xt::view(north_, 0, xt::all()) = 0.0;
    xt::view(north_, -1, xt::all()) = 0.0;
    auto beside =
        xt::view(land_, xt::all(), xt::range(1, _)) || xt::view(land_, xt::all(), xt::range(_, -1));
    auto across =
        xt::view(land_, xt::range(1, _), xt::all()) || xt::view(land_, xt::range(_, -1), xt::all());
    auto between = xt::view(east_, xt::all(), xt::range(1, -1));
    auto above = xt::view(north_, xt::range(1, -1), xt::all());
    between = xt::where(beside, 0.0, field(between));
    above = xt::where(across, 0.0, field(above));
  }

  // Upwind: a cell gets what its neighbours lose.
  void carry_dye() {
    const field left = xt::view(dye_, xt::all(), xt::range(_, -1)),
                right = xt::view(dye_, xt::all(), xt::range(1, _));
    const field below = xt::view(dye_, xt::range(_, -1), xt::all()),
                over = xt::view(dye_, xt::range(1, _), xt::all());
    auto u = xt::view(east_, xt::all(), xt::range(1, -1));
    auto v = xt::view(north_, xt::range(1, -1), xt::all());
    const field across = p_.dt / p_.dx * (xt::maximum(u, 0.0) * left + xt::minimum(u, 0.0) * right);
    const field up = p_.dt / p_.dx * (xt::maximum(v, 0.0) * below + xt::minimum(v, 0.0) * over);
    xt::view(dye_, xt::all(), xt::range(_, -1)) -= across;
    xt::view(dye_, xt::all(), xt::range(1, _)) += across;
    xt::view(dye_, xt::range(_, -1), xt::all()) -= up;
    xt::view(dye_, xt::range(1, _), xt::all()) += up;
  }

  field speed() const {
    auto u = 0.5 * (xt::view(east_, xt::all(), xt::range(1, _)) +
                    xt::view(east_, xt::all(), xt::range(_, -1)));
    auto v = 0.5 * (xt::view(north_, xt::range(1, _), xt::all()) +
                    xt::view(north_, xt::range(_, -1), xt::all()));
    return xt::sqrt(u * u + v * v);
  }

  Parameters p_;
  field height_, east_, north_, dye_, wind_;
  xt::xtensor<bool, 2> land_;
};

int main(int argc, char** argv) {
  Parameters p;
  if (argc > 2)
    p.rows = std::size_t(std::atol(argv[1])), p.columns = std::size_t(std::atol(argv[2]));
  if (argc > 3) p.steps = std::atoi(argv[3]);
  Basin basin(p);
  for (int step = 0; step <= p.steps; ++step) {
    if (step % 50 == 0) basin.report(step);
    basin.step();
  }
  basin.summary();
}
