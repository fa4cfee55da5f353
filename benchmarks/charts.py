"""Horizontal bars as SVG: how many times as fast as a base each of some implementations is, on a logarithmic scale.

A bar begins at the line of the base, to the right where it is faster, to the left where it is slower, and its length is in proportion to the
logarithm of the ratio. Each bar says whose it is and its time, so the colours only repeat it. The paper is drawn too: a picture whose reader has a dark
page is dark, whatever stands around it."""

import dataclasses
import math
import re
import textwrap
from xml.sax.saxutils import escape

WIDTH, MARGIN = 860.0, 18.0
SIZE, SMALL = 12.0, 11.0  # of text
LABELS = 270.0  # where the scale begins: what a row is about stands before it
BOLD = 1.1  # bold text's width over plain text's
BAR, STEP, LINE, GAP = 9.0, 14.0, 15.0, 13.0  # a bar, from bar to bar, from line to line of a label, between rows
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"
LIGHT = {"paper": "#ffffff", "ink": "#1a1a1a", "faint": "#5a6270", "grid": "#e1e5eb", "base": "#8a93a3", "Plait": "#3b6fd4",
         "Numba": "#4c9a5b", "JAX": "#c96a12", "PyTorch": "#b0478a", "numexpr": "#6b7685"}
DARK = {"paper": "#16191f", "ink": "#eceff4", "faint": "#a4adbb", "grid": "#2b313b", "base": "#7d8797", "Plait": "#7aa5ff",
        "Numba": "#6fbf7f", "JAX": "#e89a4c", "PyTorch": "#d67cb6", "numexpr": "#98a4b4"}


@dataclasses.dataclass
class Bar:
    name: str  # of the implementation, a key of LIGHT
    ratio: float | None  # times as fast as the base; None: there is no figure, and `text` says why
    text: str  # its time


@dataclasses.dataclass
class Row:
    label: str
    base: str  # the base's time
    bars: list[Bar]


def times(ratio):
    """A ratio in two or three digits."""
    return f"{ratio:,.0f}x" if ratio >= 9.95 else f"{ratio:.1f}x" if ratio >= 1.95 else f"{ratio:.2f}x" if ratio >= 0.1 else f"{ratio:.1g}x"


def wide(text, size=SIZE):
    """At least the width of a text, in the widest of the fonts."""
    return size * sum(0.36 if c in " \xa0,.:;il|j()[]'/" else 0.98 if c in "mwMW%@" else 0.72 if c.isupper() else 0.64 for c in text)


def lines_of(label):
    """The label in lines that fit before the scale."""
    bound = re.sub(r"\([^()]*\)|\w+ [x=] \w+| \w\d$", lambda m: m[0].replace(" ", "\xa0"), label)  # these parts are not broken
    for text in (bound, label):
        for columns in range(60, 8, -1):
            lines = textwrap.wrap(text, columns, break_on_hyphens=False, break_long_words=text is label)
            if max(map(wide, lines)) <= LABELS - MARGIN - 12:
                return [line.replace("\xa0", " ") for line in lines]
    return [label]


def ticks(low, high):
    """Round ratios of a scale: decades, with 2 and 5 between them where there are few."""
    digits = (1,) if math.log10(high / low) > 2.2 else (1, 2, 5)
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    return [t for t in (d * 10.0**e for e in decades for d in digits) if low * 0.999 <= t <= high * 1.001]


def style():
    def rules(colours):
        lines = {"grid", "base"}
        over = f".over{{stroke:{colours['paper']}}}"  # text lies over the scale's lines
        return "".join(f".{name}{{{'stroke' if name in lines else 'fill'}:{c}}}" for name, c in colours.items()) + over

    return f"<style>.over{{stroke-width:3px;stroke-linejoin:round;paint-order:stroke}}{rules(LIGHT)}@media(prefers-color-scheme:dark){{{rules(DARK)}}}</style>"


def said(row, base):
    """The row in words, for who hears the picture."""
    bars = (f"{b.name} {b.text}" + (f" ({times(b.ratio)})" if b.ratio else "") for b in row.bars)
    return f"{row.label}: {base} {row.base}, {', '.join(bars)}."


