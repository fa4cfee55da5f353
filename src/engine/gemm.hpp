#pragma once

namespace plait::engine {

// Gives the reference evaluator's matrix product a BLAS, if one is found when it is first needed.
void install_blas();

}  // namespace plait::engine
