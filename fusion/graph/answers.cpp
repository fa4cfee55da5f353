#include "answers.hpp"

#include <cstdlib>
#include <utility>

#include "graph.hpp"

namespace plait::fusion {

std::int64_t magnitude_class(std::int64_t number) {
  if (number < 0) return -1 - magnitude_class(number == INT64_MIN ? INT64_MAX : -number);
  std::int64_t c = 0;
  for (const std::int64_t most : {std::int64_t{0}, std::int64_t{1}, kShort, std::int64_t{512},
                                  std::int64_t{16384}, std::int64_t{1} << 20})
    c += number > most;
  return c;
}

bool Question::holds(const std::vector<std::int64_t>& values) const {
  const std::int64_t l = values[static_cast<std::size_t>(left)],
                     r = values[static_cast<std::size_t>(right)];
  switch (relation) {
    case Relation::Equal:
      return l == r;
    case Relation::AtMost:
      return l <= r;
    case Relation::Class:
      return magnitude_class(l) == r;
  }
  return false;
}

bool Answers::ask(Relation r, ExprId a, ExprId b, std::int64_t value_a, std::int64_t value_b) {
  const bool yes = r == Relation::Equal    ? value_a == value_b
                   : r == Relation::AtMost ? value_a <= value_b
                                           : magnitude_class(value_a) == value_b;
  if (exprs.is_constant(a) && exprs.is_constant(b)) return yes;
  const std::uint64_t question = static_cast<std::uint64_t>(a) << 34 |
                                 static_cast<std::uint64_t>(b) << 4 | static_cast<std::uint64_t>(r);
  if (is_new(question)) given_.push_back({{r, a, b}, yes});
  return yes;
}

bool Answers::is_new(std::uint64_t question) {
  const auto place = [&](std::uint64_t q) -> std::uint64_t& {
    for (std::size_t at = (q * 0x9e3779b97f4a7c15U) >> 32;; ++at) {
      std::uint64_t& there = asked_[at & (asked_.size() - 1)];
      if (there == q || there == 0) return there;
    }
  };
  if (2 * n_asked_ >= asked_.size()) {
    const std::vector<std::uint64_t> before = std::exchange(
        asked_, std::vector<std::uint64_t>(std::max<std::size_t>(64, 4 * asked_.size())));
    for (const std::uint64_t q : before)
      if (q != 0) place(q) = q;
  }
  std::uint64_t& there = place(++question);  // none is 0
  const bool fresh = std::exchange(there, question) == 0;
  n_asked_ += fresh;
  return fresh;
}

bool Answers::hold(const Graph& g) const {
  return hold_by([&](const Source& s) { return g.field(s); });
}

std::vector<std::int64_t>& Answers::scratch() {
  static thread_local std::vector<std::int64_t> values;
  return values;
}

std::size_t Answers::bytes() const { return exprs.bytes() + given_.size() * sizeof(Answer); }

// Only what questions are about is kept, in the order in which it is asked about.
void Answers::close() {
  Exprs used;
  std::vector<ExprId> kept(exprs.size(), -1);
  for (Answer& a : given_) {
    a.question.left = used.keep(exprs, a.question.left, kept);
    a.question.right = used.keep(exprs, a.question.right, kept);
  }
  exprs = std::move(used);
  estimated_ = {};
  asked_ = {};
  given_.shrink_to_fit();
}

}  // namespace plait::fusion
