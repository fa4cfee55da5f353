// Which matrix products are regions with what stands before and after them, and which stay library
// calls.
#pragma once
#include <initializer_list>
#include <optional>
#include <vector>

#include "attention.hpp"
#include "fusion/graph/plan_graph.hpp"
#include "fusion/lower/lower.hpp"

namespace plait::fusion {

// A block of a product: so many rows at a time, so many columns.
struct TileShape {
  std::int64_t rows, columns;
};
// Whether a product is large enough for the first of an attention, and for tiles of a region.
enum class ProductClass : std::uint8_t { Small, Medium, Large };
ProductClass product_class(const Node& product);

// `whole`: all columns of a row are kept.
TileShape tile_shape(const PlanGraph& g, std::int32_t product, bool whole,
                     const ProductBlocks& most);

// Products of as many elements as the weights, which these are computed from, and what is read: a
// view of all of it, or the product.
struct Scores {
  std::int32_t product, read;
};
std::vector<Scores> products_before(const PlanGraph& g, const std::vector<std::int32_t>& canon,
                                    std::int32_t weights);

// Rows of a block of an attention whose scores are computed so many columns at a time.
std::int64_t attention_rows(const PlanGraph& g, const Attention& a, std::int64_t columns);

// Whether a region could compute the product: a float one whose blocks are worth packing and fit
// the cache.
bool fits_tiles(const PlanGraph& g, std::int32_t node, const Target& target);

// Whether one operand of the product is the other with its rows for its columns: a library computes
// half of that. By where they lie now; no code relies on it.
bool by_own_transpose(const PlanGraph& g, const std::vector<std::int32_t>& canon,
                      std::int32_t product);

// Whether each row of `node` follows from the same row of its operand, whose rows follow from those
// of a product of that shape.
bool follows_rows(const PlanGraph& g, std::int32_t node, std::int32_t operand,
                  const Numbers& product);

// The same of a product, or whether the elements of `node` follow from its operand's, those of the
// product in some order of its axes.
bool follows_product(const PlanGraph& g, std::int32_t node, std::int32_t operand,
                     std::int32_t product);

// The chains of these products that are summed in one block.
std::vector<SummedProducts> summed_products(const PlanGraph& g,
                                            const std::vector<std::int32_t>& canon,
                                            const std::vector<std::int32_t>& products,
                                            const Target& target);

// Which of the axes of a product each axis of such a node is; -1 for one of extent 1.
std::optional<Dims> axes_of_product(const PlanGraph& g, const std::vector<std::int32_t>& canon,
                                    std::int32_t node, std::int32_t product);

// What a region takes for a product beside the multiplications, about, in seconds.
double tiling_seconds(const Target& target, const PlanGraph& g, std::int32_t product);

}  // namespace plait::fusion
