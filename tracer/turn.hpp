// Who evaluates. One evaluation runs at a time, because it uses the whole team of threads. It holds
// the recorder's lock while it reads and changes the graph, and lets go of it while a kernel runs:
// other threads record meanwhile.
#pragma once
#include <cstdint>
#include <optional>

namespace plait::tracer {

// The right to evaluate, for a scope; nests. While another thread has it, the constructor lets go
// of the recorder's lock, however often this thread holds it, and asks Evaluator::poll() now and
// then; what that throws passes through. So does HostLock.
class Turn {
 public:
  // What the kernels of this turn do with the recorder's lock. Kept is for steps that nobody may
  // see half done.
  enum class LockWhileRunning { Released, Kept };
  explicit Turn(LockWhileRunning lock = LockWhileRunning::Released);
  ~Turn();
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  const bool keeps_;
};

// Lets go of the recorder's lock and of the host language's for a scope.
class Away {
 public:
  Away();
  ~Away();
  Away(const Away&) = delete;
  Away& operator=(const Away&) = delete;

 private:
  std::uint32_t levels_;
  void* host_;
};

// Both locks are free in this scope, unless the turn keeps them. What is not reachable for other
// threads, and the memory of nodes of the running evaluation, may be used meanwhile; nothing else
// that the lock guards.
class Unlocked {
 public:
  Unlocked();

 private:
  std::optional<Away> away_;
};

// Around fork(): no evaluation is under way in the moment of it and nobody records, and the child
// has nobody's turn.
void hold_turns_over_fork();
void resume_turns_in_parent();
void resume_turns_in_child();

}  // namespace plait::tracer
