// Lanes apart and together. A lane of complex numbers is two elements of the vector.
#include <numeric>

#include "emitter.hpp"

namespace plait::jit {
using namespace llvm;
namespace {

using Picks = SmallVector<int, 64>;

int elements(llvm::Value* v) {
  auto* t = dyn_cast<FixedVectorType>(v->getType());
  return t ? static_cast<int>(t->getNumElements()) : 1;
}

}  // namespace

llvm::Value* Emitter::splat(llvm::Value* v, int width) {
  if (!v->getType()->isVectorTy()) return b_.CreateVectorSplat(static_cast<unsigned>(width), v);
  Picks pick;
  for (int l = 0; l < width; ++l) pick.append({0, 1});
  return b_.CreateShuffleVector(v, pick);
}

int Emitter::lane_count(DType t, llvm::Value* v) {
  return is_complex(t) ? elements(v) / 2 : elements(v);
}

llvm::Value* Emitter::lane(DType t, llvm::Value* v, int l) {
  if (is_complex(t)) return b_.CreateShuffleVector(v, {2 * l, 2 * l + 1});
  return b_.CreateExtractElement(v, static_cast<std::uint64_t>(l));
}

llvm::Value* Emitter::with_lane(DType t, llvm::Value* v, llvm::Value* x, int l) {
  if (!is_complex(t)) return b_.CreateInsertElement(v, x, static_cast<std::uint64_t>(l));
  for (int i = 0; i < 2; ++i)
    v = b_.CreateInsertElement(v, b_.CreateExtractElement(x, static_cast<std::uint64_t>(i)),
                               static_cast<std::uint64_t>(2 * l + i));
  return v;
}

llvm::Value* Emitter::lanes_from(DType t, llvm::Value* v, int first, int count) {
  const int each = is_complex(t) ? 2 : 1;
  Picks pick(static_cast<std::size_t>(each * count));
  std::iota(pick.begin(), pick.end(), each * first);
  return b_.CreateShuffleVector(v, pick);
}

llvm::Value* Emitter::every_second(DType t, llvm::Value* v, int first) {
  const int n = lane_count(t, v), each = is_complex(t) ? 2 : 1;
  if (n == 2) return lane(t, v, first);
  Picks pick;
  for (int l = first; l < n; l += 2)
    for (int i = 0; i < each; ++i) pick.push_back(each * l + i);
  return b_.CreateShuffleVector(v, pick);
}

llvm::Value* Emitter::mask_for(DType t, llvm::Value* mask) {
  if (!is_complex(t) || !mask->getType()->isVectorTy()) return mask;
  Picks twice;
  for (int l = 0; l < elements(mask); ++l) twice.append({l, l});
  return b_.CreateShuffleVector(mask, twice);
}

}  // namespace plait::jit
