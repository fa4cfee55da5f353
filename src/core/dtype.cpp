// What dtypes are to each other: detail/promotion.hpp has the rules.
#include "dtype.hpp"

#include <array>

#include "plait/error.hpp"
#include "public_dtype.hpp"

namespace plait {
namespace {

using detail::core;
using detail::outer;

constexpr auto kCommon = [] {
  std::array<std::array<std::optional<DType>, kDTypeCount>, kDTypeCount> t{};
  for (int a = 0; a < kDTypeCount; ++a)
    for (int b = 0; b < kDTypeCount; ++b)
      if (const auto c = detail::common_dtype(static_cast<dtype>(a), static_cast<dtype>(b)))
        t[a][b] = core(*c);
  return t;
}();

}  // namespace

DType from_code(char c) {
  for (int t = 0; t < kNumPyDTypes; ++t)
    if (kDTypeTable[t].code == c) return static_cast<DType>(t);
  throw InternalError(std::string("no dtype has the code '") + c + "'");
}

std::string dtype_class(DType t) {
  if (is_narrow(t)) return "<class 'numpy.dtype[" + std::string(name(t)) + "]'>";
  return "<class 'numpy.dtypes." + std::string(dtype_info(t).class_name) + "DType'>";
}

std::optional<DType> common_dtype(DType a, DType b) {
  return kCommon[static_cast<int>(a)][static_cast<int>(b)];
}

DType promote(DType a, DType b) {
  if (const auto t = common_dtype(a, b)) return *t;
  const std::string x = dtype_class(a), y = dtype_class(b);
  throw DTypeError("The DType " + x + " could not be promoted by " + y +
                   ". This means that no common DType exists for the given inputs. For example "
                   "they cannot be stored in a single array unless the dtype is `object`. The full "
                   "list of DTypes is: (" +
                   x + ", " + y + ")");
}

DType numpys_dtype(DType a, DType b) { return core(detail::numpys_dtype(outer(a), outer(b))); }

DType default_dtype(Weak weak) {
  if (weak == Weak::None) throw InternalError("a strong operand has no default dtype");
  return core(detail::default_dtype(outer(weak)));
}

DType promote_weak(DType strong, Weak weak) {
  return core(detail::promote_weak(outer(strong), outer(weak)));
}

bool can_cast(DType from, DType to, Casting casting) {
  switch (casting) {
    case Casting::No:
    case Casting::Equiv:
      return from == to;
    case Casting::Safe:
      return detail::can_cast_safely(outer(from), outer(to));
    case Casting::SameKind:
      return detail::can_cast_same_kind(outer(from), outer(to));
    case Casting::Unsafe:
      return true;
  }
  return false;
}

}  // namespace plait
