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
class EvaluationScope {
 public:
  // To compute these nodes, beside evaluations of other threads. What is wanted may be in memory
  // once the scope has begun.
  explicit EvaluationScope(std::span<Node* const> wanted);

  // While no other thread evaluates, and what the kernels of this one do with the recorder's lock.
  // Kept is for steps that nobody may see half done.
  enum class LockWhileRunning : std::uint8_t { Released, Kept };
  explicit EvaluationScope(LockWhileRunning alone);

  ~EvaluationScope();
  EvaluationScope(const EvaluationScope&) = delete;
  EvaluationScope& operator=(const EvaluationScope&) = delete;

 private:
  friend struct Evaluations;
  void begin();

  const std::span<Node* const> wanted_;
  const pthread_t thread_ = pthread_self();
  EvaluationScope* next_ = nullptr;
  const bool keeps_ = false;
  bool alone_ = false;
};

// Whether no thread does, this one included, or waits until it may. The recorder's lock is held.
bool nobody_evaluates();

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

// Both locks are free in this scope, unless the evaluation keeps them. What is not reachable for
// other threads, and the memory of nodes of the running evaluation, may be used meanwhile; nothing
// else that the lock guards.
class Unlocked {
 public:
  Unlocked();

 private:
  std::optional<Away> away_;
};

// Around fork(): no evaluation is under way in the moment of it and nobody records, and the child
// has nobody's evaluation.
void hold_evaluations_over_fork();
void resume_turns_in_parent();
void resume_turns_in_child();

}  // namespace plait::tracer
