// Elements by groups of equal keys, as pandas' groupby:
//
//   auto g = plait::group_by(keys);       // one array of keys, or several
//   auto means = g.mean(values);          // a result for each of g.keys(), which ascend
//
// The grouping is found once; each aggregation after it is one pass over its values, which may be
// an expression.
#pragma once
#include <tuple>

#include "plait/build.hpp"
#include "plait/reduce.hpp"

namespace plait {

namespace detail {
enum class aggregate : std::uint8_t { count, sum, prod, mean, min, max, first, last, var, std };
// Elements have codes from 0 to `bins`, and groups the codes that are there.
struct Grouping {
  Handle codes;    // of each element
  Handle counts;   // of the elements that have each code
  Handle labels;   // the key of each code
  Handle present;  // codes that are there, where others are not
  std::int64_t bins = 0, size = 0;
};
PLAIT_API Grouping group(const Handle& keys);
PLAIT_API Grouping group(const Handle& keys, std::int64_t n);
// By several, of the first where it differs: its keys are places in the table of all combinations.
PLAIT_API Grouping group_together(const Grouping* by, int n);
PLAIT_API Handle keys_of(const Grouping& g);
PLAIT_API Handle labels_of(const Grouping& g);
// The key of column `i` in each of the groups of group_together().
PLAIT_API Handle keys_of(const Grouping& g, const Grouping* by, int n, int i);
PLAIT_API Handle aggregated(aggregate what, const Grouping& g, const Handle* values, double ddof);
}  // namespace detail

/// What group_by() gives, of keys of these types. NaN among the values makes the results of its
/// group NaN, as in NumPy's reductions; element types are theirs. Values have an element, or a
/// sub-array along the first axis, for each key: ShapeError.
template <class... K>
class grouping {
 public:
  static constexpr int kColumns = sizeof...(K);
  explicit grouping(detail::Grouping g) : groups_(std::move(g)) {}
  explicit grouping(std::vector<detail::Grouping> columns)
      : groups_(detail::group_together(columns.data(), kColumns)), columns_(std::move(columns)) {}

  /// The different keys, ascending, NaN last; several columns are a tuple of arrays.
  auto keys() const {
    if constexpr (kColumns == 1)
      return array<K...>(detail::keys_of(groups_));
    else
      return columns(std::make_integer_sequence<int, kColumns>());
  }
  /// How many groups there are.
  std::int64_t size() const { return groups_.size; }  // groups
  /// Which of keys() each element has.
  array<std::int64_t> labels() const { return array<std::int64_t>(detail::labels_of(groups_)); }
  /// How many elements each group has.
  array<std::int64_t> count() const { return array<std::int64_t>(of(aggregate::count, nullptr)); }

  /// The sum of each group, 64 bits wide of small integers.
  template <class A, detail::if_array<A> = 0>
  auto sum(const A& v) const {
    return result<detail::reduction::sum>(aggregate::sum, v);
  }
  /// The product of each group, 64 bits wide of small integers.
  template <class A, detail::if_array<A> = 0>
  auto prod(const A& v) const {
    return result<detail::reduction::prod>(aggregate::prod, v);
  }
  /// The mean of each group, float64 of integers.
  template <class A, detail::if_array<A> = 0>
  auto mean(const A& v) const {
    return result<detail::reduction::mean>(aggregate::mean, v);
  }
  /// The least element of each group.
  template <class A, detail::if_array<A> = 0>
  detail::like<A> min(const A& v) const {
    return detail::like<A>(of(aggregate::min, &v.handle()));
  }
  /// The greatest element of each group.
  template <class A, detail::if_array<A> = 0>
  detail::like<A> max(const A& v) const {
    return detail::like<A>(of(aggregate::max, &v.handle()));
  }
  /// The element that stands first among those of its group.
  template <class A, detail::if_array<A> = 0>
  detail::like<A> first(const A& v) const {
    return detail::like<A>(of(aggregate::first, &v.handle()));
  }
  /// The element that stands last among those of its group.
  template <class A, detail::if_array<A> = 0>
  detail::like<A> last(const A& v) const {
    return detail::like<A>(of(aggregate::last, &v.handle()));
  }
  /// The variance of each group; the divisor is the count less `ddof`.
  template <class A, detail::if_array<A> = 0>
  auto var(const A& v, double ddof = 0) const {
    return result<detail::reduction::var>(aggregate::var, v, ddof);
  }
  /// The standard deviation of each group; the divisor is the count less `ddof`.
  template <class A, detail::if_array<A> = 0>
  auto stddev(const A& v, double ddof = 0) const {
    return result<detail::reduction::std>(aggregate::std, v, ddof);
  }

 private:
  using aggregate = detail::aggregate;
  detail::Handle of(aggregate what, const detail::Handle* v, double ddof = 0) const {
    return detail::aggregated(what, groups_, v, ddof);
  }
  template <detail::reduction R, class A>
  auto result(aggregate what, const A& v, double ddof = 0) const {
    return array<detail::reduced_t<R, detail::element_of<A>>>(of(what, &v.handle(), ddof));
  }
  template <int... I>
  std::tuple<array<K>...> columns(std::integer_sequence<int, I...>) const {
    return {array<K>(detail::keys_of(groups_, columns_.data(), kColumns, I))...};
  }

  detail::Grouping groups_;
  std::vector<detail::Grouping> columns_;  // of several
};

/// By keys of one axis: integers, bools or real numbers, whose NaNs are one key. Evaluates them.
template <class A, detail::if_array<A> = 0>
grouping<detail::element_of<A>> group_by(const A& keys) {
  return grouping<detail::element_of<A>>(detail::group(keys.handle()));
}
/// By keys that are 0 to n - 1: IndexError for others. All n are groups, in order; those without an
/// element have the sum 0, the product 1, the mean NaN, as minimum the greatest value and the least
/// as maximum, and first() and last() are a ValueError.
template <class A, detail::if_array<A> = 0>
grouping<detail::element_of<A>> group_by(const A& keys, std::int64_t n) {
  return grouping<detail::element_of<A>>(detail::group(keys.handle(), n));
}
/// By several keys: groups ascend by the first, those with an equal first by the second ...
template <class A, class B, class... C,
          class = std::enable_if_t<(detail::is_array_type<A>::value && ... &&
                                    detail::is_array_type<C>::value) &&
                                   detail::is_array_type<B>::value>>
grouping<detail::element_of<A>, detail::element_of<B>, detail::element_of<C>...> group_by(
    const A& a, const B& b, const C&... c) {
  return grouping<detail::element_of<A>, detail::element_of<B>, detail::element_of<C>...>(
      std::vector<detail::Grouping>{detail::group(a.handle()), detail::group(b.handle()),
                                    detail::group(c.handle())...});
}

}  // namespace plait
