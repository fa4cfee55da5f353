// Elements that are counted or summed by bins.
#pragma once
#include <cstddef>
#include <cstdint>

namespace plait::engine {

// out[b] = how many of n integers, `stride` bytes apart, are b. Every one is below `bins`.
void count_bins(const std::byte* at, std::int64_t stride, std::int64_t n, std::int64_t* out,
                std::int64_t bins);

// out[b] = the sum of the weights whose at is b, in the order of scatter.hpp.
void sum_bins(const std::int64_t* at, const double* weights, std::int64_t n, double* out,
              std::int64_t bins);

// out[b] = how many values lie in [edges[b], edges[b + 1]), the last bin with its upper edge;
// `edges` are bins + 1 and equally far apart. What lies outside, and NaN, is in none.
void count_in_range(const double* values, std::int64_t n, const double* edges, std::int64_t bins,
                    std::int64_t* out);

}  // namespace plait::engine
