#include "pooled_memory.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>

#include "core/buffer.hpp"

namespace plait::py {
namespace {

// In front of what NumPy gets, which stays aligned to cache lines.
struct Header {
  Ref<Buffer> memory;  // null: malloc's
  std::size_t bytes;
  std::byte rest[48];
};
static_assert(sizeof(Header) == 64);
// Zeros from here on are the system's: whoever asks for them may touch few of them.
constexpr std::size_t kUntouched = std::size_t{4} << 20;

Header* header_of(void* p) { return static_cast<Header*>(p) - 1; }

void* pooled(void*, std::size_t bytes) noexcept {
  if (bytes > std::numeric_limits<std::size_t>::max() - sizeof(Header)) return nullptr;
  try {
    Ref<Buffer> memory = allocate(bytes + sizeof(Header));
    std::byte* const at = memory->data;
    return new (at) Header{std::move(memory), bytes, {}} + 1;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void* zeroed(void* context, std::size_t count, std::size_t size) noexcept {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) return nullptr;
  if (bytes < kUntouched) {
    void* p = pooled(context, bytes);
    return p ? std::memset(p, 0, bytes) : nullptr;
  }
  if (bytes > std::numeric_limits<std::size_t>::max() - sizeof(Header)) return nullptr;
  void* p = std::calloc(1, bytes + sizeof(Header));
  return p ? new (p) Header{nullptr, bytes, {}} + 1 : nullptr;
}

void given_back(void*, void* p, std::size_t) noexcept {
  if (!p) return;
  Header* h = header_of(p);
  const Ref<Buffer> memory = std::move(h->memory);
  h->~Header();
  if (!memory) std::free(h);
}

void* resized(void* context, void* p, std::size_t bytes) noexcept {
  void* made = pooled(context, bytes);
  if (!made || !p) return made;
  std::memcpy(made, p, std::min(bytes, header_of(p)->bytes));
  given_back(context, p, 0);
  return made;
}

PyDataMem_Handler handler = {"plait_pool", 1, {nullptr, pooled, zeroed, resized, given_back}};

}  // namespace

PooledMemory::PooledMemory() {
  static PyObject* const ours = check(PyCapsule_New(&handler, "mem_handler", nullptr));
  const Owned current(check(PyDataMem_GetHandler()));
  if (current.get() == PyDataMem_DefaultHandler) before_ = Owned(check(PyDataMem_SetHandler(ours)));
}

PooledMemory::~PooledMemory() {
  if (!before_) return;
  PyObject *type, *value, *trace;  // a call that failed has set it
  PyErr_Fetch(&type, &value, &trace);
  Py_XDECREF(PyDataMem_SetHandler(before_.get()));
  PyErr_Restore(type, value, trace);
}

}  // namespace plait::py
