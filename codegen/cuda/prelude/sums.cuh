// Sums in NumPy's tree (core/summation_tree.def).

// Sums that share a loop.
template <class A, class B>
struct Sums {
  A first;
  B rest;
};
template <class A, class B>
PLAIT_INLINE Sums<A, B> sums(A a, B b) {
  return {a, b};
}
template <class A, class B>
PLAIT_INLINE Sums<A, B> operator+(Sums<A, B> a, Sums<A, B> b) {
  return {a.first + b.first, a.rest + b.rest};
}
template <class T>
struct NegativeZero {
  static PLAIT_INLINE T get() { return T(-0.0); }
};
template <class T>
struct NegativeZero<Complex<T>> {
  static PLAIT_INLINE Complex<T> get() { return {T(-0.0), T(-0.0)}; }
};
template <class A, class B>
struct NegativeZero<Sums<A, B>> {
  static PLAIT_INLINE Sums<A, B> get() { return {NegativeZero<A>::get(), NegativeZero<B>::get()}; }
};

// The way through the tree, subtree by subtree of at most `limit` elements: the left sums that wait
// for their right halves.
template <class Tree, class T>
class Walk {
 public:
  PLAIT_INLINE Walk(Index n, Index limit) : limit_(limit) { descend(n); }
  PLAIT_INLINE Index length() const { return length_; }
  // The current subtree's sum; false at the end, with sum() the total.
  PLAIT_INLINE bool next(T total) {
    while (depth_ > 0 && right_[depth_ - 1] == 0) total = open_[--depth_] + total;
    sum_ = total;
    if (depth_ == 0) return false;
    open_[depth_ - 1] = total;
    const Index n = right_[depth_ - 1];
    right_[depth_ - 1] = 0;
    descend(n);
    return true;
  }
  PLAIT_INLINE T sum() const { return sum_; }

 private:
  static constexpr int kDepth = sizeof(Index) == 8 ? 40 : 28;
  T open_[kDepth], sum_;
  Index right_[kDepth], length_, limit_;  // right_: elements to come, 0 once inside
  int depth_ = 0;
  PLAIT_INLINE void descend(Index n) {
    while (n > limit_) {
      const Index l = Tree::left(n);
      right_[depth_++] = n - l;
      n = l;
    }
    length_ = n;
  }
};

// ((r0 + r1) + (r2 + r3)) + ((r4 + r5) + (r6 + r7))
template <int ways, class T>
PLAIT_INLINE T join_ways(const T* r) {
  if constexpr (ways == 1)
    return r[0];
  else
    return join_ways<ways / 2>(r) + join_ways<ways / 2>(r + ways / 2);
}

// The sum of term(0) ... term(n - 1) by one thread; term() is called once an element, in order.
template <class Tree, class T, class F>
PLAIT_INLINE T leaf_sum(Index begin, Index n, const F& term) {
  T total = NegativeZero<T>::get();
  Index i = 0;
  if (n >= Tree::ways) {
    T r[Tree::ways];
#pragma unroll
    for (int k = 0; k < Tree::ways; ++k) r[k] = NegativeZero<T>::get();
    for (; i + Tree::ways <= n; i += Tree::ways) {
#pragma unroll
      for (int k = 0; k < Tree::ways; ++k) r[k] = r[k] + term(begin + i + k);
    }
    total = join_ways<Tree::ways>(r);
  }
  for (; i < n; ++i) total = total + term(begin + i);
  return total;
}
template <class Tree, class T, class F>
PLAIT_INLINE T tree_sum(Index n, const F& term) {
  if (n <= Tree::leaf) return leaf_sum<Tree, T>(0, n, term);
  Walk<Tree, T> walk(n, Tree::leaf);
  Index begin = 0;
  T total;
  do {
    const Index length = walk.length();
    total = leaf_sum<Tree, T>(begin, length, term);
    begin += length;
  } while (walk.next(total));
  return walk.sum();
}

// The same in pieces, subtrees of at most `limit` elements, which is a leaf at least: fetch() comes
// before each with its first element and how many there are.
template <class Tree, class T, class G, class F>
PLAIT_INLINE T piecewise_sum(Index n, Index limit, const G& fetch, const F& term) {
  Walk<Tree, T> walk(n, limit);
  Index begin = 0;
  T total;
  do {
    const Index length = walk.length();
    fetch(begin, length);
    total = tree_sum<Tree, T>(length, [&](Index i) { return term(begin + i); });
    begin += length;
  } while (walk.next(total));
  return walk.sum();
}

// The same, one value at a time: for bodies too large to be copied for each accumulator.
template <class Tree, class T>
class TreeSum {
 public:
  PLAIT_INLINE explicit TreeSum(Index n) : walk_(n, Tree::leaf), total_(NegativeZero<T>::get()) {
    if (n > 0) start();
  }
  PLAIT_INLINE void add(T v) {
    if (at_ < main_) {
#pragma unroll
      for (int k = 0; k < Tree::ways; ++k)
        if (at_ % Tree::ways == k) r_[k] = r_[k] + v;
      if (at_ + 1 == main_) total_ = join_ways<Tree::ways>(r_);
    } else {
      total_ = total_ + v;
    }
    if (++at_ == walk_.length()) {
      if (walk_.next(total_))
        start();
      else
        total_ = walk_.sum();
    }
  }
  PLAIT_INLINE T total() const { return total_; }

 private:
  Walk<Tree, T> walk_;
  T r_[Tree::ways], total_;
  Index at_ = 0, main_ = 0;
  PLAIT_INLINE void start() {
    at_ = 0;
    main_ = walk_.length() - walk_.length() % Tree::ways;
    total_ = NegativeZero<T>::get();
#pragma unroll
    for (int k = 0; k < Tree::ways; ++k) r_[k] = NegativeZero<T>::get();
  }
};
