// The distributions of numpy.random.Generator beyond those that RandomStream draws itself, drawn as
// NumPy draws them. Sources: Marsaglia and Tsang, "A simple method for generating gamma variables"
// (2000); Hoermann, "The transformed rejection method for generating Poisson random variables"
// (1993); Joehnk, "Erzeugung von betaverteilten und gammaverteilten Zufallszahlen" (1964).
#pragma once
#include "random_stream.hpp"

namespace plait::numpy {

double standard_gamma(RandomStream& s, double shape);
double beta(RandomStream& s, double a, double b);
double laplace(RandomStream& s);  // of location 0 and scale 1, as the next two
double logistic(RandomStream& s);
double gumbel(RandomStream& s);
double triangular(RandomStream& s, double left, double mode, double right);
std::int64_t poisson(RandomStream& s, double mean);
std::int64_t geometric(RandomStream& s, double p);

}  // namespace plait::numpy
