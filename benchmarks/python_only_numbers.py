"""Functions whose loops stay Python's, in whole or in part, as people write them: numbers, recursion, sorting. python_only_structures.py has those of
strings, dicts, graphs and classes. PROGRAMS: name -> (function, arguments of a size that Python takes a few milliseconds for)."""

import itertools
import random

import numpy as np

G = {1: 0.5, 2: 1.5}


def primes_for_else(n):
    found = []
    for k in range(2, n):
        for d in found:
            if k % d == 0:
                break
        else:
            found.append(k)
    return found


def primes_by_range(n):
    found = []
    for k in range(2, n):
        for d in range(2, int(k**0.5) + 1):
            if k % d == 0:
                break
        else:
            found.append(k)
    return found


def is_prime(n):
    if n < 2:
        return False
    i = 2
    while i * i <= n:
        if n % i == 0:
            return False
        i += 1
    return True


def count_primes(n):
    return len([x for x in range(n) if is_prime(x)])


def sieve_list(n):
    sieve = [True] * (n + 1)
    sieve[0] = sieve[1] = False
    for i in range(2, int(n**0.5) + 1):
        if sieve[i]:
            for j in range(i * i, n + 1, i):
                sieve[j] = False
    return [i for i, p in enumerate(sieve) if p]


def prime_factors(numbers):
    out = {}
    for n in numbers:
        factors, m, p = [], n, 2
        while p * p <= m:
            while m % p == 0:
                factors.append(p)
                m //= p
            p += 1
        if m > 1:
            factors.append(m)
        out[n] = factors
    return out


def next_greater(a):
    res, stack = [-1] * len(a), []
    for i in range(len(a)):
        while stack and a[stack[-1]] < a[i]:
            res[stack.pop()] = a[i]
        stack.append(i)
    return res


def monotonic(values):
    st, out = [], []
    for v in values:
        while st and st[-1] > v:
            st.pop()
        out.append(st[-1] if st else None)
        st.append(v)
    return out


def weighted(a):
    s = 0.0
    for v in a:
        s += v * G[2]
    return s


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def hanoi(n, source, target, spare):
    if n == 0:
        return 0
    return hanoi(n - 1, source, spare, target) + 1 + hanoi(n - 1, spare, target, source)


def ackermann(m, n):
    if m == 0:
        return n + 1
    if n == 0:
        return ackermann(m - 1, 1)
    return ackermann(m - 1, ackermann(m, n - 1))


def solve_queens(n, row, cols, d1, d2):
    if row == n:
        return 1
    count = 0
    for c in range(n):
        if c in cols or row + c in d1 or row - c in d2:
            continue
        cols.add(c)
        d1.add(row + c)
        d2.add(row - c)
        count += solve_queens(n, row + 1, cols, d1, d2)
        cols.remove(c)
        d1.remove(row + c)
        d2.remove(row - c)
    return count


def queens(n):
    return solve_queens(n, 0, set(), set(), set())


def is_safe(board, row, col):
    for i in range(row):
        if board[i] == col or abs(board[i] - col) == row - i:
            return False
    return True


def place(board, row, n, solutions):
    if row == n:
        solutions.append(board[:])
        return
    for col in range(n):
        if is_safe(board, row, col):
            board[row] = col
            place(board, row + 1, n, solutions)
            board[row] = -1


def queens_board(n):
    solutions = []
    place([-1] * n, 0, n, solutions)
    return len(solutions)


def permute(nums):
    res = []

    def backtrack(start):
        if start == len(nums):
            res.append(nums[:])
            return
        for i in range(start, len(nums)):
            nums[start], nums[i] = nums[i], nums[start]
            backtrack(start + 1)
            nums[start], nums[i] = nums[i], nums[start]

    backtrack(0)
    return res


def subset_sums(nums, target):
    found = []

    def dfs(i, path, total):
        if total == target:
            found.append(path)
            return
        for j in range(i, len(nums)):
            if total + nums[j] > target:
                break
            dfs(j + 1, path + [nums[j]], total + nums[j])

    dfs(0, [], 0)
    return found


def combinations_sum(candidates, target):
    result, path = [], []

    def search(start, left):
        if left == 0:
            result.append(list(path))
            return
        i = start
        while i < len(candidates) and candidates[i] <= left:
            path.append(candidates[i])
            search(i, left - candidates[i])
            path.pop()
            i += 1

    search(0, target)
    return result


