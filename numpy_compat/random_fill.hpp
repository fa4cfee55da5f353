// Many numbers of a stream, by the engine's threads: the same, in the same order, as if they were
// drawn one after the other.
#pragma once
#include "random_stream.hpp"

namespace plait::numpy {

// location + scale * x. Of location -0.0 and scale 1 that is x, whatever x is.
struct Affine {
  double location = -0.0, scale = 1;
};
void fill_uniform(RandomStream& s, double* out, std::int64_t n, Affine to = {});
void fill_normal(RandomStream& s, double* out, std::int64_t n, Affine to = {});
void fill_exponential(RandomStream& s, double* out, std::int64_t n, Affine to = {});
void fill_uniform(RandomStream& s, float* out, std::int64_t n);
void fill_normal(RandomStream& s, float* out, std::int64_t n);
void fill_exponential(RandomStream& s, float* out, std::int64_t n);
// low + [0, most], of 32 or 64 bits.
template <class T>
void fill_integers(RandomStream& s, T* out, std::int64_t n, std::uint64_t low, std::uint64_t most);

}  // namespace plait::numpy
