"""Arrays that are written in parts, and read by loops."""


class Parts:
    def depthwise(self):
        """Windows or shifted slices of padding, times one weight a channel."""
        r = self.random
        dtype = r.choice(["f4", "f8", "i8"])
        n, c, kh, kw = r.randint(1, 3), r.choice([1, 3, 16]), r.randint(1, 4), r.randint(1, 4)
        h, w = r.choice([1, 5, 8, 30]), r.choice([2, 5, 17, 64])
        while n * c * (h + 10) * (w + 10) * kh * kw > 4 * self.limit:  # larger arrays are dropped at once
            n, c, h, w = 1, max(1, c // 2), max(1, h * 2 // 3), max(2, w * 2 // 3)
        x, f = self.make((n, c, h, w), dtype), self.make((c, kh, kw), dtype)
        top, bottom, left, right = (r.choice([0, 1, 1, 2, 5]) for _ in range(4))
        if h + top + bottom < kh or w + left + right < kw:
            top, left = top + kh, left + kw
        p = self.step(f"np.pad({{}}, ((0, 0), (0, 0), ({top}, {bottom}), ({left}, {right})){r.choice(['', ', constant_values=2'])})", "exactly", "pad", x)
        rows, columns = h + top + bottom - kh + 1, w + left + right - kw + 1
        if r.random() < 0.5:
            step = r.choice(["", "", "[:, :, ::2, ::3]"])
            t = self.step(f"np.lib.stride_tricks.sliding_window_view({{}}, ({kh}, {kw}), axis=(2, 3)){step} * {{}}[:, None, None]", "elementwise", "multiply", p, f)
            y = self.reduce("sum", t, (-2, -1))
            self.drop(t)
        else:
            y = self.sum_of_shifts((kh, kw), (rows, columns), "{{}}[:, :, {i}, {j}] * {{}}[:, {k}, {l}][:, None, None]", "elementwise", "multiply", p, f)
        if r.random() < 0.8:
            self.drop(p)
        return y

    def parts(self):
        """What is rolled, joined and padded in several ways, added up; sometimes one of them is kept."""
        r = self.random
        shape = r.choice([(5,), (900,), (3, 7), (40, 1), (33, 70), (2, 3, 40)])
        x = self.make(shape, r.choice(["f4", "f8", "i8"]))
        y = x
        for _ in range(r.randint(2, 5)):
            axis, n = (at := r.randrange(len(shape))), shape[at]
            cut = r.randint(0, n)
            head, tail = (f"[{':, ' * axis}{part}]" for part in (f":{cut}", f"{cut}:"))
            form, op = r.choice([
                (f"np.roll({{}}, {r.choice([1, -1, 2, n + 3, -1000])}, {axis})", "roll"),
                (f"np.roll({{}}, ({r.randint(-3, 3)}, {r.randint(-3, 3)}), (0, {axis}))", "roll"),
                (f"np.concatenate(({{0}}{tail} * 2, {{0}}{head}), {axis})", "concatenate"),
                (f"np.pad({{}}, 2, mode={r.choice(['edge', 'wrap', 'symmetric', 'constant'])!r})[{', '.join(f'{(a := r.randint(0, 4))}:{a + e}' for e in shape)}]", "pad"),
            ])
            part = self.step(form, "exactly", op, r.choice([x, y]))
            total = self.step("{} + {}", "elementwise", "add", y, part)
            self.drop(part)
            y = total
        return y
