"""Pictures of what plait.explain says, as SVG: steps as boxes in order, and between them the arrays that pass through memory."""

import os
import unicodedata
from xml.sax.saxutils import escape

from ._trace_link import link

_COLUMNS = 60  # of text in a box, before it is broken
_FONT = 12.0
_COLUMN = 0.625 * _FONT  # monospaced fonts take 0.6
_LINE = 16.0
_PAD = 9.0
_GAP, _LAYER_GAP, _MARGIN = 22.0, 34.0, 20.0
_BAR = 5.0
_MOST_STEPS = 40  # which a page takes
_UNITS = "B", "KiB", "MiB", "GiB"

_PAPER, _INK, _FAINT, _EDGE = "#ffffff", "#1a1a1a", "#5a6270", "#8a93a3"
_STEPS = {  # kind: (fill, border)
    "region": ("#e8f0fe", "#3b6fd4"),
    "operation": ("#eef1f4", "#6b7685"),
    "fallback": ("#fdeede", "#c96a12"),
    "array": ("#eaf6ec", "#4c9a5b"),
}


def bytes_text(n):
    unit = 0
    while n >= 1024 and unit < 3:
        n /= 1024
        unit += 1
    return f"{n:.1f} {_UNITS[unit]}" if unit else f"{n} {_UNITS[0]}"


def counted(n, thing):
    return f"{n} {thing}" if n == 1 else f"{n} {thing}s"


class Explanation(str):
    """What plait.explain says: text, and in a notebook a picture."""

    def __new__(cls, text, picture):
        made = super().__new__(cls, text)
        made._picture = picture
        return made

    def __reduce__(self):
        return str, (str(self),)

    def _repr_svg_(self):
        return self._picture.svg()

    def _repr_html_(self):
        return self._page(link(self._picture.trace))

    def _page(self, more=""):
        return (
            f'<div style="overflow:auto">{self._repr_svg_()}</div>\n{more}'
            f"<details><summary>as text</summary><pre>{escape(self)}</pre></details>"
        )

    def save(self, path):
        """Writes the picture to a file: .svg, or .html with the text below it. Raises ValueError for other names, OSError."""
        kind = os.path.splitext(os.fsdecode(path))[1].lower()
        if kind == ".svg":
            text = f'<?xml version="1.0" encoding="UTF-8"?>\n{self._repr_svg_()}\n'
        elif kind == ".html":
            head = '<!DOCTYPE html>\n<html>\n<head><meta charset="utf-8"><title>plait.explain</title></head>\n'
            text = f'{head}<body style="background:{_PAPER};color:{_INK}">\n{self._page()}\n</body>\n</html>\n'
        else:
            raise ValueError(f"save() writes .svg and .html, not {os.fsdecode(path)!r}")
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)


class _Box:
    """A step or an array: rows of text, and where they are drawn."""

    weight = 1

    def __init__(self, kind, rows, tip=""):
        self.kind, self.tip = kind, tip
        self.rows = []
        self.into = []  # boxes that this one leads to: (box, whether by order alone)
        self.out_of = []
        self.share = 0.0  # of the time measured
        for style, text in rows:
            self.say(style, text)
        self.layer, self.x, self.y = 0, 0.0, 0.0
        self.feeds = True  # an input, to be drawn near who reads it

    def say(self, style, text):
        """Adds rows; style: "title", "text" or "faint"."""
        self.rows += [(style, part) for part in _broken(text)]
        self.width = max(_columns(text) * (1.08 if style == "title" else 1) for style, text in self.rows) * _COLUMN + 2 * _PAD
        self.height = len(self.rows) * _LINE + 2 * _PAD - 2

    def leads_to(self, other, order_only=False):
        if all(box is not other for box, _ in self.into):
            self.into.append((other, order_only))
            other.out_of.append(self)


class _Bend:
    """A place where a line passes a layer."""

    width = height = 10.0
    kind = None
    weight = 8  # lines are straight first

    def __init__(self, layer):
        self.layer, self.x, self.y = layer, 0.0, 0.0


