// Smoke that the wind carries and turbulence spreads: upwind advection and diffusion on a grid.
#pragma once
#include <plait/plait.hpp>

#include "parameters.hpp"

namespace plume {

using Field = plait::array<double>;

class Transport {
 public:
  // wind: two fields of the grid's shape, m/s to the right and down; emission: kg/s of each cell.
  // Throws ValueError for other shapes and for a step that the grid does not allow.
  Transport(const Parameters& p, const Field& right, const Field& down, const Field& emission);

  void advance(int steps);
  const Field& concentration() const { return smoke_; }  // kg a cell
  double mass() const { return plait::sum(smoke_).item(); }
  double highest() const { return plait::amax(smoke_).item(); }

 private:
  Field smoke_, emission_;
  // Courant numbers of the faces to the right of each cell and below it.
  Field right_, down_;
  double spread_;
};

// A cell's value beside it: of the next cell along an axis for offset 1. Nothing comes from
// outside.
Field beside(const Field& f, int offset, int axis);

}  // namespace plume
