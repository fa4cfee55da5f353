// Before libgomp starts threads: it ends the process when it cannot.
#pragma once

namespace plait::engine {

// Whether this thread may open an OpenMP region of so many threads: its team has them already, or
// there is room for them and for a few more. False inside another OpenMP region.
bool openmp_has_threads(int threads);

}  // namespace plait::engine