def chart(title, subtitle, rows, base="NumPy", foot=""):
    """The picture as text. base: whose time is 1; foot: what the figures are of."""
    ratios = [b.ratio for row in rows for b in row.bars if b.ratio]
    low, high = min([1.0, *ratios]), max([1.25, *ratios])
    room = WIDTH - MARGIN - LABELS
    # Of length, for a factor of e: what stands at the end of each bar has room.
    unit = min([room / math.log(high / low), *((room - wide(beside(b), SMALL) * BOLD - 8) / math.log(end / low) for row in rows for b in row.bars if (end := max(b.ratio or 1, 1)) > low)])
    at = lambda ratio: LABELS + unit * math.log(ratio / low)
    head, out, y = [], [], MARGIN + 16
    for line in textwrap.wrap(title, 95):
        head.append(f'<text class="ink" x="{MARGIN:g}" y="{y:g}" font-size="15" font-weight="bold">{escape(line)}</text>')
        y += 19
    for line in textwrap.wrap(subtitle, 120):
        head.append(f'<text class="faint" x="{MARGIN:g}" y="{y:g}">{escape(line)}</text>')
        y += 16
    y += 12
    marks, last = y, -math.inf  # the scale's figures stand here, its lines begin below
    top = y = y + 8
    single = all(len(row.bars) == 1 for row in rows)
    gap = 4.0 if single else GAP
    for row in rows:
        label, under = lines_of(row.label), f"{base} {row.base}"
        one_line = single and wide(row.label) + wide(under, SMALL) < LABELS - MARGIN - 18
        count = len(label) if one_line else len(label) + 1
        height = max(LINE * count, STEP * len(row.bars))
        begin = y + (height - LINE * count) / 2 + 12
        for i, line in enumerate(label):
            out.append(f'<text class="ink" x="{MARGIN:g}" y="{begin + LINE * i:.1f}">{escape(line)}</text>')
        place = f'x="{LABELS - 12:g}" y="{begin:.1f}" text-anchor="end"' if one_line else f'x="{MARGIN:g}" y="{begin + LINE * len(label):.1f}"'
        out.append(f'<text class="faint" {place} font-size="{SMALL:g}">{escape(under)}</text>')
        begin = y + (height - STEP * len(row.bars)) / 2 + (STEP - BAR) / 2
        for i, bar in enumerate(row.bars):
            where, left = begin + STEP * i, at(1)
            if bar.ratio:
                left, right = sorted((at(1), at(bar.ratio)))
                out.append(f'<rect class="{bar.name}" x="{left:.2f}" y="{where:.1f}" width="{right - left:.2f}" height="{BAR:g}"><title>{escape(said(Row(row.label, row.base, [bar]), base))}</title></rect>')
                left = right
            weight = ("ink", ' font-weight="bold"') if bar.name == "Plait" else ("faint", "")
            out.append(f'<text class="{weight[0]} over" x="{left + 5:.1f}" y="{where + BAR - 0.5:.1f}" font-size="{SMALL:g}"{weight[1]}>{escape(beside(bar))}</text>')
        y += height + gap
    bottom = y - gap + 6
    grid = []
    for tick in ticks(low, high):
        if at(tick) - last >= 30 or tick == 1:
            last = at(tick)
            grid.append(f'<line class="{"base" if tick == 1 else "grid"}" x1="{last:.1f}" y1="{top - 4:g}" x2="{last:.1f}" y2="{bottom:.1f}"/>')
            grid.append(f'<text class="faint" x="{last:.1f}" y="{marks:g}" text-anchor="middle" font-size="{SMALL:g}">{base if tick == 1 else f"{tick:,g}x"}</text>')
    y = bottom + 20
    for line in textwrap.wrap(foot, 135):
        out.append(f'<text class="faint" x="{MARGIN:g}" y="{y:.1f}" font-size="{SMALL:g}">{escape(line)}</text>')
        y += 14
    height = y + (MARGIN - 14 if foot else -4)
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH:g}" height="{height:.0f}" viewBox="0 0 {WIDTH:g} {height:.0f}" role="img" aria-labelledby="title desc" font-family="{FONT}" font-size="{SIZE:g}">',
        f'<title id="title">{escape(title)}</title>',
        f'<desc id="desc">{escape(" ".join([subtitle, *(said(row, base) for row in rows)]))}</desc>',
        style(), '<rect class="paper" width="100%" height="100%" rx="6"/>', *head, *grid, *out, "</svg>", ""])


def beside(bar):
    """What stands at the end of a bar."""
    return f"{bar.name} {times(bar.ratio)}, {bar.text}" if bar.ratio else f"{bar.name}: {bar.text}"
