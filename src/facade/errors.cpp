#include "errors.hpp"

#include <string_view>
#include <typeinfo>

#include "plait/linalg_error.hpp"

namespace plait::detail {

namespace {

// What NumPy words for Python, and the way out where its words have none.
struct Wording {
  std::string_view numpy, ours;
};
constexpr Wording replaced[] = {
    {"Python integer ", "integer "},
    {"'tuple' object cannot be interpreted as an integer", "takes one axis, or none for all"},
    {"tri() missing 1 required positional argument: 'N'", "takes arrays of one dimension or more"},
    {"tuple index out of range", "an axis is out of bounds for its array"},
    {"shape-mismatch for sum", "axes that are multiplied differ in number or extent"},
    {"gufunc signature", "signature"},
    {"gufunc core with signature", "signature"},
    {"division by zero", "the step is zero"},
    {"diag requires an array of at least two dimensions", "takes arrays of two dimensions or more"},
    {"diff requires input that is at least one dimensional",
     "takes arrays of one dimension or more"},
    {"arr.size * arr.dtype.itemsize", "size * sizeof(element)"},
    {"for an ndarray ", ""},
};
constexpr Wording added[] = {
    {"could not be broadcast together",
     "(extents are equal or 1, counted from the last axis: expand_dims() and newaxis() add axes)"},
    {"could not broadcast input array", "(the value takes the shape of what it is written to)"},
    {"read-only", "(broadcast_to() and memory of const elements are only read: copy() it)"},
    {"does not result in an equal division", "(array_split() takes any number)"},
};

std::string worded(const char* function, std::string text) {
  for (const Wording& w : replaced)
    if (const std::size_t at = text.find(w.numpy); at != std::string::npos)
      text.replace(at, w.numpy.size(), w.ours);
  text.erase(text.find_last_not_of(' ') + 1);
  for (const Wording& w : added)
    if (text.find(w.numpy) != std::string::npos) text += " " + std::string(w.ours);
  const std::string name(function);
  return text.compare(0, name.size() + 1, name + ":") == 0 ? text : name + ": " + text;
}

}  // namespace

void rethrow_of(const char* function) {
  // Classes before those that they derive from.
#define PLAIT_RETHROW(type)                 \
  catch (const type& e) {                   \
    throw type(worded(function, e.what())); \
  }
  try {
    throw;
  }
  PLAIT_RETHROW(AxisError)
  PLAIT_RETHROW(IndexError)
  PLAIT_RETHROW(ShapeError)
  PLAIT_RETHROW(LinAlgError)
  PLAIT_RETHROW(ValueError)
  PLAIT_RETHROW(DTypeError)
  PLAIT_RETHROW(OverflowError)
  PLAIT_RETHROW(FloatingPointError)
  PLAIT_RETHROW(DeviceMismatchError)
#undef PLAIT_RETHROW
  catch (const Error& e) {
    if (typeid(e) != typeid(Error)) throw;
    throw Error(worded(function, e.what()));
  }
}

}  // namespace plait::detail
