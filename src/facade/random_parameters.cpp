#include "random_parameters.hpp"

#include <string>

#include "box.hpp"

namespace plait::random {

namespace {

std::string to_string(const shape_type& s) {
  std::string text = "(";
  for (std::size_t i = 0; i < s.size(); ++i) text += (i ? ", " : "") + std::to_string(s[i]);
  return text + (s.size() == 1 ? ",)" : ")");
}

}  // namespace

Parameters::Parameters(const Parameter* kinds, const parameter* const* given, int n,
                       const extents* shape)
    : n_(n) {
  std::vector<detail::Handle> arrays;
  for (int i = 0; i < n; ++i)
    if (given[i]->array) arrays.push_back(given[i]->array);
  has_arrays_ = !arrays.empty();
  shape_ = detail::common_shape(arrays.data(), static_cast<int>(arrays.size()));
  if (shape) {
    const shape_type wanted(shape->data(), shape->data() + shape->size());
    if (has_arrays_) {
      arrays.push_back(detail::empty(detail::span_of(*shape), dtype::bool_));
      const shape_type all = detail::common_shape(arrays.data(), static_cast<int>(arrays.size()));
      if (all != wanted)
        throw ValueError("Output size " + to_string(wanted) +
                         " is not compatible with broadcast dimensions of inputs " +
                         to_string(all) + ".");
    }
    shape_ = wanted;
  }
  for (int i = 0; i < n; ++i) add(kinds[i], *given[i]);
}

void Parameters::add(const Parameter& kind, const parameter& given) {
  const auto k = arrays_.size();
  if (!given.array) {
    if (kind.whole && !given.is_whole)
      throw DTypeError(
          "Cannot cast scalar from dtype('float64') to dtype('int64') according to "
          "the rule 'safe'");
    if (kind.whole)
      now_[k].whole = given.whole;
    else
      now_[k].real = given.real;
    check(kind, given.real, false);
    arrays_.emplace_back();
    return;
  }
  const dtype t = detail::dtype_of(given.array);
  if (kind.whole && !detail::is_integer(t) && t != dtype::bool_)
    throw DTypeError("Cannot cast array data from dtype('" + std::string(name(detail::core(t))) +
                     "') to dtype('int64') according to the rule 'safe'");
  const detail::Handle numbers =
      detail::astype(given.array, kind.whole ? dtype::int64 : dtype::float64);
  const detail::Span shape{shape_.data(), static_cast<int>(shape_.size())};
  arrays_.push_back(detail::copy(detail::broadcast_to(numbers, shape)));
  elements_[k] = static_cast<const Number*>(detail::data(arrays_.back()));
  for (std::int64_t i = 0; i < detail::size_of(arrays_.back()); ++i)
    check(kind, kind.whole ? static_cast<double>(elements_[k][i].whole) : elements_[k][i].real,
          true);
}

}  // namespace plait::random
