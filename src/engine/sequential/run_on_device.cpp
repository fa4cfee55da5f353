// Running the iterations of a sequential program's range on a device, a thread each.
#include <cstring>

#include "array_memory.hpp"
#include "sequential_program.hpp"

namespace plait::engine {
namespace {

constexpr std::size_t kSlot = 16;  // bytes of a result

// Zeros, but for the least iteration that failed: none so far.
std::vector<std::byte> fresh_results(std::size_t count, std::size_t failure) {
  std::vector<std::byte> all(count * kSlot);
  std::fill_n(&all[failure * kSlot], sizeof(std::int64_t), std::byte{0xff});
  return all;
}

// The host has read what the device writes now.
void forget_mirror(const tracer::Array& a) {
  static_cast<DeviceBuffer&>(*a.storage->version->data).mirror = {};
}

}  // namespace

// The failure is the second result.
DeviceKernel* SequentialProgram::on_device(DeviceId id, const Iterations& each, std::string* why) {
  const std::lock_guard held(lock_);
  std::shared_ptr<DeviceKernel>& made = device_kernels_[{id, each}];
  const auto results = static_cast<std::int32_t>(first_result_);
  if (!made)
    made = device_of(id).prepare(
        *kernel_,
        {results, results + 1, results + static_cast<std::int32_t>(each.first_left), each.shared},
        why);
  return made.get();
}

std::string SequentialProgram::why_not_on(DeviceId id, const Iterations& each) {
  if (!addresses_.empty()) return "it has addresses of arrays";
  std::string why;
  on_device(id, each, &why);
  return why;
}

std::optional<std::vector<Scalar>> SequentialProgram::run_on(DeviceId id,
                                                             std::vector<tracer::Array> arrays,
                                                             const std::int64_t* params,
                                                             const Scalar* args, std::int64_t count,
                                                             const Iterations& each) {
  DeviceKernel* const made = on_device(id, each, nullptr);
  if (!made)
    throw CompileError("procedure " + name() + " does not run on '" + devices().name(id) + "'");
  const std::size_t slots = kernel_->buffers.size() - first_result_;
  std::vector<std::byte> results = fresh_results(slots, 1);
  const std::vector<ir::BufferParam> buffers = this->arrays();
  const ArrayMemory memory(std::move(arrays), buffers, id);
  std::vector<void*> pointers(kernel_->buffers.size());
  for (std::size_t n = 0; n < buffers.size(); ++n) pointers[arrays_[n]] = memory.pointers()[n];
  Device& on = device_of(id);
  const KernelExtents extents{params, count};
  if (!on.is_compiled(*made, extents)) on.compile(*made, extents);
  const Ref<Buffer> kept = on.upload(results.data(), results.size(), "results of a loop");
  for (std::size_t n = 0; n < slots; ++n) pointers[first_result_ + n] = kept->data + n * kSlot;
  {
    const std::lock_guard held(tracer::lock());
    for (std::size_t n = 0; n < buffers.size(); ++n)
      if (buffers[n].written) forget_mirror(memory.arrays()[n]);
    on.launch(*made, {pointers.data(), params, args}, extents, {.region = name()});
  }
  on.download(results.data(), kept->data, results.size(), "results of a loop");
  std::int64_t failed = 0;
  std::memcpy(&failed, &results[kSlot], sizeof failed);
  if (failed != -1) return std::nullopt;
  std::vector<Scalar> left(result_count_);
  for (std::size_t n = 0; n < result_count_; ++n) {
    left[n].dtype = kernel_->buffers[first_result_ + n].dtype;
    if (n != 1) std::memcpy(left[n].bytes, &results[n * kSlot], itemsize(left[n].dtype));
  }
  return left;
}

}  // namespace plait::engine
