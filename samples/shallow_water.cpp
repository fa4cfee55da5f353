// Waves in a basin: the port of shallow_water_xtensor.cpp, line by line. Both print the same
// numbers. Linear shallow water on a staggered grid, with an island, wind, a drifting dye and
// statistics.
//
//   shallow_water [rows columns steps]
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include <plait/plait.hpp>

using namespace plait::placeholders;
using field = plait::array<double>;

struct Parameters {
  long rows = 64, columns = 96;
  int steps = 200;
  double dx = 1.0, dt = 0.05, gravity = 9.81, depth = 2.0, drag = 0.002, wind = 0.01;
};

class Basin {
 public:
  explicit Basin(const Parameters& p)
      : p_(p),
        height_(plait::zeros<double>({p.rows, p.columns})),
        east_(plait::zeros<double>({p.rows, p.columns + 1})),
        north_(plait::zeros<double>({p.rows + 1, p.columns})),
        dye_(plait::zeros<double>({p.rows, p.columns})),
        land_(plait::zeros<bool>({p.rows, p.columns})) {
    const double rows = double(p.rows), columns = double(p.columns);
    auto y = plait::view(plait::arange<double>(0, rows), plait::all(), plait::newaxis());
    auto x = plait::view(plait::arange<double>(0, columns), plait::newaxis(), plait::all());
    // A hill of water, an island beside it, dye on the left.
    height_ =
        0.3 * plait::exp(-(plait::square(y - rows / 2) + plait::square(x - columns / 4)) / 40.0);
    land_ = plait::square(y - rows / 3) + plait::square(x - 2 * columns / 3) < 30.0;
    dye_ = plait::where(x < columns / 4, 1.0, 0.0) + 0.0 * y;
    plait::masked_view(height_, land_) = 0.0;
    wind_ = p.wind * plait::sin(y * (3.14159265358979 / rows)) * (1.0 + 0.0 * x);
    close_coast();
  }

  void step() {
    const double push = p_.gravity * p_.dt / p_.dx, flow = p_.depth * p_.dt / p_.dx;
    // Velocities lie between the cells, and follow the slope of the surface.
    auto slope_east = plait::view(height_, plait::all(), plait::range(1, _)) -
                      plait::view(height_, plait::all(), plait::range(_, -1));
    auto slope_north = plait::view(height_, plait::range(1, _), plait::all()) -
                       plait::view(height_, plait::range(_, -1), plait::all());
    plait::view(east_, plait::all(), plait::range(1, -1)) -= push * slope_east;
    plait::view(north_, plait::range(1, -1), plait::all()) -= push * slope_north;
    plait::view(east_, plait::all(), plait::range(1, -1)) +=
        p_.dt * plait::view(wind_, plait::all(), plait::range(1, _));
    east_ *= 1.0 - p_.drag;
    north_ *= 1.0 - p_.drag;
    close_coast();
    // The surface follows what flows in and out.
    height_ -= flow * (plait::view(east_, plait::all(), plait::range(1, _)) -
                       plait::view(east_, plait::all(), plait::range(_, -1)) +
                       plait::view(north_, plait::range(1, _), plait::all()) -
                       plait::view(north_, plait::range(_, -1), plait::all()));
    carry_dye();
  }

  void report(int step) const {
    const field speed = this->speed();
    const double volume = plait::sum(height_)();
    const double energy = 0.5 * (p_.gravity * plait::sum(plait::square(height_))() +
                                 p_.depth * plait::sum(plait::square(speed))());
    const double rough = plait::stddev(height_)();
    std::printf("step %4d: volume %.8f energy %.8f roughness %.8f fastest %.8f dye %.8f\n", step,
                volume, energy, rough, plait::amax(speed)(), plait::sum(dye_)());
  }

