"""Functions whose loops stay Python's, as in python_only_numbers.py: strings, dicts, queues, graphs, tables, classes."""

import bisect
import collections
import heapq
import math
import random
import string

import numpy as np

from python_only_numbers import _integers, _r

WORDS = [w * 2 for w in "the quick brown fox jumps over the lazy dog and runs from the angry bear that was asleep".split()]


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
}
