#include "core/config.hpp"

namespace plait {

CpuTier detected_tier() { return CpuTier::Baseline; }

bool has_matrix_tiles() { return false; }

}  // namespace plait
