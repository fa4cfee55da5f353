// Copies `bytes` of `rows` rows to shared memory, by all threads of the block.
template <class T>
PLAIT_INLINE void copy_rows(unsigned char* tile, Index pitch, const char* from, Index stride,
                            Index bytes, int rows) {
  const unsigned items = unsigned(bytes / Index(sizeof(T)));
  for (unsigned i = threadIdx.x; i < items * rows; i += blockDim.x) {
    const Index row = i / items, at = Index(i % items * sizeof(T));
    store<T>(tile, row * pitch + at, load<T>(from, row * stride + at));
  }
}