  void summary() const {
    // Where the surface is highest, how rows differ, what is dyed, how heights are spread.
    const long top = plait::argmax(height_)();
    std::printf("highest at (%ld, %ld): %.8f\n", top / p_.columns, top % p_.columns,
                plait::ravel(height_)(top));
    const field by_row = plait::mean(height_, {1});
    const field sorted = plait::sort(by_row);
    std::printf("rows: lowest %.8f middle %.8f highest %.8f\n", sorted(0),
                sorted(sorted.size() / 2), sorted(sorted.size() - 1));
    const field wet = plait::filter(dye_, !land_ && dye_ > 0.01);
    std::printf("dyed cells %zu, median %.8f\n", wet.size(), plait::median(wet)());
    const field clipped = plait::clip(height_, -0.05, 0.05);
    const auto counts = plait::histogram(clipped, 8).counts;
    std::printf("heights:");
    for (auto count : counts) std::printf(" %d", int(count));
    std::printf("\n");
    const field profile = plait::cumsum(plait::view(height_, p_.rows / 2, plait::all()));
    std::printf("volume along the middle: %.8f half way, %.8f in all\n", profile(p_.columns / 2),
                profile(p_.columns - 1));
  }

 private:
  // Nothing flows through the edges of the basin, nor through those of the island.
  void close_coast() {
    plait::view(east_, plait::all(), 0) = 0.0;
    plait::view(east_, plait::all(), -1) = 0.0;
    plait::view(north_, 0, plait::all()) = 0.0;
    plait::view(north_, -1, plait::all()) = 0.0;
    auto beside = plait::view(land_, plait::all(), plait::range(1, _)) ||
                  plait::view(land_, plait::all(), plait::range(_, -1));
    auto across = plait::view(land_, plait::range(1, _), plait::all()) ||
                  plait::view(land_, plait::range(_, -1), plait::all());
    auto between = plait::view(east_, plait::all(), plait::range(1, -1));
    auto above = plait::view(north_, plait::range(1, -1), plait::all());
    between = plait::where(beside, 0.0, between);
    above = plait::where(across, 0.0, above);
  }

  // Upwind: a cell gets what its neighbours lose.
  void carry_dye() {
    const field left = plait::view(dye_, plait::all(), plait::range(_, -1)),
                right = plait::view(dye_, plait::all(), plait::range(1, _));
    const field below = plait::view(dye_, plait::range(_, -1), plait::all()),
                over = plait::view(dye_, plait::range(1, _), plait::all());
    auto u = plait::view(east_, plait::all(), plait::range(1, -1));
    auto v = plait::view(north_, plait::range(1, -1), plait::all());
    const field across =
        p_.dt / p_.dx * (plait::maximum(u, 0.0) * left + plait::minimum(u, 0.0) * right);
    const field up =
        p_.dt / p_.dx * (plait::maximum(v, 0.0) * below + plait::minimum(v, 0.0) * over);
    plait::view(dye_, plait::all(), plait::range(_, -1)) -= across;
    plait::view(dye_, plait::all(), plait::range(1, _)) += across;
    plait::view(dye_, plait::range(_, -1), plait::all()) -= up;
    plait::view(dye_, plait::range(1, _), plait::all()) += up;
  }

  field speed() const {
    auto u = 0.5 * (plait::view(east_, plait::all(), plait::range(1, _)) +
                    plait::view(east_, plait::all(), plait::range(_, -1)));
    auto v = 0.5 * (plait::view(north_, plait::range(1, _), plait::all()) +
                    plait::view(north_, plait::range(_, -1), plait::all()));
    return plait::sqrt(u * u + v * v);
  }

  Parameters p_;
  field height_, east_, north_, dye_, wind_;
  plait::array<bool> land_;
};

int main(int argc, char** argv) {
  Parameters p;
  if (argc > 2) p.rows = std::atol(argv[1]), p.columns = std::atol(argv[2]);
  if (argc > 3) p.steps = std::atoi(argv[3]);
  Basin basin(p);
  for (int step = 0; step <= p.steps; ++step) {
    if (step % 50 == 0) basin.report(step);
    basin.step();
  }
  basin.summary();
}
