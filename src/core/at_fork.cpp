#include "at_fork.hpp"

#include <pthread.h>

#include <vector>

namespace plait {
namespace {

struct Handlers {
  std::mutex mutex;
  std::vector<std::mutex*> held;
  struct Call {
    void (*f)(void*);
    void* argument;
  };
  std::vector<Call> child;
};
Handlers& handlers() {
  static Handlers& r = *new Handlers;
  return r;
}

void prepare() {
  handlers().mutex.lock();
  for (std::mutex* m : handlers().held) m->lock();
}
void release() {
  auto& held = handlers().held;
  for (auto m = held.rbegin(); m != held.rend(); ++m) (*m)->unlock();
  handlers().mutex.unlock();
}
void child() {
  release();
  for (const auto& [f, argument] : handlers().child) f(argument);
}

void install() {
  static const int installed = pthread_atfork(&prepare, &release, &child);
  (void)installed;
}

}  // namespace

void hold_over_fork(std::mutex& m) {
  install();
  std::lock_guard lock(handlers().mutex);
  handlers().held.push_back(&m);
}

void after_fork_in_child(void (*f)(void*), void* argument) {
  install();
  std::lock_guard lock(handlers().mutex);
  handlers().child.push_back({f, argument});
}

}  // namespace plait
