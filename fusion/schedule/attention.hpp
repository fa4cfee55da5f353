// Attention, by its dataflow: a product, elementwise changes of it, a softmax over its rows with or
// without the subtraction of their maxima, and a product of that. What the softmax divides by may
// be taken out of the second product, so that the three of them are sums over blocks of columns.
#pragma once
#include <optional>
#include <vector>

#include "fusion/graph/graph.hpp"
#include "fusion/lower/lower.hpp"

namespace plait::fusion {

struct Attention {
  std::int32_t product = -1, scores = -1;  // the second MatMul and the first
  std::int32_t weights = -1;               // the rows of the second one, and what the sum is of
  std::int32_t sum = -1, summed = -1;
  std::int32_t maximum = -1, compared = -1;  // and what it is of; -1: nothing is subtracted
  // The division by the sum, where it stands before the second product: of which operand, and the
  // reciprocal of the sum if it is a product with that; -1: none.
  std::int32_t quotient = -1, reciprocal = -1;
  int divided = 0;
  OpId exponential = OpId::Exp;
  // One number that the difference from the maximum is multiplied by, or divided; -1: none.
  std::int32_t scale = -1;
  OpId scaled_by = OpId::Multiply;
  // Scalars that are relied on to be zero: what weights are where a mask says so.
  std::vector<std::int32_t> zeros;
  // Whether the largest weight of a row is 1: the exponential of the difference from the maximum.
  bool peaks_at_one = false;
  // What is compared, or without a maximum the exponential's operand, is `fill` where the mask is
  // false, or true if inverted: one number. -1: no such mask.
  std::int32_t mask = -1, fill = -1;
  bool inverted = false;
  // Whether the scores themselves are of no use once what is compared is known.
  bool replaced = false;
  ProductBlocks blocks;              // of the target
  std::vector<std::int32_t> inside;  // what is computed in blocks: no node of it can be in memory,
                                     // but maximum and sum
};

std::optional<Attention> find_attention(const Graph& g, const std::vector<std::int32_t>& canon,
                                        std::int32_t product, const Target& target);

}  // namespace plait::fusion
