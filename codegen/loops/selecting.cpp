#include "selecting.hpp"

namespace plait::loops {

namespace baseline {
const Selecting& selecting();
}
namespace avx2 {
const Selecting& selecting();
}
namespace avx512 {
const Selecting& selecting();
}

const Selecting& selecting(CpuTier tier) {
  switch (tier) {
    case CpuTier::Avx512:
      return avx512::selecting();
    case CpuTier::Avx2:
      return avx2::selecting();
    default:
      return baseline::selecting();
  }
}

}  // namespace plait::loops
