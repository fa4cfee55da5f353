// Copies between the host and one device. They go through two pinned buffers in turn, so that the
// host fills or empties one while the device moves the other.
#pragma once
#include <mutex>
#include <string_view>

#include "context.hpp"
#include "pool.hpp"

namespace plait::gpu {

class Transfer {
 public:
  explicit Transfer(Context& context) : context_(context) {}

  // Into memory that was given out and not used yet, whose last use is that. Long copies go beside
  // what the device is doing; what is submitted afterwards finds them done. Returns when `from` may
  // be changed.
  void upload(Address to, const void* from, std::size_t bytes, std::string_view why,
              const LastUse& last);
  // Returns when the bytes have come.
  void download(void* to, Address from, std::size_t bytes, std::string_view why);

 private:
  struct Staging {
    void* memory = nullptr;
    EventHandle done = nullptr;
    bool busy = false;
  };
  Staging& ready(int i);
  void submit(Address to, const void* from, std::size_t bytes, StreamHandle stream);
  void log_copy(bool to_device, std::size_t bytes, std::string_view why) const;

  Context& context_;
  std::mutex mutex_;
  Staging staging_[2];
  EventHandle arrived_ = nullptr;
};

}  // namespace plait::gpu
