#ifndef PLAIT_EMULATED
extern __shared__ __align__(16) unsigned char shared_memory[];
#endif

// An array that threads share.
template <class T>
struct Shared {
  T* at;
  PLAIT_INLINE T& operator[](Index i) const {
    PLAIT_TOUCH(at + i, T);
    return at[i];
  }
};
// The same, with the quarters of each 32 elements in an order that changes from one leaf of NumPy's
// tree to the next: groups of 8 lanes that sum a leaf each, side by side, reach different banks.
template <class T>
struct SkewedRow {
  T* at;
  PLAIT_INLINE T& operator[](Index i) const {
    const Index place = i ^ (i >> 4 & 24);
    PLAIT_TOUCH(at + place, T);
    return at[place];
  }
};
