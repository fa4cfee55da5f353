// The distributions of numpy.random.Generator beyond those that RandomStream draws itself, drawn as
// NumPy draws them. Sources: Marsaglia and Tsang, "A simple method for generating gamma variables"
// (2000); Hoermann, "The transformed rejection method for generating Poisson random variables"
// (1993); Joehnk, "Erzeugung von betaverteilten und gammaverteilten Zufallszahlen" (1964);
// Kachitvichyanukul and Schmeiser, "Binomial random variate generation" (1988); Stadlober, "The
// ratio of uniforms approach for generating discrete random variates" (1990); Best and Fisher,
// "Efficient simulation of the von Mises distribution" (1979); Michael, Schucany and Haas,
// "Generating random variates using transformations with multiple roots" (1976); Kemp, "Efficient
// generation of logarithmically distributed pseudo-random variables" (1981); Devroye, "Non-uniform
// random variate generation" (1986).
#pragma once
#include "random_stream.hpp"

namespace plait::numpy {

double standard_gamma(RandomStream& s, double shape);
float standard_gamma_float(RandomStream& s, float shape);
double chisquare(RandomStream& s, double degrees);
double noncentral_chisquare(RandomStream& s, double degrees, double noncentrality);
double beta(RandomStream& s, double a, double b);
double laplace(RandomStream& s);  // of location 0 and scale 1, as the next two
double logistic(RandomStream& s);
double gumbel(RandomStream& s);
double triangular(RandomStream& s, double left, double mode, double right);
double wald(RandomStream& s, double mean, double scale);
double vonmises(RandomStream& s, double mode, double kappa);
std::int64_t poisson(RandomStream& s, double mean);
std::int64_t geometric(RandomStream& s, double p);
std::int64_t logseries(RandomStream& s, double p);
std::int64_t zipf(RandomStream& s, double a);
std::int64_t hypergeometric(RandomStream& s, std::int64_t good, std::int64_t bad,
                            std::int64_t sample);

// What it works out for n and p stays for the next draw of the same.
class Binomial {
 public:
  std::int64_t operator()(RandomStream& s, std::int64_t n, double p);

 private:
  void prepare();
  std::int64_t invert(RandomStream& s) const;
  std::int64_t reject(RandomStream& s) const;
  std::int64_t n_ = 0, most_ = 0, mode_ = 0;
  double p_ = 0, q_ = 0;  // p_: at most a half
  bool is_small_ = false;
  double none_ = 0;  // the probability of 0
  double triangle_ = 0, center_ = 0, left_ = 0, right_ = 0, c_ = 0, left_rate_ = 0, right_rate_ = 0,
         to_sides_ = 0, to_left_tail_ = 0, to_right_tail_ = 0;
};

// Vectors, into zeros: one of multinomial(), n of the others.
void multinomial(RandomStream& s, Binomial& binomial, std::int64_t n, const double* p,
                 std::int64_t kinds, std::int64_t* out);
void multivariate_hypergeometric(RandomStream& s, const std::vector<std::int64_t>& colors,
                                 std::int64_t sample, bool by_counts, std::int64_t n,
                                 std::int64_t* out);
void dirichlet(RandomStream& s, const std::vector<double>& alpha, std::int64_t n, double* out);

}  // namespace plait::numpy
