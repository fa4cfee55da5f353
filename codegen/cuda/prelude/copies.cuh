// Copies into shared memory, by all threads of a team. From sm_80 on nobody waits for them:
// copies_arrived() does, for those of the thread, before the barrier that others wait at.
template <int Bytes>
struct alignas(Bytes) Moved {
  unsigned char bytes[Bytes];
};
template <int Bytes>
PLAIT_INLINE void copy(void* to, const void* from) {
  typedef Moved<Bytes> M;
  PLAIT_TOUCH(from, M);
  PLAIT_TOUCH(to, M);
#if __CUDA_ARCH__ >= 800
  if constexpr (Bytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(
                     uint32(__cvta_generic_to_shared(to))),
                 "l"(from)
                 : "memory");
    return;
  } else if constexpr (Bytes == 4 || Bytes == 8) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(
                     uint32(__cvta_generic_to_shared(to))),
                 "l"(from), "n"(Bytes)
                 : "memory");
    return;
  }
#endif
  *static_cast<M*>(to) = *static_cast<const M*>(from);
}
PLAIT_INLINE void copies_arrived() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

// Lines of `columns` times so many bytes, which are `pitch` bytes apart.
template <int Bytes>
PLAIT_INLINE void copy_lines(int rank, int size, char* to, int to_pitch, const char* from,
                             int64 from_pitch, int lines, int columns) {
  int line = int(uint32(rank) / uint32(columns)), column = rank - line * columns;
  const int down = int(uint32(size) / uint32(columns)), across = size - down * columns;
#pragma unroll 4
  while (line < lines) {
    copy<Bytes>(to + line * to_pitch + column * Bytes, from + line * from_pitch + column * Bytes);
    line += down;
    column += across;
    if (column >= columns) {
      column -= columns;
      ++line;
    }
  }
}
// The same of elements, by accesses of 16 bytes where they are aligned.
template <class T, class Team>
PLAIT_INLINE void copy_rectangle(Team team, T* to, Index to_pitch, const char* from,
                                 Index from_pitch, Index lines, Index columns) {
  constexpr int item = sizeof(T), several = 16 / item;
  if (lines <= 0 || columns <= 0) return;
  if (to_pitch == columns && from_pitch == columns * item) {
    columns *= lines;
    lines = 1;
  }
  const int pitch = int(to_pitch) * item, count = int(columns);
  char* const at = reinterpret_cast<char*>(to);
  if (lines == 1 ? ((int64(to) | int64(from)) & 15) == 0 && count % several == 0
                 : ((int64(to) | int64(from) | pitch | from_pitch) & 15) == 0 && count % several == 0)
    copy_lines<16>(team.rank(), Team::size, at, pitch, from, from_pitch, int(lines),
                   count / several);
  else
    copy_lines<item>(team.rank(), Team::size, at, pitch, from, from_pitch, int(lines), count);
}
