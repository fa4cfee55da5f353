"""Functions whose loops stay Python's, in whole or in part, as people write them: numbers and lists, strings, dicts, stacks, queues, recursion, classes.
PROGRAMS: name -> (function, arguments of a size that Python takes some milliseconds for)."""

import bisect
import collections
import heapq
import itertools
import math
import random
import string

import numpy as np

G = {1: 0.5, 2: 1.5}
WORDS = [w * 2 for w in "the quick brown fox jumps over the lazy dog and runs from the angry bear that was asleep".split()]


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


def two_sum(nums, target):
    seen = {}
    for i, n in enumerate(nums):
        if target - n in seen:
            return [seen[target - n], i]
        seen[n] = i
    return None


def three_sum(nums):
    nums, res = sorted(nums), []
    for i in range(len(nums) - 2):
        if i > 0 and nums[i] == nums[i - 1]:
            continue
        lo, hi = i + 1, len(nums) - 1
        while lo < hi:
            s = nums[i] + nums[lo] + nums[hi]
            if s < 0:
                lo += 1
            elif s > 0:
                hi -= 1
            else:
                res.append((nums[i], nums[lo], nums[hi]))
                while lo < hi and nums[lo] == nums[lo + 1]:
                    lo += 1
                while lo < hi and nums[hi] == nums[hi - 1]:
                    hi -= 1
                lo += 1
                hi -= 1
    return res


def word_count(text):
    counts = {}
    for word in text.split():
        word = word.strip(string.punctuation).lower()
        if word not in counts:
            counts[word] = 0
        counts[word] += 1
    return counts


def most_common_letters(words):
    total = collections.Counter()
    for w in words:
        total.update(w)
    return [c for c, _ in total.most_common(3)]


def group_anagrams(words):
    groups = collections.defaultdict(list)
    for w in words:
        groups["".join(sorted(w))].append(w)
    return sorted(groups.values(), key=len)


def caesar(text, shift):
    out = ""
    for ch in text:
        if ch.isalpha():
            out += chr((ord(ch) - 97 + shift) % 26 + 97)
        else:
            out += ch
    return out


def run_length(text):
    i, out = 0, []
    while i < len(text):
        j = i
        while j < len(text) and text[j] == text[i]:
            j += 1
        out.append(f"{j - i}{text[i]}")
        i = j
    return "".join(out)


def is_palindrome(s):
    i, j = 0, len(s) - 1
    while i < j:
        while i < j and not s[i].isalnum():
            i += 1
        while i < j and not s[j].isalnum():
            j -= 1
        if s[i].lower() != s[j].lower():
            return False
        i, j = i + 1, j - 1
    return True


def palindromes(words):
    return sum(1 for w in words if is_palindrome(w))


def longest_substring(s):
    seen, start, best = {}, 0, 0
    for i, c in enumerate(s):
        if c in seen and seen[c] >= start:
            start = seen[c] + 1
        seen[c] = i
        best = max(best, i - start + 1)
    return best


def balanced(s):
    pairs, stack = {")": "(", "]": "[", "}": "{"}, []
    for c in s:
        if c in "([{":
            stack.append(c)
        elif c in pairs:
            if not stack or stack.pop() != pairs[c]:
                return False
    return not stack


def tokenize(text):
    tokens, i = [], 0
    while i < len(text):
        c = text[i]
        if c.isspace():
            i += 1
        elif c.isdigit():
            j = i
            while j < len(text) and text[j].isdigit():
                j += 1
            tokens.append(int(text[i:j]))
            i = j
        else:
            tokens.append(c)
            i += 1
    return tokens


def evaluate_rpn(tokens):
    stack = []
    for t in tokens:
        try:
            stack.append(int(t))
        except ValueError:
            b, a = stack.pop(), stack.pop()
            stack.append(a + b if t == "+" else a - b if t == "-" else a * b % 1000003)
    return stack.pop()


def parse_csv(text):
    rows = []
    for line in text.split("\n"):
        fields, current, quoted = [], "", False
        for ch in line:
            if ch == '"':
                quoted = not quoted
            elif ch == "," and not quoted:
                fields.append(current)
                current = ""
            else:
                current += ch
        rows.append([*fields, current])
    return rows


