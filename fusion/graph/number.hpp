// Numbers of a graph as planning sees them. They are compared and computed with like integers; each
// comparison is a question that is recorded (answers.hpp), so what is decided by it holds for every
// graph that gives the same answer. A cost takes an estimate, which is recorded by its magnitude.
#pragma once
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

  friend bool operator==(const Number& a, const Number& b);
  friend bool operator<=(const Number& a, const Number& b);
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

 private:
  friend class PlanGraph;
  static const PlanGraph* graph_of(const Number& a, const Number& b) {
    return a.graph_ ? a.graph_ : b.graph_;
  }
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
  explicit Numbers(int n, const Number& v = 0) : all_(static_cast<std::size_t>(n), v) {}
  Numbers(const Number* first, const Number* last) : all_(first, last) {}
  int size() const { return static_cast<int>(all_.size()); }
  bool empty() const { return all_.empty(); }
  const Number& operator[](std::int64_t i) const { return all_[static_cast<std::size_t>(i)]; }
  Number& operator[](std::int64_t i) { return all_[static_cast<std::size_t>(i)]; }
  const Number& back() const { return all_.back(); }
  const Number* begin() const { return all_.data(); }
  const Number* end() const { return all_.data() + all_.size(); }
  void push_back(const Number& v) { all_.push_back(v); }
  void erase(int at) { all_.erase(all_.begin() + at); }
  void insert(int at, const Number& v) { all_.insert(all_.begin() + at, v); }
  bool operator==(const Numbers& o) const;
  // For costs: the same numbers, as integers.
  Dims estimates() const;

 private:
  std::vector<Number> all_;
};

inline Number element_count(const Numbers& shape) {
  Number n = 1;
  for (const Number& e : shape) n *= e;
  return n;
}
// For costs.
double elements_of(const Numbers& shape);

}  // namespace plait::fusion
