#include "transport.hpp"

namespace plume {

namespace {

using namespace plait::placeholders;

void check_shape(const char* what, const Field& f, const Parameters& p) {
  if (f.shape() != plait::shape_type{p.rows, p.columns})
    throw plait::ValueError(std::string(what) + " is not of the grid's shape");
}

// What flows through the faces behind the cells along an axis: upwind, and down the slope.
Field flux(const Field& smoke, const Field& courant, double spread, int axis) {
  const Field next = beside(smoke, 1, axis);
  return plait::maximum(courant, 0) * smoke + plait::minimum(courant, 0) * next -
         spread * (next - smoke);
}

}  // namespace

Field beside(const Field& f, int offset, int axis) {
  Field moved = plait::zeros_like(f);
  const auto to = offset > 0 ? plait::range(_, -offset) : plait::range(-offset, _);
  const auto from = offset > 0 ? plait::range(offset, _) : plait::range(_, offset);
  if (axis == 0)
    plait::view(moved, to) = plait::view(f, from);
  else
    plait::view(moved, plait::all(), to) = plait::view(f, plait::all(), from);
  return moved;
}

Transport::Transport(const Parameters& p, const Field& right, const Field& down,
                     const Field& emission)
    : smoke_(plait::zeros<double>({p.rows, p.columns})),
      emission_(emission * p.step),
      right_(right * (p.step / p.spacing)),
      down_(down * (p.step / p.spacing)),
      spread_(p.diffusivity * p.step / (p.spacing * p.spacing)) {
  check_shape("the wind to the right", right, p);
  check_shape("the wind down", down, p);
  check_shape("the emission", emission, p);
  const double fastest =
      plait::amax(plait::abs(right_)).item() + plait::amax(plait::abs(down_)).item();
  if (fastest + 4 * spread_ > 1)
    throw plait::ValueError("the step is too long: the wind crosses " + std::to_string(fastest) +
                            " cells in it");
}

void Transport::advance(int steps) {
  for (int i = 0; i < steps; ++i) {
    const Field out_right = flux(smoke_, right_, spread_, 1);
    const Field out_down = flux(smoke_, down_, spread_, 0);
    smoke_ = smoke_ + emission_ - out_right + beside(out_right, -1, 1) - out_down +
             beside(out_down, -1, 0);
    smoke_.eval();
  }
}

}  // namespace plume
