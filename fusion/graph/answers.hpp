// What planning asked of a graph's numbers — extents, strides, offsets — and what the answers were.
// A plan follows from the structure of its graph and from these: whoever gives the same answers has
// the same plan. Nothing else in planning looks at a number, so no decision can be forgotten here.
#pragma once
#include <cstdint>
#include <vector>

#include "expr.hpp"

namespace plait::fusion {

enum class Relation : std::uint8_t {
  Equal,
  AtMost,
  Class,  // whether the left one is of the magnitude that the right one, a constant, names
};
struct Question {
  Relation relation;
  ExprId left, right;
  bool operator==(const Question&) const = default;
  bool holds(const std::vector<std::int64_t>& values) const;
};
struct Answer {
  Question question;
  bool yes;
};

// The magnitude of a number, as coarse as costs are: numbers of one magnitude get one plan.
std::int64_t magnitude_class(std::int64_t number);

class Answers {
 public:
  // Of expressions over `exprs`, whose values are these; the answer, which is recorded.
  bool ask(Relation r, ExprId a, ExprId b, std::int64_t value_a, std::int64_t value_b);
  // The same where the numbers are equal and `fresh` is a source that nobody has asked about, nor
  // will: the one that it equals stands for it.
  void note_equal(ExprId fresh, ExprId known) {
    given_.push_back({{Relation::Equal, fresh, known}, true});
  }
  // That the number is used as an estimate, for costs: so are those that it is made of.
  template <class ValueOf>
  void estimate(ExprId e, ValueOf&& value_of) {
    if (static_cast<std::size_t>(e) < estimated_.size() && estimated_[static_cast<std::size_t>(e)])
      return;
    estimated_.resize(std::max(estimated_.size(), exprs.size()));
    estimated_[static_cast<std::size_t>(e)] = true;
    if (exprs.is_source(e)) {
      const std::int64_t now = value_of(exprs.source_of(e)), of = magnitude_class(now);
      ask(Relation::Class, e, exprs.constant(of), now, of);
      return;
    }
    exprs.for_each_part(e, [&](ExprId part) { estimate(part, value_of); });
  }
  // Whether a graph of the same structure gives the same answers.
  bool hold(const Graph& g) const;
  template <class Field>
  bool hold_by(Field&& field) const {
    std::vector<std::int64_t>& values = scratch();
    values.clear();
    for (const Answer& a : given_) {
      exprs.evaluate_by(field, values,
                        static_cast<std::size_t>(std::max(a.question.left, a.question.right)) + 1);
      if (a.question.holds(values) != a.yes) return false;
    }
    return true;
  }
  const std::vector<Answer>& given() const { return given_; }
  std::size_t bytes() const;
  // What only planning needs is given back.
  void close();

  Exprs exprs;

 private:
  static std::vector<std::int64_t>& scratch();
  std::vector<Answer> given_;
  std::vector<bool> estimated_;
  bool is_new(std::uint64_t question);
  std::vector<std::uint64_t> asked_;  // by hash, a power of two of places; 0: nothing there
  std::size_t n_asked_ = 0;

  // Of what is kept in files (engine/programs).
  template <class A>
  friend void fields(A& a, Answers& s) {
    archive(a, s.exprs);
    archive(a, s.given_);
  }
};

}  // namespace plait::fusion
