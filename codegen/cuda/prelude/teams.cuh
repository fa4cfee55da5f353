// A team is the threads that share one iteration of the outer loops: 8 or 32 lanes of a warp, or a
// block. They run the same instructions, take the iterations of inner loops side by side, and join
// what they found. `bytes` of shared memory are each team's, to exchange values.
template <class T>
PLAIT_INLINE T shuffle(unsigned mask, T v, int lane, int width) {
  constexpr int words = (sizeof(T) + 3) / 4;
  union Words {
    T value;
    unsigned word[words];
    PLAIT_INLINE Words() {}
  } w;
  w.value = v;
#pragma unroll
  for (int i = 0; i < words; ++i) w.word[i] = __shfl_sync(mask, w.word[i], lane, width);
  return w.value;
}
// The lanes that stand with this thread in a group of N.
template <int N>
PLAIT_INLINE unsigned lane_mask() {
  return N == 32 ? 0xffffffffu : ((1u << N % 32) - 1) << threadIdx.x % 32 / N * N;
}

template <int N, int Bytes = 0>
struct Lanes {
  static constexpr int size = N, bytes = Bytes;
  static PLAIT_INLINE int rank() { return threadIdx.x % N; }
  static PLAIT_INLINE int in_block() { return threadIdx.x / N; }
  static PLAIT_INLINE Index first() { return thread_index() / N; }
  static PLAIT_INLINE Index count() { return thread_count() / N; }
  static PLAIT_INLINE void sync() { __syncwarp(lane_mask<N>()); }
  template <class T, class Op>
  static PLAIT_INLINE T join(T v, const Op& op) {
#pragma unroll
    for (int step = N / 2; step > 0; step /= 2)
      v = op(v, shuffle(lane_mask<N>(), v, rank() + step < N ? rank() + step : rank(), N));
    return shuffle(lane_mask<N>(), v, 0, N);
  }
};
template <int N, int Bytes>
struct Block {
  static constexpr int size = N, bytes = Bytes;
  static PLAIT_INLINE int rank() { return threadIdx.x; }
  static PLAIT_INLINE int in_block() { return 0; }
  static PLAIT_INLINE Index first() { return blockIdx.x; }
  static PLAIT_INLINE Index count() { return gridDim.x; }
  static PLAIT_INLINE void sync() { __syncthreads(); }
  template <class T, class Op>
  static PLAIT_INLINE T join(T v, const Op& op) {
    const Shared<T> slots{reinterpret_cast<T*>(shared_memory)};
    v = Lanes<32>::join(v, op);
    if (threadIdx.x % 32 == 0) slots[threadIdx.x / 32] = v;
    sync();
    v = slots[0];
    for (int warp = 1; warp < N / 32; ++warp) v = op(v, slots[warp]);
    sync();
    return v;
  }
};

// Of a scan by Order::Grouped: what this thread's value comes to with those of the threads before it
// and with `before`, which becomes what the whole team has. Every thread calls it.
template <class T, class Team, class Op>
PLAIT_INLINE T team_scan(Team team, T v, T& before, const Op& op) {
  const int lane = team.rank() % 32;
#pragma unroll
  for (int step = 1; step < 32; step *= 2) {
    const T left = shuffle(0xffffffffu, v, lane >= step ? lane - step : lane, 32);
    if (lane >= step) v = op(left, v);
  }
  if (Team::size == 32) {
    const T sum = op(before, v);
    before = shuffle(0xffffffffu, sum, 31, 32);
    return sum;
  }
  const Shared<T> slots{reinterpret_cast<T*>(shared_memory)};
  if (lane == 31) slots[team.rank() / 32] = v;
  team.sync();
  T mine = before;
#pragma unroll
  for (int warp = 0; warp < Team::size / 32; ++warp) {
    if (warp == team.rank() / 32) mine = before;
    before = op(before, slots[warp]);
  }
  team.sync();
  return op(mine, v);
}

// Where a team's locals are, behind what all teams of the block exchange values in.
template <class Team>
PLAIT_INLINE unsigned char* shared_rows(Team team, int64 row_bytes) {
  return shared_memory + Team::bytes * (blockDim.x / Team::size) +
         team.in_block() * int(row_bytes);
}

// Where NumPy's tree over n elements cuts them, no leaf longer than `most`, for threads that look
// at its nodes side by side. A node is its path from the root, `level` bits.
template <class Tree>
struct Nodes {
  Index n, most;
  int depth = 0;
  PLAIT_INLINE Nodes(Index n, Index most) : n(n), most(most) {
    for (Index longest = n; longest > most; longest -= Tree::left(longest)) ++depth;
  }
  // Elements [at, at + length) of a node; false when it lies below a leaf, whose leftmost
  // descendant stands for it.
  PLAIT_INLINE bool find(int level, Index node, Index& at, Index& length) const {
    at = 0;
    length = n;
    while (level > 0 && length > most) {
      --level;
      const Index left = Tree::left(length);
      const bool right = node >> level & 1;
      at += right ? left : 0;
      length = right ? length - left : left;
    }
    return (node & ((Index(1) << level) - 1)) == 0;
  }
  // Adds up the leaves, which wait in the slots of their first elements: level by level, by the
  // first lanes of a team.
  template <class T, class Team>
  PLAIT_INLINE T join(Team team, Shared<T> slots, Index least) const {
    constexpr int lanes = Team::size < 32 ? Team::size : 32;
    team.sync();
    if (team.rank() < lanes) {
      for (int level = depth - 1; level >= 0; --level) {
        for (Index node = team.rank(); node < Index(1) << level; node += lanes) {
          Index at, length;
          if (!find(level, node, at, length) || length <= most) continue;
          T& left = slots[at / least];
          left = left + slots[(at + Tree::left(length)) / least];
        }
        Lanes<lanes>::sync();
      }
    }
    team.sync();
    const T total = slots[0];
    team.sync();
    return total;
  }
};

