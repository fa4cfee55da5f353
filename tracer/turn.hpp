// Who evaluates. Evaluations of several threads run side by side, as long as none wants what
// another is computing. Each holds the recorder's lock while it reads and changes the graph, and
// lets go of it while a kernel runs: others record meanwhile.
#pragma once
#include <pthread.h>

#include <cstdint>
#include <optional>
#include <span>

namespace plait::tracer {

struct Node;

// The right to evaluate, for a scope; nests. The recorder's lock is held when one is made and when
// it ends. While it has to wait for another thread's, the constructor lets go of that lock, however
// often this thread holds it, and asks Evaluator::poll() now and then; what that throws passes
// through. So does HostLock.
class Turn {
 public:
  // To compute these nodes, beside evaluations of other threads. What is wanted may be in memory
  // once the turn has come.
  explicit Turn(std::span<Node* const> wanted);

  // While no other thread evaluates, and what the kernels of this turn do with the recorder's lock.
  // Kept is for steps that nobody may see half done.
  enum class LockWhileRunning : std::uint8_t { Released, Kept };
  explicit Turn(LockWhileRunning alone);

  ~Turn();
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  friend struct Turns;
  void begin();

  const std::span<Node* const> wanted_;
  const pthread_t thread_ = pthread_self();
  Turn* next_ = nullptr;
  const bool keeps_ = false;
  bool alone_ = false;
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
