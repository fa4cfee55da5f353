#include "fork.hpp"

#include <pthread.h>

#include <vector>

namespace plait::jit {
namespace {

struct Registry {
  std::mutex mutex;
  std::vector<std::mutex*> held;
  std::vector<void (*)()> child;
};
Registry& registry() {
  static Registry& r = *new Registry;
  return r;
}

void prepare() {
  registry().mutex.lock();
  for (std::mutex* m : registry().held) m->lock();
}
void release() {
  auto& held = registry().held;
  for (auto m = held.rbegin(); m != held.rend(); ++m) (*m)->unlock();
  registry().mutex.unlock();
}
void child() {
  release();
  for (auto f : registry().child) f();
}

void install() {
  static const int installed = pthread_atfork(&prepare, &release, &child);
  (void)installed;
}

}  // namespace

void hold_over_fork(std::mutex& m) {
  install();
  std::lock_guard lock(registry().mutex);
  registry().held.push_back(&m);
}

void after_fork_in_child(void (*f)()) {
  install();
  std::lock_guard lock(registry().mutex);
  registry().child.push_back(f);
}

}  // namespace plait::jit