def bfs(graph, start):
    dist, queue = {start: 0}, collections.deque([start])
    while queue:
        u = queue.popleft()
        for v in graph[u]:
            if v not in dist:
                dist[v] = dist[u] + 1
                queue.append(v)
    return dist


def dfs_visit(graph, u, seen, order):
    seen.add(u)
    for v in graph[u]:
        if v not in seen:
            dfs_visit(graph, v, seen, order)
    order.append(u)


def dfs_order(graph):
    seen, order = set(), []
    for u in graph:
        if u not in seen:
            dfs_visit(graph, u, seen, order)
    return order


def dijkstra(graph, source):
    dist, heap = {source: 0}, [(0, source)]
    while heap:
        d, u = heapq.heappop(heap)
        if d > dist.get(u, math.inf):
            continue
        for v, w in graph[u]:
            if d + w < dist.get(v, math.inf):
                dist[v] = d + w
                heapq.heappush(heap, (d + w, v))
    return dist


def islands(grid):
    grid = [row[:] for row in grid]
    count = 0
    for r in range(len(grid)):
        for c in range(len(grid[0])):
            if grid[r][c] != 1:
                continue
            count += 1
            stack = [(r, c)]
            while stack:
                y, x = stack.pop()
                if 0 <= y < len(grid) and 0 <= x < len(grid[0]) and grid[y][x] == 1:
                    grid[y][x] = 2
                    stack += [(y + 1, x), (y - 1, x), (y, x + 1), (y, x - 1)]
    return count


def lcs(a, b):
    dp = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            if a[i - 1] == b[j - 1]:
                dp[i][j] = dp[i - 1][j - 1] + 1
            else:
                dp[i][j] = max(dp[i - 1][j], dp[i][j - 1])
    return dp[-1][-1]


def knapsack(weights, values, capacity):
    dp = [0] * (capacity + 1)
    for i in range(len(weights)):
        for w in range(capacity, weights[i] - 1, -1):
            dp[w] = max(dp[w], dp[w - weights[i]] + values[i])
    return dp[capacity]


def coin_change(coins, amount):
    dp = [0] + [math.inf] * amount
    for a in range(1, amount + 1):
        for c in coins:
            if a - c >= 0:
                dp[a] = min(dp[a], 1 + dp[a - c])
    return dp[amount]


def longest_increasing(nums):
    tails = []
    for x in nums:
        i = bisect.bisect_left(tails, x)
        if i == len(tails):
            tails.append(x)
        else:
            tails[i] = x
    return len(tails)


def matmul_lists(a, b):
    n, m, p = len(a), len(b), len(b[0])
    c = [[0] * p for _ in range(n)]
    for i in range(n):
        for j in range(p):
            for k in range(m):
                c[i][j] += a[i][k] * b[k][j]
    return c


def spiral(n):
    m = [[None] * n for _ in range(n)]
    dx, dy, x, y = 0, 1, 0, 0
    for i in range(n * n):
        m[x][y] = i
        nx, ny = x + dx, y + dy
        if 0 <= nx < n and 0 <= ny < n and m[nx][ny] is None:
            x, y = nx, ny
        else:
            dx, dy = dy, -dx
            x, y = x + dx, y + dy
    return m


def pascal(n):
    rows = [[1]]
    for i in range(1, n):
        row = [1]
        for j in range(1, i):
            row.append(rows[i - 1][j - 1] + rows[i - 1][j])
        rows.append(row + [1])
    return rows


def life_set(cells, steps):
    for _ in range(steps):
        near = collections.Counter((x + dx, y + dy) for x, y in cells for dx in (-1, 0, 1) for dy in (-1, 0, 1) if dx or dy)
        cells = {c for c, n in near.items() if n == 3 or (n == 2 and c in cells)}
    return cells


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
    table = [(1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"), (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")]
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


def numbers_up_to(n):
    a, b = 0, 1
    while a < n:
        yield a
        a, b = b, a + b


def even_fibonacci(n):
    total = 0
    for _ in range(50):
        total += sum(x for x in numbers_up_to(n) if x % 2 == 0)
    return total


