// Running the iterations of a procedure's range on a device, a thread each.
#include "ndarray.hpp"  // Python's headers first

#include "engine/devices/device.hpp"
#include "functions.hpp"
#include "procedure.hpp"
#include "procedure_memory.hpp"
#include "tracer/context.hpp"
#include "tracer/device.hpp"

namespace pb = pybind11;

namespace plait::py {
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
engine::DeviceKernel* Procedure::on_device(DeviceId id, std::size_t first_left, Index shared,
                                           std::string* why) {
  std::shared_ptr<engine::DeviceKernel>& made = device_kernels_[id];
  const auto results = static_cast<std::int32_t>(first_result_);
  if (!made)
    made = engine::device_of(id).prepare(
        kernel(),
        {results, results + 1, results + static_cast<std::int32_t>(first_left),
         static_cast<std::int32_t>(shared)},
        why);
  return made.get();
}

std::string Procedure::why_not_on(const std::string& device, std::size_t first_left, Index shared) {
  if (!addresses_.empty()) return "it has addresses of arrays";
  std::string why;
  on_device(devices().open(device), first_left, shared, &why);
  return why;
}

pb::object Procedure::run_on(const std::string& device, const pb::sequence& arrays,
                             const pb::sequence& params, const pb::sequence& args,
                             std::int64_t count, std::size_t first_left, Index shared) {
  const ir::Kernel& k = kernel();
  const DeviceId id = devices().open(device);
  engine::DeviceKernel* const made = on_device(id, first_left, shared, nullptr);
  if (!made) throw CompileError("procedure " + name_ + " does not run on '" + device + "'");
  const RunNumbers numbers = run_numbers(arrays, params, args);
  const std::size_t slots = k.buffers.size() - first_result_;
  std::vector<std::byte> results = fresh_results(slots, 1);
  {
    std::vector<ir::BufferParam> buffers;
    for (const std::size_t b : arrays_) buffers.push_back(k.buffers[b]);
    const std::vector<tracer::Array> given = arrays_of(arrays, buffers);
    const ArrayMemory memory(given, buffers, id);
    std::vector<void*> pointers(k.buffers.size());
    for (std::size_t n = 0; n < given.size(); ++n) pointers[arrays_[n]] = memory.pointers()[n];
    without_gil([&] {
      engine::Device& on = engine::device_of(id);
      const engine::KernelExtents extents{numbers.params.data(), count};
      if (!on.is_compiled(*made, extents)) on.compile(*made, extents);
      const Ref<Buffer> kept = on.upload(results.data(), results.size(), "results of a loop");
      for (std::size_t n = 0; n < slots; ++n) pointers[first_result_ + n] = kept->data + n * kSlot;
      {
        const std::lock_guard held(tracer::lock());
        for (std::size_t n = 0; n < given.size(); ++n)
          if (buffers[n].written) forget_mirror(given[n]);
        on.launch(*made, {pointers.data(), numbers.params.data(), numbers.args.data()}, extents,
                  {.region = name_});
      }
      on.download(results.data(), kept->data, results.size(), "results of a loop");
    });
  }
  std::int64_t failed = 0;
  std::memcpy(&failed, &results[kSlot], sizeof failed);
  if (failed != -1) return pb::none();
  pb::list left;
  for (std::size_t n = 0; n < results_.size(); ++n) {
    Scalar s;
    s.dtype = k.buffers[first_result_ + n].dtype;
    if (n != 1) std::memcpy(s.bytes, &results[n * kSlot], itemsize(s.dtype));
    left.append(pb::reinterpret_steal<pb::object>(check(python_number(s))));
  }
  return left;
}

}  // namespace plait::py
