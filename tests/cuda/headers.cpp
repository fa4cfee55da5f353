// What Plait declares by itself of the driver, NVRTC and cuBLASLt, against NVIDIA's headers. Built
// where CMake finds them.
#include <cublasLt.h>
#include <cuda.h>
#include <nvrtc.h>

#include <catch2/catch.hpp>
#include <cstddef>
#include <type_traits>

#include "codegen/cuda/nvrtc.hpp"
#include "engine/cuda/cublaslt.hpp"
#include "engine/cuda/driver.hpp"

namespace {

// Whether the calling convention passes both alike. Handles are pointers to structures that Plait
// knows by name only, enumerations are integers.
template <class A, class B>
constexpr bool alike() {
  if constexpr (std::is_pointer_v<A> && std::is_pointer_v<B>) {
    using X = std::remove_pointer_t<A>;
    using Y = std::remove_pointer_t<B>;
    constexpr bool opaque =
        std::is_void_v<X> || std::is_void_v<Y> || (std::is_class_v<X> && std::is_class_v<Y>);
    if constexpr (opaque)
      return true;
    else
      return std::is_const_v<X> == std::is_const_v<Y> &&
             alike<std::remove_cv_t<X>, std::remove_cv_t<Y>>();
  } else if constexpr (std::is_pointer_v<A> || std::is_pointer_v<B>) {
    return false;
  } else {
    return sizeof(A) == sizeof(B) && std::is_floating_point_v<A> == std::is_floating_point_v<B>;
  }
}
template <class R, class... P, class S, class... Q>
constexpr bool alike(R (*)(P...), S (*)(Q...)) {
  if constexpr (sizeof...(P) != sizeof...(Q))
    return false;
  else
    return alike<R, S>() && (alike<P, Q>() && ...);
}
static_assert(alike<int, CUresult>() && alike<void**, nvrtcProgram*>() && !alike<int, double>() &&
              !alike<int*, long*>() && !alike<int*, int>());
static_assert(!alike(static_cast<int (*)(int, int)>(nullptr), static_cast<int (*)(int)>(nullptr)));

using plait::cuda::Nvrtc;
using plait::cuda::ProgramHandle;
using namespace plait::gpu;

#define PLAIT_CHECK_FUNCTION(member, function, parameters)                                  \
  static_assert(alike(static_cast<Result(*) parameters>(nullptr), decltype(&::function){}), \
                #function);
PLAIT_CUDA_DRIVER(PLAIT_CHECK_FUNCTION)
#undef PLAIT_CHECK_FUNCTION
#define PLAIT_CHECK_FUNCTION(member, function, result, parameters) \
  static_assert(alike(decltype(Nvrtc::member){}, decltype(&::function){}), #function);
PLAIT_NVRTC(PLAIT_CHECK_FUNCTION)
#undef PLAIT_CHECK_FUNCTION
#define PLAIT_CHECK_FUNCTION(member, function, parameters) \
  static_assert(alike(decltype(lt::Library::member){}, decltype(&::function){}), #function);
PLAIT_CUBLASLT(PLAIT_CHECK_FUNCTION)
#undef PLAIT_CHECK_FUNCTION

// --- the driver

static_assert(kSuccess == CUDA_SUCCESS && kOutOfMemory == CUDA_ERROR_OUT_OF_MEMORY &&
              kNotReady == CUDA_ERROR_NOT_READY);
static_assert(kAttributeMultiprocessors == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT &&
              kAttributeMajor == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR &&
              kAttributeMinor == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR &&
              kAttributeSharedPerSm == CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR &&
              kAttributeSharedOptIn == CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
static_assert(kFunctionMaxDynamicShared == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
static_assert(kStreamNonBlocking == CU_STREAM_NON_BLOCKING &&
              kEventNoTiming == CU_EVENT_DISABLE_TIMING && kMemoryDevice == CU_MEMORYTYPE_DEVICE &&
              kPointerDeviceOrdinal == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL);
static_assert(std::is_same_v<Address, CUdeviceptr> && std::is_same_v<DeviceHandle, CUdevice>);

static_assert(sizeof(Copy2D) == sizeof(CUDA_MEMCPY2D));
#define PLAIT_CHECK_MEMBER(ours, theirs)                                     \
  static_assert(offsetof(Copy2D, ours) == offsetof(CUDA_MEMCPY2D, theirs) && \
                sizeof(Copy2D::ours) == sizeof(CUDA_MEMCPY2D::theirs))
PLAIT_CHECK_MEMBER(from_x, srcXInBytes);
PLAIT_CHECK_MEMBER(from_y, srcY);
PLAIT_CHECK_MEMBER(from_kind, srcMemoryType);
PLAIT_CHECK_MEMBER(from_host, srcHost);
PLAIT_CHECK_MEMBER(from, srcDevice);
PLAIT_CHECK_MEMBER(from_array, srcArray);
PLAIT_CHECK_MEMBER(from_pitch, srcPitch);
PLAIT_CHECK_MEMBER(to_x, dstXInBytes);
PLAIT_CHECK_MEMBER(to_y, dstY);
PLAIT_CHECK_MEMBER(to_kind, dstMemoryType);
PLAIT_CHECK_MEMBER(to_host, dstHost);
PLAIT_CHECK_MEMBER(to, dstDevice);
PLAIT_CHECK_MEMBER(to_array, dstArray);
PLAIT_CHECK_MEMBER(to_pitch, dstPitch);
PLAIT_CHECK_MEMBER(width, WidthInBytes);
PLAIT_CHECK_MEMBER(height, Height);
#undef PLAIT_CHECK_MEMBER

// --- NVRTC, whose results are compared with 0

static_assert(NVRTC_SUCCESS == 0);

// --- cuBLASLt

static_assert(lt::kSuccess == CUBLAS_STATUS_SUCCESS);
static_assert(lt::kR32F == CUDA_R_32F && lt::kR64F == CUDA_R_64F && lt::kR16F == CUDA_R_16F &&
              lt::kC32F == CUDA_C_32F && lt::kC64F == CUDA_C_64F);
static_assert(lt::kCompute32F == CUBLAS_COMPUTE_32F && lt::kCompute64F == CUBLAS_COMPUTE_64F);
static_assert(lt::kAsItIs == CUBLAS_OP_N && lt::kTransposed == CUBLAS_OP_T &&
              sizeof(lt::kAsItIs) == sizeof(cublasOperation_t));
static_assert(lt::kDescriptionTransA == CUBLASLT_MATMUL_DESC_TRANSA &&
              lt::kDescriptionTransB == CUBLASLT_MATMUL_DESC_TRANSB &&
              lt::kDescriptionEpilogue == CUBLASLT_MATMUL_DESC_EPILOGUE &&
              lt::kDescriptionBias == CUBLASLT_MATMUL_DESC_BIAS_POINTER);
static_assert(lt::kAddBias == CUBLASLT_EPILOGUE_BIAS &&
              sizeof(lt::kAddBias) == sizeof(cublasLtEpilogue_t));
static_assert(lt::kLayoutBatchCount == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT &&
              lt::kLayoutBatchStride == CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET);
static_assert(lt::kPreferWorkspace == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES &&
              lt::kPreferReductions == CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK &&
              lt::kPreferAlignmentA == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES &&
              lt::kPreferAlignmentB == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES &&
              lt::kPreferAlignmentC == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES &&
              lt::kPreferAlignmentD == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES &&
              lt::kPreferImplementations == CUBLASLT_MATMUL_PREF_IMPL_MASK);
static_assert(lt::kReduceInComputeType == CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE);
static_assert(lt::kThreeMultiplications == CUBLASLT_NUMERICAL_IMPL_FLAGS_GAUSSIAN);

static_assert(sizeof(lt::Algorithm) == sizeof(cublasLtMatmulAlgo_t) &&
              sizeof(lt::HeuristicResult) == sizeof(cublasLtMatmulHeuristicResult_t) &&
              offsetof(lt::HeuristicResult, workspace) ==
                  offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize) &&
              offsetof(lt::HeuristicResult, state) ==
                  offsetof(cublasLtMatmulHeuristicResult_t, state) &&
              offsetof(lt::HeuristicResult, waves) ==
                  offsetof(cublasLtMatmulHeuristicResult_t, wavesCount));

}  // namespace

TEST_CASE("the driver's handles and errors are those of its header") {
  CHECK(reinterpret_cast<CUstream>(kLegacyStream) == CU_STREAM_LEGACY);
  for (CUresult lost :
       {CUDA_ERROR_DEVICE_UNAVAILABLE, CUDA_ERROR_INVALID_CONTEXT, CUDA_ERROR_ECC_UNCORRECTABLE,
        CUDA_ERROR_NVLINK_UNCORRECTABLE, CUDA_ERROR_ILLEGAL_ADDRESS, CUDA_ERROR_LAUNCH_TIMEOUT,
        CUDA_ERROR_CONTEXT_IS_DESTROYED, CUDA_ERROR_ASSERT, CUDA_ERROR_HARDWARE_STACK_ERROR,
        CUDA_ERROR_ILLEGAL_INSTRUCTION, CUDA_ERROR_MISALIGNED_ADDRESS,
        CUDA_ERROR_INVALID_ADDRESS_SPACE, CUDA_ERROR_INVALID_PC, CUDA_ERROR_LAUNCH_FAILED,
        CUDA_ERROR_UNKNOWN})
    CHECK(is_fatal(lost));
#if CUDA_VERSION >= 12080
  CHECK(is_fatal(CUDA_ERROR_CONTAINED));
#endif
  for (CUresult other : {CUDA_ERROR_OUT_OF_MEMORY, CUDA_ERROR_INVALID_VALUE,
                         CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, CUDA_ERROR_NOT_READY})
    CHECK_FALSE(is_fatal(other));
}