class Account:
    fee = 1

    def __init__(self):
        self.balance, self.log = 0, []

    def deposit(self, amount):
        self.balance += amount - self.fee
        if self.balance % 100 == 0:
            self.log.append(self.balance)


def bank(n):
    account = Account()
    for i in range(n):
        account.deposit(i % 17)
    return account.balance, len(account.log)


class Node:
    def __init__(self, value):
        self.value, self.left, self.right = value, None, None


def insert(root, value):
    if root is None:
        return Node(value)
    at = root
    while True:
        side = "left" if value < at.value else "right"
        below = getattr(at, side)
        if below is None:
            setattr(at, side, Node(value))
            return root
        at = below


def in_order(node, out):
    if node:
        in_order(node.left, out)
        out.append(node.value)
        in_order(node.right, out)


def tree_sort(values):
    root, out = None, []
    for v in values:
        root = insert(root, v)
    in_order(root, out)
    return out


def make_counter(step):
    total = 0

    def add(x):
        nonlocal total
        total += x * step
        return total

    return add


def closures(n):
    add, last = make_counter(3), 0
    for i in range(n):
        last = add(i)
    return last


def monte_carlo(n):
    rng, inside = random.Random(3), 0
    for _ in range(n):
        x, y = rng.random(), rng.random()
        if x * x + y * y <= 1:
            inside += 1
    return 4 * inside / n


def merge_intervals(intervals):
    out = []
    for lo, hi in sorted(intervals):
        if out and lo <= out[-1][1]:
            out[-1] = (out[-1][0], max(out[-1][1], hi))
        else:
            out.append((lo, hi))
    return out


def sliding_window(nums, k):
    q, out = collections.deque(), []
    for i, x in enumerate(nums):
        while q and nums[q[-1]] <= x:
            q.pop()
        q.append(i)
        if q[0] == i - k:
            q.popleft()
        if i >= k - 1:
            out.append(nums[q[0]])
    return out


def trap_rain(height):
    left, right, l_max, r_max, water = 0, len(height) - 1, 0, 0, 0
    while left < right:
        if height[left] < height[right]:
            l_max = max(l_max, height[left])
            water += l_max - height[left]
            left += 1
        else:
            r_max = max(r_max, height[right])
            water += r_max - height[right]
            right -= 1
    return water


def find(parent, x):
    while parent[x] != x:
        parent[x] = parent[parent[x]]
        x = parent[x]
    return x


def kruskal(n, edges):
    parent, total = list(range(n)), 0
    for w, a, b in sorted(edges):
        a, b = find(parent, a), find(parent, b)
        if a != b:
            parent[a] = b
            total += w
    return total


def brainfuck(code, steps):
    tape, at, i, out, loops, stack = [0] * 100, 0, 0, [], {}, []
    for k, c in enumerate(code):
        if c == "[":
            stack.append(k)
        elif c == "]":
            j = stack.pop()
            loops[k], loops[j] = j, k
    while i < len(code) and steps > 0:
        c = code[i]
        if c == ">":
            at += 1
        elif c == "<":
            at -= 1
        elif c == "+":
            tape[at] = (tape[at] + 1) % 256
        elif c == "-":
            tape[at] = (tape[at] - 1) % 256
        elif c == ".":
            out.append(chr(tape[at]))
        elif (c == "[" and not tape[at]) or (c == "]" and tape[at]):
            i = loops[i]
        i += 1
        steps -= 1
    return "".join(out)


def small_vectors(points):
    total = np.zeros(3)
    for p in points:
        total = total + p * 0.5
    return total


def _r():
    return random.Random(1)


def _integers(n, top):
    r = _r()
    return [r.randrange(top) for _ in range(n)]


def _graph(n, each):
    r = _r()
    return {u: [r.randrange(n) for _ in range(each)] for u in range(n)}


def _weighted(n, each):
    r = _r()
    return {u: [(r.randrange(n), r.randrange(1, 20)) for _ in range(each)] for u in range(n)}


def _text(n):
    r = _r()
    return " ".join(r.choice(WORDS) for _ in range(n))


