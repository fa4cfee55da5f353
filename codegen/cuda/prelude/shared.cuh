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
