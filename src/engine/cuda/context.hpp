// One GPU: its primary context, which CuPy and PyTorch share, one stream in whose order all of
// Plait's work on it runs, and the errors of that work as exceptions.
#pragma once
#include <atomic>
#include <mutex>
#include <string>
#include <vector>

#include "driver.hpp"

namespace plait::gpu {

struct Properties {
  std::string name;
  int compute_capability = 0;  // 90: sm_90
  int multiprocessors = 0;
  int shared_per_block = 0;  // bytes, with opt-in
  int shared_per_sm = 0;
  std::size_t memory = 0;
  // 0: the driver does not say. Cycles a second, bytes of the cache, bytes of memory a second.
  double clock = 0;
  std::int64_t cache = 0;
  double memory_rate = 0;
};

class Context {
 public:
  // Throws DeviceError when there is no device of this number.
  explicit Context(int ordinal);

  const Driver& api;
  const int ordinal;
  const Properties& properties() const { return properties_; }
  StreamHandle stream() const { return stream_; }
  // For copies from the host that nothing under way has to do with.
  StreamHandle copies() const { return copies_; }
  std::string label() const { return "cuda:" + std::to_string(ordinal); }

  // Makes the context current for a scope of this thread; a thread that had none keeps it, as with
  // CUDA's runtime. Throws DeviceError in a child of fork() and after the device was lost.
  class Current {
   public:
    explicit Current(const Context& c);
    ~Current();
    Current(const Current&) = delete;

   private:
    const Driver* pushed_ = nullptr;
  };

  // Throws DeviceError unless `r` is success: what was done, what the driver says and, for work
  // that fails after its call has returned, which regions were under way.
  void check(Result r, const char* what);
  // Waits for the stream.
  void synchronise();
  // Waits for the streams of other programs, too.
  void synchronise_all();
  // Remembers a region that was launched, for check().
  void note_launch(std::string_view region, std::uint32_t site);

  // Orders this context's stream after what another stream holds now, and the other way round.
  void wait_for(StreamHandle other);
  void let_wait(StreamHandle other);

 private:
  void order(StreamHandle first, StreamHandle then);
  std::string under_way() const;

  DeviceHandle device_ = 0;
  ContextHandle context_ = nullptr;
  StreamHandle stream_ = nullptr, copies_ = nullptr;
  Properties properties_;
  std::mutex mutex_;  // guards the launches
  struct Launched {
    std::string region;
    std::uint32_t site;
  };
  std::vector<Launched> launches_;
  std::size_t next_launch_ = 0;
  std::string lost_;  // why, once it was
  std::atomic<bool> is_lost_{false};
};

// True in a child of a process that had used a device.
bool forked();
int device_count();
// Of the device that memory lies on. Throws DeviceError for memory of none.
int ordinal_of(const void* memory);

}  // namespace plait::gpu