// The sum of a leaf by the tree's 8 (or 4) accumulators, a lane each; valid in the first of them.
template <int unroll, class Tree, class T, class F>
PLAIT_INLINE T lanes_sum(Index begin, Index n, const F& term) {
  constexpr int ways = Tree::ways;
  const unsigned mask = lane_mask<ways>();
  const int lane = threadIdx.x % ways;
  const Index main = n - n % ways;
  T total = NegativeZero<T>::get();
#pragma unroll unroll
  for (Index i = 0; i < main; i += ways) total = total + term(begin + i + lane);
#pragma unroll
  for (int step = 1; step < ways; step *= 2)
    total = total + shuffle(mask, total, lane + step < ways ? lane + step : lane, ways);
  if (main == 0) total = NegativeZero<T>::get();
  const int rest = int(n - main);
  if (rest > 0) {
    T v = NegativeZero<T>::get();
    if (lane < rest) v = term(begin + main + lane);
    for (int k = 0; k < rest; ++k) total = total + shuffle(mask, v, k, ways);
  }
  return total;
}

// The same by a warp: all of its lanes compute terms, and each of a tree's accumulators is that of
// several lanes. Valid in all of them.
template <class Tree, class T, class F>
PLAIT_INLINE T warp_sum(Index begin, Index n, const F& term) {
  constexpr int ways = Tree::ways;
  const int lane = threadIdx.x % 32;
  const Index main = n - n % ways;
  T total = NegativeZero<T>::get(), rest = total;
  for (Index i = 0; i < n; i += 32) {
    const T v = i + lane < n ? term(begin + i + lane) : NegativeZero<T>::get();
    const T added = i + lane < main ? v : NegativeZero<T>::get();  // which adds nothing
#pragma unroll
    for (int from = 0; from < 32; from += ways)
      total = total + shuffle(0xffffffffu, added, from + lane % ways, 32);
    if (main < i + 32) rest = shuffle(0xffffffffu, v, int(main - i) + lane % ways & 31, 32);
  }
#pragma unroll
  for (int step = 1; step < ways; step *= 2)
    total = total + shuffle(0xffffffffu, total, lane % ways + step < ways ? lane + step : lane, 32);
  if (main == 0) total = NegativeZero<T>::get();
  for (int k = 0; k < int(n - main); ++k) total = total + shuffle(0xffffffffu, rest, k, 32);
  return shuffle(0xffffffffu, total, 0, 32);
}

// The sum of term(0) ... term(n - 1), each called once by some thread of the team.
template <int unroll, class Tree, class T, class Team, class F>
PLAIT_INLINE T subtree_sum(Team team, Index begin, Index n, const F& term) {
  constexpr int ways = Tree::ways, groups = Team::size / ways;
  const int group = team.rank() / ways, lane = team.rank() % ways;
  if (Team::size == ways && n <= Tree::leaf)
    return shuffle(lane_mask<ways>(), lanes_sum<unroll, Tree, T>(begin, n, term), 0, ways);
  if (Team::size == 32 && n <= Tree::leaf) return warp_sum<Tree, T>(begin, n, term);
  const Shared<T> slots{reinterpret_cast<T*>(shared_memory + Team::bytes * team.in_block())};
  const Nodes<Tree> nodes(n, Tree::leaf);
  for (Index node = group; node < Index(1) << nodes.depth; node += groups) {
    Index at, length;
    if (!nodes.find(nodes.depth, node, at, length)) continue;
    const T total = lanes_sum<unroll, Tree, T>(begin + at, length, term);
    if (lane == 0) slots[at / Tree::least_leaf] = total;
  }
  return nodes.join(team, slots, Tree::least_leaf);
}
template <int unroll, class Tree, class T, class Team, class F>
PLAIT_INLINE T team_sum(Team team, Index n, const F& term) {
  constexpr Index span = Team::bytes / sizeof(T) * Tree::least_leaf;
  static_assert(span >= Tree::leaf, "too little shared memory for the sums");
  if (n <= span) return subtree_sum<unroll, Tree, T>(team, 0, n, term);
  Walk<Tree, T> walk(n, span);
  Index begin = 0;
  T total;
  do {
    const Index length = walk.length();
    total = subtree_sum<unroll, Tree, T>(team, begin, length, term);
    begin += length;
  } while (walk.next(total));
  return walk.sum();
}