class Picture:
    """Steps are added in the order in which they run."""

    def __init__(self):
        self.title = ""
        self.trace = None  # of what was run for it
        self._steps, self._arrays, self._times = [], [], []
        self._by_number, self._by_site, self._made_at = {}, {}, {}
        self._why = {}
        self._left_out = 0
        self._rounds = 1

    def begin_rounds(self, times):
        """The next step begins a round of a loop that comes so often."""
        self._rounds = times

    def regions(self, parts, heading=""):
        """Regions, or operations one at a time, as _plait.explain gives them; heading: what asked for them. Returns the arrays made."""
        regions, why = parts
        self._why.update(why)
        made = []
        for number, planned, results, reads, lines, scratch, moved, predicted, measured, tier in regions:
            kind = "region" if planned else "operation"
            names = ", ".join(dict.fromkeys(name or type_ for _, _, name, type_, _ in results))
            rows = [("title", f"{kind} {number}: {names}")]
            if heading:
                rows.append(("faint", heading))
                heading = ""
            if measured:
                rows.append(("text", f"{_seconds(measured)} measured, {_seconds(predicted)} predicted"))
            elif predicted:
                rows.append(("text", f"{_seconds(predicted)} predicted"))
            rows.append(("text", f"{bytes_text(moved)} moved" + (f"; {tier}" if tier else "")))
            rows += [("faint", f"{where}  {text}".rstrip()) for where, text in dict.fromkeys(lines) if where]
            rows += [("faint", f"in {space}: {_named(value)}, {bytes_text(n)} at {level}") for space, level, value, n in scratch]
            if not self._room():
                continue
            box = self._step(_Box(kind, rows), measured)
            for value in reads:
                if not value[3].startswith("scalar "):
                    self._found(value).leads_to(box)
            for value in results:
                array = self._array(value)
                box.leads_to(array)
                made.append(array)
        return made

    def fallback(self, name, site, where, seconds, reads):
        """A function of NumPy's; reads: the arrays that were made for it."""
        if not self._room():
            return
        rows = [("title", f"NumPy: {name}")]
        if where:
            rows.append(("faint", where))
        if seconds is not None:
            rows.append(("text", f"{_seconds(seconds)} measured"))
        box = self._step(_Box("fallback", rows), seconds or 0)
        for array in reads:
            array.leads_to(box)
        self._made_at[site] = box

    def at_call(self, what, site, where, seconds, times):
        """Something that was computed when it was asked for."""
        if not self._room():
            return
        rows = [("title", what), ("faint", f"at its call {where}".rstrip())]
        rows.append(("text", f"{_seconds(seconds)} measured" + (f", {times} times" if times > 1 else "")))
        self._made_at[site] = self._step(_Box("operation", rows), seconds)

    def _room(self):
        self._left_out += len(self._steps) >= _MOST_STEPS
        return len(self._steps) < _MOST_STEPS

    def _step(self, box, seconds):
        box.feeds = False
        if self._rounds > 1:
            box.say("faint", f"{self._rounds} times, of which this is the first")
            self._rounds = 1
        self._steps.append(box)
        self._times.append(seconds)
        return box

    def _array(self, value):
        number, site, name, type_, size = value
        rows = [("title", name or type_), ("text", f"{type_}, {bytes_text(size)}" if name else bytes_text(size))]
        box = _Box("array", rows, self._why.get(number, ""))
        self._arrays.append(box)
        self._by_number[number] = box
        if site:
            self._by_site[site, size] = box
        return box

    def _found(self, value):
        """The box of an array that is read. What others may write to has a number in each report: its call site stands for it."""
        number, site, name, type_, size = value
        known = self._by_number.get(number) or self._by_site.get((site, size))
        if known is None and number >> 63 and name:
            known = next((box for box in self._arrays if box.feeds and box.rows[0] == ("title", name)), None)
        if known is not None:
            self._by_number[number] = known
            return known
        box = self._array(value)
        if site and site in self._made_at:
            self._made_at[site].leads_to(box)
        return box

    def svg(self):
        """The picture; its size follows from the text."""
        boxes = self._arrays + self._steps
        for before, step in zip(self._steps, self._steps[1:]):
            if not step.out_of:
                before.leads_to(step, order_only=True)
        total = sum(self._times)
        for step, seconds in zip(self._steps, self._times):
            step.share = seconds / total if total else 0.0
        heading = _broken(self.title.strip(), 90) or ["nothing to compute"]
        if self._left_out:
            heading.append(f"and {counted(self._left_out, 'step')} more, which the text has")
        top = _MARGIN + len(heading) * _LINE + 12
        lines = _place(boxes, top)
        width = max([_columns(line) * _COLUMN * 1.08 for line in heading] + [box.x + box.width - _MARGIN for box in boxes]) + 2 * _MARGIN
        width = max([width, *(x + _MARGIN for path, _ in lines for x, _ in path)])
        height = max([top] + [box.y + box.height for box in boxes]) + _MARGIN
        out = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" style="max-width:100%;height:auto" viewBox="0 0 {width:.0f} {height:.0f}" '
            f'font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="{_FONT:g}">',
            f'<rect class="paper" width="100%" height="100%" fill="{_PAPER}"/>',
        ]
        for i, line in enumerate(heading):
            out.append(_text(_MARGIN, _MARGIN + _FONT + i * _LINE, "title", line))
        for path, order_only in lines:
            dash = ' stroke-dasharray="3 4"' if order_only else ""
            out.append(f'<path d="{_curve(path)}" fill="none" stroke="{_EDGE}" stroke-width="1.4"{dash}/>')
            x, y = path[-1]
            out.append(f'<path d="M{x:.1f} {y:.1f}l-4 -7h8z" fill="{_EDGE}"/>')
        for box in boxes:
            out += _drawn(box)
        return "\n".join([*out, "</svg>"])


