// cuBLASLt, opened when a product is first wanted on a device. Its functions and the
// values of its enumerations (part of its binary interface, as NVIDIA documents them) are declared
// here, as far as they are used; they are the same in versions 12 and 13.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "driver.hpp"

namespace plait::gpu::lt {

using Status = int;
using Handle = struct cublasLtContext*;
using Description = struct cublasLtMatmulDescOpaque*;
using Layout = struct cublasLtMatrixLayoutOpaque*;
using Preference = struct cublasLtMatmulPreferenceOpaque*;
using Stream = StreamHandle;

inline constexpr Status kSuccess = 0;
// cudaDataType_t
inline constexpr int kR32F = 0, kR64F = 1, kR16F = 2, kC32F = 4, kC64F = 5;
// cublasComputeType_t: float32 is multiplied as float32, not as TF32
inline constexpr int kCompute32F = 68, kCompute64F = 70;
// cublasOperation_t
inline constexpr std::int32_t kAsItIs = 0, kTransposed = 1;
// cublasLtMatmulDescAttributes_t
inline constexpr int kDescriptionTransA = 3, kDescriptionTransB = 4, kDescriptionEpilogue = 7,
                     kDescriptionBias = 8;
// cublasLtEpilogue_t. Its ReLU is not used: nothing says that it keeps NaN, as NumPy's maximum
// does.
inline constexpr std::uint32_t kAddBias = 4;
// cublasLtMatrixLayoutAttribute_t
inline constexpr int kLayoutBatchCount = 5, kLayoutBatchStride = 6;
// cublasLtMatmulPreferenceAttributes_t
inline constexpr int kPreferWorkspace = 1, kPreferReductions = 3, kPreferAlignmentA = 5,
                     kPreferAlignmentB = 6, kPreferAlignmentC = 7, kPreferAlignmentD = 8,
                     kPreferImplementations = 12;
// cublasLtReductionScheme_t: partial sums of a product that is split along k are added in the type
// of the computation
inline constexpr std::uint32_t kReduceInComputeType = 2;
// cublasLtNumericalImplFlags_t: complex products of three real ones (Gauss), whose parts are less
// exact than those of NumPy's four
inline constexpr std::uint64_t kThreeMultiplications = 1ull << 32;

struct Algorithm {
  std::uint64_t data[8];
};
struct HeuristicResult {
  Algorithm algorithm;
  std::size_t workspace;
  Status state;
  float waves;
  int reserved[4];
};

// X(member, function, parameters); matrices are in column-major order
#define PLAIT_CUBLASLT(X)                                                                          \
  X(create, cublasLtCreate, (Handle*))                                                             \
  X(description_create, cublasLtMatmulDescCreate, (Description*, int compute, int scale_type))     \
  X(description_destroy, cublasLtMatmulDescDestroy, (Description))                                 \
  X(description_set, cublasLtMatmulDescSetAttribute, (Description, int, const void*, std::size_t)) \
  X(layout_create, cublasLtMatrixLayoutCreate,                                                     \
    (Layout*, int type, std::uint64_t rows, std::uint64_t columns, std::int64_t ld))               \
  X(layout_destroy, cublasLtMatrixLayoutDestroy, (Layout))                                         \
  X(layout_set, cublasLtMatrixLayoutSetAttribute, (Layout, int, const void*, std::size_t))         \
  X(preference_create, cublasLtMatmulPreferenceCreate, (Preference*))                              \
  X(preference_destroy, cublasLtMatmulPreferenceDestroy, (Preference))                             \
  X(preference_set, cublasLtMatmulPreferenceSetAttribute,                                          \
    (Preference, int, const void*, std::size_t))                                                   \
  X(heuristic, cublasLtMatmulAlgoGetHeuristic,                                                     \
    (Handle, Description, Layout a, Layout b, Layout c, Layout d, Preference, int wanted,          \
     HeuristicResult*, int* found))                                                                \
  X(multiply, cublasLtMatmul,                                                                      \
    (Handle, Description, const void* alpha, const void* a, Layout, const void* b, Layout,         \
     const void* beta, const void* c, Layout, void* d, Layout, const Algorithm*, void* workspace,  \
     std::size_t, Stream))

struct Library {
#define PLAIT_CUBLASLT_MEMBER(member, symbol, parameters) Status(*member) parameters = nullptr;
  PLAIT_CUBLASLT(PLAIT_CUBLASLT_MEMBER)
#undef PLAIT_CUBLASLT_MEMBER
  bool found = false;
  std::string path;
  std::string why;    // it was not found
  std::string tried;  // what was found before it and did not do, a line each
};
// The first library that has these functions and that starts: `start` gives what is wrong, or
// nothing.
Library open(const std::function<std::string(const Library&)>& start);

}  // namespace plait::gpu::lt
