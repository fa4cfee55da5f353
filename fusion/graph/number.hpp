// Numbers of a graph as planning sees them. They are compared and computed with like integers; each
// comparison is a question that is recorded (answers.hpp), so what is decided by it holds for every
// graph that gives the same answer. A cost takes an estimate, which is recorded by its magnitude.
#pragma once
#include <algorithm>
#include <compare>
#include <cstdint>
#include <vector>

#include "answers.hpp"
#include "core/dims.hpp"

namespace plait::fusion {

class PlanGraph;

class Number {
 public:
  Number() = default;
  Number(std::int64_t constant) : value_(constant) {}  // NOLINT: numbers of the code itself
  Number(int constant) : value_(constant) {}           // NOLINT
  Number(const PlanGraph& g, ExprId e, std::int64_t value) : graph_(&g), expr_(e), value_(value) {}

  friend bool operator==(const Number& a, const Number& b) {
    if (!a.graph_ && !b.graph_) return a.value_ == b.value_;
    return a.expr_ == b.expr_ || ask(Relation::Equal, a, b);
  }
  friend bool operator<=(const Number& a, const Number& b) {
    if (!a.graph_ && !b.graph_) return a.value_ <= b.value_;
    return a.expr_ == b.expr_ || ask(Relation::AtMost, a, b);
  }
  friend bool operator<(const Number& a, const Number& b) { return !(b <= a); }
  friend bool operator>(const Number& a, const Number& b) { return !(a <= b); }
  friend bool operator>=(const Number& a, const Number& b) { return b <= a; }
  friend Number operator+(const Number& a, const Number& b);
  friend Number operator-(const Number& a, const Number& b);
  friend Number operator*(const Number& a, const Number& b);
  friend Number operator/(const Number& a, const Number& b);  // as integers are divided
  friend Number operator%(const Number& a, const Number& b);
  Number& operator+=(const Number& b) { return *this = *this + b; }
  Number& operator*=(const Number& b) { return *this = *this * b; }
  friend Number abs(const Number& a);

  // For costs.
  std::int64_t estimate() const;
  double cost() const { return static_cast<double>(estimate()); }
  // A name for tables of what is equal: extents, say, that have the same are asked to be.
  enum Kind : std::uint8_t { Extent, Stride, Start };
  std::int64_t identity(Kind kind) const;
  // Of equal ones the same, unasked: whoever finds another by it asks then.
  std::int64_t hash() const { return value_; }
  // The number itself: a plan for it and no other.
  std::int64_t known() const;

  bool is_constant() const { return !graph_; }
  bool is_one() const { return is_constant() && value_ == 1; }

 private:
  friend class PlanGraph;
  static const PlanGraph* graph_of(const Number& a, const Number& b) {
    return a.graph_ ? a.graph_ : b.graph_;
  }
  static bool ask(Relation r, const Number& a, const Number& b);
  ExprId in(const PlanGraph& g) const;
  template <class Make>
  static Number of_two(const Number& a, const Number& b, std::int64_t value, Make&& make);

  const PlanGraph* graph_ = nullptr;
  ExprId expr_ = -1;
  std::int64_t value_ = 0;
};

// Extents or strides.
class Numbers {
 public:
  Numbers() = default;
  explicit Numbers(int n, const Number& v = 0) {
    for (int i = 0; i < n; ++i) push_back(v);
  }
  Numbers(const Number* first, const Number* last) {
    for (; first != last; ++first) push_back(*first);
  }
  int size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const Number& operator[](std::int64_t i) const { return begin()[i]; }
  Number& operator[](std::int64_t i) { return data()[i]; }
  const Number& back() const { return end()[-1]; }
  const Number* begin() const { return many_.empty() ? few_ : many_.data(); }
  const Number* end() const { return begin() + size_; }
  void push_back(const Number& v) {
    if (many_.empty() && size_ < kFew) {
      few_[size_++] = v;
      return;
    }
    if (many_.empty()) many_.assign(few_, few_ + size_);
    many_.push_back(v);
    ++size_;
  }
  void erase(int at) {
    std::copy(begin() + at + 1, end(), data() + at);
    --size_;
    if (!many_.empty()) many_.pop_back();
  }
  void insert(int at, const Number& v) {
    push_back(v);
    std::rotate(data() + at, data() + size_ - 1, data() + size_);
  }
  bool operator==(const Numbers& o) const;

 private:
  static constexpr int kFew = 3;  // most arrays have as few axes, or fewer
  Number* data() { return many_.empty() ? few_ : many_.data(); }
  int size_ = 0;
  Number few_[kFew];
  std::vector<Number> many_;  // all of them, once they were more
};

inline Number element_count(const Numbers& shape) {
  Number n = 1;
  for (const Number& e : shape) n *= e;
  return n;
}
// For costs.
double elements_of(const Numbers& shape);

}  // namespace plait::fusion