# --- layout ---------------------------------------------------------------------------------------------------------


def _place(boxes, top):
    """Gives boxes their places, a layer below the other; returns the lines as ([points], whether by order alone)."""
    _layer(boxes)
    layers = [[] for _ in range(1 + max((box.layer for box in boxes), default=-1))]
    for box in boxes:
        layers[box.layer].append(box)
    chains, near = [], {id(box): ([], []) for box in boxes}  # what stands above, and below
    for box in boxes:
        for other, order_only in box.into:
            chain = [box]
            for layer in range(box.layer + 1, other.layer):
                chain.append(_Bend(layer))
                layers[layer].append(chain[-1])
                near[id(chain[-1])] = [], []
            chain.append(other)
            for upper, lower in zip(chain, chain[1:]):
                near[id(upper)][1].append(lower)
                near[id(lower)][0].append(upper)
            chains.append((chain, order_only))
    for layer in layers:
        _pack(layer)
    for sweep in range(8):
        down = sweep % 2 == 0
        for layer in layers if down else reversed(layers):
            centre = {id(box): _mean(near[id(box)][0 if down else 1], box) for box in layer}
            layer.sort(key=lambda box: centre[id(box)])
            _settle(layer, centre)
    for sweep in range(16):
        for layer in layers if sweep % 2 else reversed(layers):
            _settle(layer, {id(box): _mean(near[id(box)][0] + near[id(box)][1], box) for box in layer})
    left = min((box.x for layer in layers for box in layer), default=0.0)
    y = top
    for layer in layers:
        height = max(box.height for box in layer)
        for box in layer:
            box.x += _MARGIN - left
            box.y = y
            if box.kind is None:
                box.height = height
        y += height + _LAYER_GAP
    return [(_points(chain), order_only) for chain, order_only in chains]


def _layer(boxes):
    """Each below all that lead to it; an input right above the first that reads it."""
    open_, order = {id(box): len(box.out_of) for box in boxes}, [box for box in boxes if not box.out_of]
    for box in order:
        for other, _ in box.into:
            other.layer = max(other.layer, box.layer + 1)
            open_[id(other)] -= 1
            if not open_[id(other)]:
                order.append(other)
    for box in boxes:
        if not box.out_of and box.into and box.feeds:
            box.layer = min(other.layer for other, _ in box.into) - 1


def _pack(layer):
    x = -sum(box.width + _GAP for box in layer) / 2
    for box in layer:
        box.x = x
        x += box.width + _GAP


def _mean(others, box):
    """The centre of what a box is connected with; where it stands, if that is nothing."""
    centres = [other.x + other.width / 2 for other in others]
    return sum(centres) / len(centres) if centres else box.x + box.width / 2