def gray_code(n):
    codes = [0]
    for i in range(n):
        for j in range(len(codes) - 1, -1, -1):
            codes.append(codes[j] | (1 << i))
    return codes


def bubble_sort(a):
    a = list(a)
    for i in range(len(a)):
        swapped = False
        for j in range(len(a) - i - 1):
            if a[j] > a[j + 1]:
                a[j], a[j + 1] = a[j + 1], a[j]
                swapped = True
        if not swapped:
            break
    return a


def insertion_sort(a):
    a = a[:]
    for i in range(1, len(a)):
        key, j = a[i], i - 1
        while j >= 0 and a[j] > key:
            a[j + 1] = a[j]
            j -= 1
        a[j + 1] = key
    return a


def merge_sort(a):
    if len(a) <= 1:
        return a
    mid = len(a) // 2
    left, right = merge_sort(a[:mid]), merge_sort(a[mid:])
    merged, i, j = [], 0, 0
    while i < len(left) and j < len(right):
        if left[i] <= right[j]:
            merged.append(left[i])
            i += 1
        else:
            merged.append(right[j])
            j += 1
    return merged + left[i:] + right[j:]


def quick_sort(a):
    if len(a) < 2:
        return a
    pivot = a[len(a) // 2]
    return quick_sort([x for x in a if x < pivot]) + [x for x in a if x == pivot] + quick_sort([x for x in a if x > pivot])


def partition(a, low, high):
    pivot, i = a[high], low - 1
    for j in range(low, high):
        if a[j] <= pivot:
            i += 1
            a[i], a[j] = a[j], a[i]
    a[i + 1], a[high] = a[high], a[i + 1]
    return i + 1


def quick_sort_rec(a, low, high):
    if low < high:
        p = partition(a, low, high)
        quick_sort_rec(a, low, p - 1)
        quick_sort_rec(a, p + 1, high)


def quick_sort_in_place(a):
    a = list(a)
    quick_sort_rec(a, 0, len(a) - 1)
    return a


def heapify(a, n, i):
    largest, left, right = i, 2 * i + 1, 2 * i + 2
    if left < n and a[left] > a[largest]:
        largest = left
    if right < n and a[right] > a[largest]:
        largest = right
    if largest != i:
        a[i], a[largest] = a[largest], a[i]
        heapify(a, n, largest)


def heap_sort(a):
    a = list(a)
    n = len(a)
    for i in range(n // 2 - 1, -1, -1):
        heapify(a, n, i)
    for i in range(n - 1, 0, -1):
        a[0], a[i] = a[i], a[0]
        heapify(a, i, 0)
    return a


def shell_sort(a):
    a = list(a)
    gap = len(a) // 2
    while gap > 0:
        for i in range(gap, len(a)):
            t, j = a[i], i
            while j >= gap and a[j - gap] > t:
                a[j] = a[j - gap]
                j -= gap
            a[j] = t
        gap //= 2
    return a


def counting_sort(a):
    counts = [0] * (max(a) + 1)
    for x in a:
        counts[x] += 1
    out = []
    for value in range(len(counts)):
        for _ in range(counts[value]):
            out.append(value)
    return out


def binary_searches(a, keys):
    found = []
    for key in keys:
        lo, hi = 0, len(a) - 1
        while lo <= hi:
            mid = (lo + hi) // 2
            if a[mid] == key:
                break
            if a[mid] < key:
                lo = mid + 1
            else:
                hi = mid - 1
        found.append(mid if lo <= hi else -1)
    return found


def collatz_cache(limit):
    cache, best = {1: 1}, 1
    for n in range(2, limit):
        m, path = n, []
        while m not in cache:
            path.append(m)
            m = m // 2 if m % 2 == 0 else 3 * m + 1
        length = cache[m]
        while path:
            length += 1
            cache[path.pop()] = length
        best = max(best, cache[n])
    return best


def collatz_steps(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def digits_sum(limit):
    found = []
    for n in range(limit):
        s, m = 0, n
        while m > 0:
            s += m % 10
            m //= 10
        if s % 7 == 0 and str(s) not in found:
            found.append(str(s))
    return found


def happy_numbers(limit):
    out = []
    for n in range(1, limit):
        seen, m = set(), n
        while m != 1 and m not in seen:
            seen.add(m)
            m = sum(int(d) ** 2 for d in str(m))
        if m == 1:
            out.append(n)
    return out


def roman(limit):
    table = [(1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"), (40, "XL")]
    table += [(10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")]
    out = []
    for n in range(1, limit):
        s = ""
        for v, r in table:
            while n >= v:
                s += r
                n -= v
        out.append(s)
    return out


def fizz_buzz(n):
    out = []
    for i in range(1, n + 1):
        if i % 15 == 0:
            out.append("FizzBuzz")
        elif i % 5 == 0:
            out.append("Buzz")
        elif i % 3 == 0:
            out.append("Fizz")
        else:
            out.append(str(i))
    return out


def gcd(a, b):
    while b:
        a, b = b, a % b
    return a


def coprime_pairs(n):
    pairs = []
    for a in range(1, n):
        for b in range(a + 1, n):
            if gcd(a, b) == 1:
                pairs.append((a, b))
    return pairs


def pythagorean(n):
    return [(a, b, c) for a in range(1, n) for b in range(a, n) for c in range(b, n) if a * a + b * b == c * c]


def _r():
    return random.Random(1)


def _integers(n, top):
    r = _r()
    return [r.randrange(top) for _ in range(n)]


PROGRAMS = {
    "primes, for-else": (primes_for_else, lambda: (1500,)),
    "primes by range": (primes_by_range, lambda: (3000,)),
    "is_prime in a comprehension": (count_primes, lambda: (2500,)),
    "sieve of a list": (sieve_list, lambda: (20_000,)),
    "prime factors": (prime_factors, lambda: (_integers(300, 5000),)),
    "next greater, a stack": (next_greater, lambda: (_integers(10_000, 10_000),)),
    "stack popped while greater": (monotonic, lambda: (_integers(10_000, 10_000),)),
    "weighted sum of an array": (weighted, lambda: (np.arange(10_000.0),)),
    "weighted sum of a list": (weighted, lambda: (list(map(float, range(20_000))),)),
    "fib, recursive": (fib, lambda: (19,)),
    "hanoi": (hanoi, lambda: (12, "a", "b", "c")),
    "ackermann": (ackermann, lambda: (2, 60)),
    "queens by sets": (queens, lambda: (7,)),
    "queens by a board": (queens_board, lambda: (6,)),
    "permutations": (permute, lambda: ([1, 2, 3, 4, 5, 6],)),
    "subset sums": (subset_sums, lambda: (sorted(_integers(18, 40)), 60)),
    "combination sums": (combinations_sum, lambda: ([2, 3, 5, 7, 11], 45)),
    "gray code": (gray_code, lambda: (13,)),
    "bubble sort": (bubble_sort, lambda: (_integers(120, 1000),)),
    "insertion sort": (insertion_sort, lambda: (_integers(200, 1000),)),
    "merge sort": (merge_sort, lambda: (_integers(1500, 1000),)),
    "quick sort by lists": (quick_sort, lambda: (_integers(2000, 100_000),)),
    "quick sort in place": (quick_sort_in_place, lambda: (_integers(1500, 100_000),)),
    "heap sort": (heap_sort, lambda: (_integers(700, 1000),)),
    "shell sort": (shell_sort, lambda: (_integers(1000, 100_000),)),
    "counting sort": (counting_sort, lambda: (_integers(20_000, 5000),)),
    "binary searches": (binary_searches, lambda: (sorted(_integers(1000, 5000)), _integers(2000, 5000))),
    "product of ranges": (lambda n: [a * b for a, b in itertools.product(range(n), repeat=2) if (a ^ b) & 1], lambda: (150,)),
    "collatz with a cache": (collatz_cache, lambda: (4000,)),
    "collatz": (lambda n: [collatz_steps(k) for k in range(1, n)], lambda: (600,)),
    "sums of digits": (digits_sum, lambda: (8000,)),
    "happy numbers": (happy_numbers, lambda: (400,)),
    "roman": (roman, lambda: (2000,)),
    "fizz buzz": (fizz_buzz, lambda: (30_000,)),
    "coprime pairs": (coprime_pairs, lambda: (90,)),
    "pythagorean": (pythagorean, lambda: (45,)),
}
