// Folds that are no sums: extrema start from the value that every other replaces, arg-reductions
// give the first extreme, and the first NaN before all.
template <class T>
struct Best {
  T value;
  int64 index;
};

namespace np {

template <bool max, class T>
PLAIT_INLINE bool better(T x, T best) {
  if (isnan(best)) return false;
  return (max ? less(best, x) : less(x, best)) | isnan(x);
}
// As if both were square roots. Values that differ by more than about four units in the last place
// have different roots; only near ties need them.
template <bool max, class T>
PLAIT_INLINE bool better_root(T x, T best) {
  if (!better<max>(x, best)) return false;
  constexpr T epsilon = sizeof(T) == 4 ? T(1.1920928955078125e-7) : T(2.220446049250313e-16);
  if (max ? x * (1 - 4 * epsilon) > best : x * (1 + 4 * epsilon) < best) return true;
  return better<max>(sqrt(x), sqrt(best));
}
// The better of two that were found in different places; the first of equals, as in one walk.
template <bool max, class T>
PLAIT_INLINE Best<T> better_of(Best<T> a, Best<T> b) {
  if (better<max>(b.value, a.value)) return b;
  if (better<max>(a.value, b.value)) return a;
  return a.index < b.index ? a : b;
}
template <class T>
PLAIT_INLINE T least(T) {
  if constexpr (is_real<T>)
    return -infinity(T());
  else
    return is_bool<T> ? T(0) : Unsigned<T>::smallest;
}
template <>
PLAIT_INLINE bool least(bool) {
  return false;
}
template <class T>
PLAIT_INLINE T greatest(T) {
  if constexpr (is_real<T>)
    return infinity(T());
  else
    return T(~Unsigned<T>::smallest);
}
template <>
PLAIT_INLINE bool greatest(bool) {
  return true;
}

}  // namespace np