def _settle(layer, centre):
    """As near to these centres as the others in the layer let them, in this order: runs of boxes that touch are centred together."""
    runs = []  # [boxes, weight, width, where its left edge would best be]
    for box in layer:
        run = [[box], box.weight, box.width, centre[id(box)] - box.width / 2]
        while runs and runs[-1][3] + runs[-1][2] + _GAP > run[3]:
            boxes, weight, width, x = runs.pop()
            shift = width + _GAP
            x = (weight * x + run[1] * (run[3] - shift)) / (weight + run[1])
            run = [boxes + run[0], weight + run[1], shift + run[2], x]
        runs.append(run)
    for boxes, _, _, x in runs:
        for box in boxes:
            box.x = x
            x += box.width + _GAP


def _points(chain):
    """From below the first to the top of the last, through the middle of each bend."""
    points = [(chain[0].x + chain[0].width / 2, chain[0].y + chain[0].height)]
    for bend in chain[1:-1]:
        points += [(bend.x + bend.width / 2, bend.y), (bend.x + bend.width / 2, bend.y + bend.height)]
    points.append((chain[-1].x + chain[-1].width / 2, chain[-1].y))
    return points


# --- drawing --------------------------------------------------------------------------------------------------------


def _curve(points):
    """Upright at the points; each second stretch passes a layer and is straight."""
    out = f"M{points[0][0]:.1f} {points[0][1]:.1f}"
    for i, ((x, y), (to_x, to_y)) in enumerate(zip(points, points[1:])):
        middle = (y + to_y) / 2
        out += f"L{to_x:.1f} {to_y:.1f}" if i % 2 else f"C{x:.1f} {middle:.1f} {to_x:.1f} {middle:.1f} {to_x:.1f} {to_y:.1f}"
    return out


_HOT = 0xF2, 0xA5, 0x9A  # of a step that takes all of the time


def _warmer(colour, share):
    """The colour of a step that takes such a part of the time."""
    cold = bytes.fromhex(colour[1:])
    return "#" + bytes(round(c + (h - c) * share) for c, h in zip(cold, _HOT)).hex()


def _drawn(box):
    fill, border = _STEPS[box.kind]
    if box.kind != "array":
        fill = _warmer(fill, box.share)
    round_ = 12 if box.kind == "array" else 4
    yield f'<g class="{box.kind}">'
    if box.tip:
        yield f"<title>{escape(_clean(box.tip))}</title>"
    yield (
        f'<rect class="box" x="{box.x:.1f}" y="{box.y:.1f}" width="{box.width:.1f}" height="{box.height:.1f}" rx="{round_}" '
        f'fill="{fill}" stroke="{border}" stroke-width="1.2"/>'
    )
    for i, (style, text) in enumerate(box.rows):
        yield _text(box.x + _PAD, box.y + _PAD + _FONT - 2 + i * _LINE, style, text)
    if box.share:
        yield (
            f'<rect class="time" x="{box.x:.1f}" y="{box.y + box.height - _BAR:.1f}" width="{box.width * box.share:.1f}" height="{_BAR:g}" '
            f'fill="{border}"><title>{box.share:.0%} of the time measured</title></rect>'
        )
    yield "</g>"


def _text(x, y, style, text):
    weight = ' font-weight="bold"' if style == "title" else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="{_FAINT if style == "faint" else _INK}"{weight} xml:space="preserve">{escape(text)}</text>'


def _clean(text):
    """Without what XML cannot hold."""
    return "".join(c if c >= " " and not "\ud800" <= c <= "\udfff" and c not in "\ufffe\uffff" else "\ufffd" for c in text.expandtabs(4))


def _columns(text):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def _broken(text, columns=_COLUMNS):
    """The lines of a text of at most so many columns, broken at spaces where there are any."""
    lines = []
    for line in text.split("\n"):
        line = _clean(line)
        while _columns(line) > columns:
            end, width = 0, 0
            while width + _columns(line[end]) <= columns:
                width += _columns(line[end])
                end += 1
            space = line.rfind(" ", columns // 2, end + 1)
            at = space if space > 0 else end
            lines.append(line[:at])
            line = "    " + line[at:].lstrip()
        if line.strip():
            lines.append(line)
    return lines


def _named(value):
    _, _, name, type_, _ = value
    return f"{name}: {type_}" if name else type_


def _seconds(s):
    return f"{s * 1e3:.3g} ms"
