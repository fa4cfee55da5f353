// The pages of this library's own machine code.
#pragma once

namespace plait::engine {

// Maps those that are in memory anyway, all at once: one by one, as first calls come to them, they
// take 10 us each. What would have to be read from a disk is left alone.
void map_own_code() noexcept;

}  // namespace plait::engine
