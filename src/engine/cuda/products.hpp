// Matrix products of one device through cuBLASLt, on the context's stream, with a bias in its
// epilogue, or a matrix C (beta is 1) in the place of a residual. What was found out about a
// product (its descriptors and the algorithm) is kept, so that a product of known extents costs a
// look-up and one call.
#pragma once
#include <compare>
#include <map>
#include <memory>
#include <mutex>

#include "context.hpp"
#include "cublaslt.hpp"
#include "engine/devices/device.hpp"
#include "pool.hpp"

namespace plait::gpu {

class Products {
 public:
  Products(Context& context, Pool& pool) : context_(context), pool_(pool) {}

  // float16 (summed in float32), float32, float64, complex64 and complex128.
  static bool takes(DType t);
  // The same, where the library is there. The first call opens it, and says in PLAIT_LOG=fallback
  // that it is missing.
  bool available(DType t);
  // False when the library has no algorithm for these operands, or none that adds the bias: nothing
  // was done. Throws std::bad_alloc, DeviceError.
  bool multiply(const engine::DeviceProduct& p, const engine::LaunchSite& site);

 private:
  struct Prepared;
  // Everything that decides descriptors and algorithm. Leading dimensions and steps from a batch to
  // the next in elements, alignments in bytes.
  struct Key {
    DType dtype;
    std::int64_t m, n, k;
    bool transposed_a, transposed_b, biased;
    std::int64_t ld_a, ld_b, batch, step_a, step_b;
    std::uint32_t aligned_a, aligned_b, aligned_c, aligned_d;
    auto operator<=>(const Key&) const = default;
  };

  // The caller holds the mutex. The bias is any that the key describes.
  std::shared_ptr<const Prepared> prepared(const Key& key, const void* bias);
  void open();

  Context& context_;
  Pool& pool_;
  std::once_flag opened_;
  lt::Library library_;
  lt::Handle handle_ = nullptr;
  std::mutex mutex_;  // guards the table and the bias of its descriptions
  std::map<Key, std::shared_ptr<const Prepared>> prepared_;
};

}  // namespace plait::gpu
