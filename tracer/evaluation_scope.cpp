#include "evaluation_scope.hpp"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <new>
#include <vector>

#include "context.hpp"

namespace plait::tracer {

// Guarded by the recorder's lock, but for what waiters sleep on.
struct Evaluations {
  EvaluationScope* under_way = nullptr;  // of all threads, the last to begin first
  int at_work = 0;                       // threads that have one, and do not wait to be alone
  int want_to_be_alone = 0;              // threads; no other begins meanwhile
  bool alone = false;

  int waiting = 0;
  std::mutex mutex;
  std::condition_variable ended;
  std::uint64_t ends = 0;

  bool others_compute(std::span<Node* const> wanted) const;
  void wait();
  void tell();
};

namespace {

Evaluations& evaluations() {
  static auto& t = *new Evaluations;
  return t;
}

// Of this thread.
struct Mine {
  int depth = 0;
  int kept = 0;  // of them, those that keep the recorder's lock
  bool alone = false;
};
thread_local constinit Mine mine;

// Numbers of constants are nobody's work.
bool is_to_compute(const Node& n) { return !n.data && n.kind != NodeKind::Scalar; }

// Whether `visit` says so of a node that is still to be computed for these. Each is visited once.
template <class F>
bool any_to_compute(std::span<Node* const> wanted, std::vector<Node*>& stack, std::uint64_t walk,
                    F visit) {
  stack.assign(wanted.begin(), wanted.end());
  while (!stack.empty()) {
    Node& n = *stack.back();
    stack.pop_back();
    if (!is_to_compute(n) || n.walk == walk) continue;
    if (visit(n)) return true;
    n.walk = walk;
    for (int i = 0; i < n.n_inputs; ++i)
      if (n.inputs[i]) stack.push_back(n.inputs[i].get());
  }
  return false;
}

}  // namespace

// What another thread's evaluation is computing hangs on what it wants, until that is in memory:
// nobody has to keep a list of it.
bool Evaluations::others_compute(std::span<Node* const> wanted) const {
  std::vector<Node*> stack;
  std::uint64_t theirs = 0;
  for (const EvaluationScope* t = under_way; t; t = t->next_) {
    if (pthread_equal(t->thread_, pthread_self()) != 0) continue;
    if (theirs == 0) theirs = next_walk();
    any_to_compute(t->wanted_, stack, theirs, [](const Node&) { return false; });
  }
  return theirs != 0 && any_to_compute(wanted, stack, next_walk(),
                                       [&](const Node& n) { return n.walk == theirs; });
}

// Until an evaluation has ended, or a moment has passed.
void Evaluations::wait() {
  constexpr std::chrono::milliseconds kPoll(20);
  struct Waiting {
    int& count;
    explicit Waiting(int& c) : count(c) { ++count; }
    ~Waiting() { --count; }
  } const here(waiting);
  const std::uint64_t seen = ends;  // it changes under both locks
  const Away away;
  {
    std::unique_lock held(mutex);
    if (ended.wait_for(held, kPoll, [&] { return ends != seen; })) return;
  }
  evaluator().poll();
}

void Evaluations::tell() {
  if (waiting == 0) return;
  {
    const std::lock_guard held(mutex);
    ++ends;
  }
  ended.notify_all();
}

EvaluationScope::EvaluationScope(std::span<Node* const> wanted) : wanted_(wanted) {
  Evaluations& t = evaluations();
  // A thread that is in the middle of one goes on: who wants to be alone waits for it.
  while (!mine.alone &&
         ((mine.depth == 0 && (t.alone || t.want_to_be_alone > 0)) || t.others_compute(wanted)))
    t.wait();
  begin();
}

EvaluationScope::EvaluationScope(LockWhileRunning alone) : keeps_(alone == LockWhileRunning::Kept) {
  Evaluations& t = evaluations();
  if (!mine.alone) {
    // In the middle of an evaluation, as the handler of a signal may be, it counts as waiting: two
    // of these must not wait for each other.
    struct Wanting {
      Evaluations& t;
      explicit Wanting(Evaluations& all) : t(all) {
        ++t.want_to_be_alone;
        t.at_work -= mine.depth > 0;
      }
      ~Wanting() {
        --t.want_to_be_alone;
        t.at_work += mine.depth > 0;
        t.tell();
      }
    } const wanting(t);
    while (t.alone || t.at_work > 0) t.wait();
    mine.alone = alone_ = t.alone = true;
  }
  begin();
}

void EvaluationScope::begin() {
  Evaluations& t = evaluations();
  t.at_work += mine.depth++ == 0;
  mine.kept += keeps_;
  next_ = std::exchange(t.under_way, this);
}

EvaluationScope::~EvaluationScope() {
  Evaluations& t = evaluations();
  EvaluationScope** at = &t.under_way;
  while (*at != this) at = &(*at)->next_;
  *at = next_;
  mine.kept -= keeps_;
  if (alone_) mine.alone = t.alone = false;
  t.at_work -= --mine.depth == 0;
  t.tell();
}

bool nobody_evaluates() {
  const Evaluations& t = evaluations();
  return !t.under_way && t.want_to_be_alone == 0;
}

Away::Away() : levels_(lock().let_go()), host_(host_lock().let_go()) {}
// The host's first: who holds it may want ours.
Away::~Away() {
  host_lock().take_back(host_);
  lock().take_back(levels_);
}

Unlocked::Unlocked() {
  if (mine.depth > 0 && mine.kept == 0) away_.emplace();
}

namespace {
std::optional<EvaluationScope> over_fork;
}

void hold_evaluations_over_fork() {
  lock().lock();
  while (!over_fork) try {
      over_fork.emplace(EvaluationScope::LockWhileRunning::Kept);
    } catch (...) {  // an interrupt: fork() does not fail, and the signal is handled after it
    }
  evaluations().mutex.lock();
}
void resume_turns_in_parent() {
  evaluations().mutex.unlock();
  over_fork.reset();
  lock().unlock();
}
void resume_turns_in_child() {
  Evaluations& t = evaluations();
  lock().reset_in_child();
  // Waiters, if there were any, do not exist here.
  new (&t.mutex) std::mutex;
  new (&t.ended) std::condition_variable;
  t.waiting = t.want_to_be_alone = 0;
  over_fork.reset();
  lock().unlock();
}

}  // namespace plait::tracer
