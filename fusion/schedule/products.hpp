// What a candidate computes in the blocks of its products that are regions, and what it has to have
// in memory for them.
#pragma once
#include <optional>

#include "candidate.hpp"

namespace plait::fusion {

// Whether the value of `node` follows from a product in blocks.
bool reaches_product(const Candidate& c, std::int32_t node);
// The write that an operand shows and that needs no memory; -1: none.
std::int32_t parts_under(const Candidate& c, std::int32_t operand);
// Whether something the operand is made of is found in parts.
bool made_of_parts(const Candidate& c, std::int32_t operand);
// Bytes of writes without memory that the product reads.
std::int64_t packed_bytes(const Candidate& c, std::int32_t product);
// Whether a region of the product may compute `reader` from `value` in its blocks.
bool in_blocks(const Candidate& c, std::int32_t reader, std::int32_t value, std::int32_t product);
// A fold of whole rows, which blocks of columns do not have.
bool folds_apart(const Candidate& c, std::int32_t reader, std::int32_t product);
// Whether something stands before the product.
bool computes_rows(const Candidate& c, std::int32_t product);
// What it takes longer, in seconds, to compute the second operand where it is packed, for every
// block of rows, than to compute it once; nothing where it is in memory, or where to store it is
// less.
std::optional<double> computes_columns(const Candidate& c, std::int32_t product);
// Whether the keys of an attention, or its values, are computed where they are packed, which every
// block of rows does.
bool computes_keys(const Candidate& c, const Attention& a, std::int32_t operand);
// What computing an element of a value costs, down to what is in memory; nothing where others need
// it there.
std::optional<double> computing_cost(const Candidate& c, std::int32_t value);
// A value of each row of the attention in whose blocks it is computed.
bool is_row_value(const Candidate& c, std::int32_t node);
// A view that shows axes of a value as one, or one as several, of which loops have the digits.
bool merges_axes(const PlanNode& view);

}  // namespace plait::fusion