def _letters(n, of="abcdefgh"):
    r = _r()
    return "".join(r.choice(of) for _ in range(n))


def _lists(n):
    r = _r()
    return [[r.randrange(9) for _ in range(n)] for _ in range(n)]


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
    "two sum": (two_sum, lambda: (list(range(20_000)), -1)),
    "three sum": (three_sum, lambda: ([x - 300 for x in _integers(200, 600)],)),
    "words counted": (word_count, lambda: (_text(5000),)),
    "Counter of letters": (most_common_letters, lambda: (_text(2000).split(),)),
    "anagrams": (group_anagrams, lambda: (_text(3000).split(),)),
    "caesar": (caesar, lambda: (_text(1000), 3)),
    "run lengths": (run_length, lambda: (_letters(8000, "ab"),)),
    "palindromes": (palindromes, lambda: (_text(4000).split(),)),
    "longest substring": (longest_substring, lambda: (_letters(6_000),)),
    "balanced brackets": (balanced, lambda: ("([{}])" * 3000,)),
    "tokens": (tokenize, lambda: ("12 + 345 * ( 6 - 7 ) " * 200,)),
    "reverse Polish, try": (evaluate_rpn, lambda: (["1"] + ["2", "+", "3", "*"] * 1000,)),
    "csv by characters": (parse_csv, lambda: ('a,"b,c",123,xyz\n' * 1000,)),
    "breadth first": (bfs, lambda: (_graph(3000, 4), 0)),
    "depth first": (dfs_order, lambda: (_graph(600, 3),)),
    "dijkstra": (dijkstra, lambda: (_weighted(1000, 4), 0)),
    "islands": (islands, lambda: ([[x % 2 for x in row] for row in _lists(60)],)),
    "longest common, lists": (lcs, lambda: (_letters(90), _letters(80))),
    "knapsack, list": (knapsack, lambda: (_integers(12, 50), _integers(12, 90), 1000)),
    "coin change": (coin_change, lambda: ([1, 5, 10, 25], 2000)),
    "longest increasing": (longest_increasing, lambda: (_integers(15_000, 100_000),)),
    "matrix of lists": (matmul_lists, lambda: (_lists(28), _lists(28))),
    "spiral": (spiral, lambda: (90,)),
    "pascal": (pascal, lambda: (120,)),
    "life by a set": (life_set, lambda: ({(x, x * x % 19) for x in range(60)}, 6)),
    "collatz with a cache": (collatz_cache, lambda: (4000,)),
    "collatz": (lambda n: [collatz_steps(k) for k in range(1, n)], lambda: (600,)),
    "sums of digits": (digits_sum, lambda: (8000,)),
    "happy numbers": (happy_numbers, lambda: (400,)),
    "roman": (roman, lambda: (2000,)),
    "fizz buzz": (fizz_buzz, lambda: (30_000,)),
    "coprime pairs": (coprime_pairs, lambda: (90,)),
    "pythagorean": (pythagorean, lambda: (45,)),
    "generator": (even_fibonacci, lambda: (10**9,)),
    "class of accounts": (bank, lambda: (20_000,)),
    "binary tree": (tree_sort, lambda: (_integers(700, 10_000),)),
    "closures": (closures, lambda: (30_000,)),
    "monte carlo": (monte_carlo, lambda: (15_000,)),
    "intervals": (merge_intervals, lambda: ([(x, x + 5) for x in _integers(8000, 100_000)],)),
    "sliding window, deque": (sliding_window, lambda: (_integers(8000, 1000), 20)),
    "rain": (trap_rain, lambda: (_integers(10_000, 100),)),
    "kruskal": (kruskal, lambda: (1000, list(zip(_integers(3000, 100), _integers(3000, 1000), reversed(_integers(3000, 1000)))))),
    "brainfuck": (brainfuck, lambda: ("+++[>++[>+++[>+<-]<-]<-]>>>." * 8, 20_000)),
    "small arrays": (small_vectors, lambda: (list(np.arange(3000.0).reshape(1000, 3)),)),
    "product of ranges": (lambda n: [a * b for a, b in itertools.product(range(n), repeat=2) if (a ^ b) & 1], lambda: (150,)),
}
