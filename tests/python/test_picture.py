"""Pictures of plait.explain: well-formed, complete, nothing on top of anything else, nothing cut off."""

import pathlib
import re
import unicodedata
import xml.etree.ElementTree as ET

import numpy
import numpy as np
import plait
import pytest

SVG = "{http://www.w3.org/2000/svg}"
rng = numpy.random.default_rng(0)


def kmeans(points, centers):
    for _ in range(2):
        dist = ((points[:, None, :] - centers) ** 2).sum(-1)
        labels = dist.argmin(1)
        hot = (labels[:, None] == np.arange(len(centers))).astype(float)
        centers = hot.T @ points / np.maximum(hot.sum(0), 1)[:, None]
    return labels, centers


def attention(q, k, v):
    scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(64.0)
    e = np.exp(scores - scores.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True) @ v


def chain(points, w):
    d = np.sqrt(((points[:, None] - points) ** 2).sum(2))
    if d.max() > 100:
        d = d + 1
    d = d / 2
    middle = np.argpartition(d, 5, axis=None)[5]
    out = np.tanh(d) * middle + w
    return out.mean(axis=0)


def one_at_a_time(x):
    y = np.exp(x @ x.T)
    y = y / y.sum(1, keepdims=True)
    order = np.argsort(y[0])
    return y[order] * 2


def explained(name):
    q = rng.normal(size=(2, 256, 64))
    points = rng.normal(size=(2000, 8))
    calls = {
        "kmeans": (kmeans, points, points[:16]),
        "attention": (attention, q, q + 1, q * 2),
        "chain": (chain, points[:500, :3].copy(), numpy.ones(500)),
        "one_at_a_time": (one_at_a_time, rng.normal(size=(200, 200))),
        "at_their_call": (one_at_a_time, rng.normal(size=(30, 30))),
    }
    return plait.explain(*calls[name])


ALL = ["kmeans", "attention", "chain", "one_at_a_time"]


def rectangle(element):
    return tuple(float(element.get(key)) for key in ("x", "y", "width", "height"))


def columns(text):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


class Read:
    """What a picture shows."""

    def __init__(self, svg):
        self.root = ET.fromstring(svg)
        self.size = float(self.root.get("width")), float(self.root.get("height"))
        self.groups = [(g.get("class"), rectangle(g.find(f"{SVG}rect[@class='box']")), g.findall(f"{SVG}text")) for g in self.root.iter(f"{SVG}g")]
        self.lines = [p for p in self.root.iter(f"{SVG}path") if p.get("fill") == "none"]

    def titles(self, kind):
        """The bold rows of each box, joined as they were before they were broken."""
        return [" ".join(t.text.strip() for t in texts if t.get("font-weight")) for k, _, texts in self.groups if k == kind]

    def text(self):
        return "\n".join(t.text for t in self.root.iter(f"{SVG}text"))

    def check(self):
        boxes = [box for _, box, _ in self.groups]
        for i, (x, y, w, h) in enumerate(boxes):
            assert x >= 0 and y >= 0 and x + w <= self.size[0] and y + h <= self.size[1]
            for x2, y2, w2, h2 in boxes[:i]:
                assert x + w <= x2 or x2 + w2 <= x or y + h <= y2 or y2 + h2 <= y, "two boxes overlap"
        for _, (x, y, w, h), texts in self.groups:
            for t in texts:
                left, base = float(t.get("x")), float(t.get("y"))
                assert left > x and left + columns(t.text) * 7.3 < x + w and y < base - 8 and base + 2 < y + h, t.text
        free = [t for t in self.root.findall(f"{SVG}text")]
        assert free and all(float(t.get("x")) + columns(t.text) * 7.3 < self.size[0] for t in free)
        assert min(box[1] for box in boxes) > max(float(t.get("y")) for t in free) if boxes else True
        points = [tuple(map(float, p)) for line in self.lines for p in re.findall(r"([-\d.]+) ([-\d.]+)(?=[CL]|$)", line.get("d"))]
        assert all(0 <= x <= self.size[0] and 0 <= y <= self.size[1] for x, y in points)
        for line in self.lines:  # through no box; its ends lie on the edges of two
            d = [float(n) for n in re.findall(r"[-\d.]+", line.get("d"))]
            assert any(abs(y + h - d[1]) < 0.2 and x <= d[0] <= x + w for x, y, w, h in boxes)
            assert any(abs(y - d[-1]) < 0.2 and x <= d[-2] <= x + w for x, y, w, h in boxes)


@pytest.mark.parametrize("name", [*ALL, "at_their_call"])
def test_boxes_hold_their_text_and_do_not_overlap(name):
    Read(explained(name)._repr_svg_()).check()


@pytest.mark.parametrize("name", ALL)
def test_the_picture_has_what_the_text_has(name):
    explanation = explained(name)
    assert isinstance(explanation, str) and explanation.splitlines()[0].split(" ")[1].startswith(("region", "operation"))
    shown = Read(explanation._repr_svg_())
    steps = re.findall(r"^\s*(region|operation) (\d+): (.*)$", explanation, re.M)
    assert steps
    for kind, number, _ in steps:
        assert [t for t in shown.titles(kind) if t.startswith(f"{kind} {number}:")], number
    squeezed = re.sub(r"\s", "", shown.text())
    for names in re.findall(r"^  reads (.*)$", explanation, re.M):
        for read in names.split(", "):
            assert read in shown.titles("array")
    for place, text in re.findall(r"^  at (\S+:\d+): (.*)$", explanation, re.M):
        assert re.sub(r"\s", "", place + text) in squeezed
    assert re.sub(r"\s", "", explanation.splitlines()[0]) in squeezed


def test_arrays_link_the_steps_that_make_and_read_them():
    shown = Read(explained("kmeans")._repr_svg_())
    assert {"points", "hot", "labels", "centers"} <= set(shown.titles("array"))
    places = {}
    for kind, box, texts in shown.groups:
        places.setdefault((kind, texts[0].text), box)

    def linked(a, b):
        (x, y, w, h), (x2, y2, w2, h2) = places[a], places[b]
        ends = [[float(n) for n in re.findall(r"[-\d.]+", line.get("d"))] for line in shown.lines]
        return any(abs(d[0] - x - w / 2) < 0.2 and abs(d[1] - y - h) < 0.2 and abs(d[-2] - x2 - w2 / 2) < 0.2 and abs(d[-1] - y2) < 0.2 for d in ends)

    first = next(title for kind, title in places if kind == "region" and title.startswith("region 1:"))
    assert linked(("array", "points"), ("region", first)) and linked(("region", first), ("array", first.partition(": ")[2]))
    assert not linked(("region", first), ("array", "points"))


def test_a_fallback_is_a_step_with_its_time():
    shown = Read(explained("chain")._repr_svg_())
    assert shown.titles("fallback") == ["NumPy: argpartition"]
    (texts,) = [texts for kind, _, texts in shown.groups if kind == "fallback"]
    assert any("ms measured" in t.text for t in texts) and any("test_picture.py:" in t.text for t in texts)
    bars = [r for r in shown.root.iter(f"{SVG}rect") if r.get("class") == "time"]
    widths = {id(g): rectangle(g.find(f"{SVG}rect[@class='box']"))[2] for g in shown.root.iter(f"{SVG}g")}
    shares = [rectangle(bar)[2] / widths[id(g)] for g in shown.root.iter(f"{SVG}g") for bar in g.findall(f"{SVG}rect[@class='time']")]
    assert len(shares) == len(bars) >= 2 and 0.98 < sum(shares) < 1.02


def test_what_is_in_memory_has_its_reason():
    x = plait.asarray(rng.normal(size=(3000, 50)))
    y = np.exp(x @ x.T[:, :50])
    z = (y / y.sum(1, keepdims=True)).mean(0)
    shown = Read(plait.explain((y, z))._repr_svg_())
    shown.check()
    tips = [t.text for g in shown.root.iter(f"{SVG}g") for t in g.findall(f"{SVG}title")]
    assert any("wanted" in tip or "held" in tip for tip in tips)


def test_names_are_escaped():
    scope = {"plait": plait, "x": plait.asarray(rng.normal(size=100_000))}
    source = 'd = {}\nd["<a & b>\'"] = plait.sqrt(x * 2 + 1)\nd["\\x00 日本語の名前"] = plait.exp(x) + 1\ne = plait.explain(d)\n'
    import linecache

    linecache.cache["<names & others>"] = len(source), None, source.splitlines(True), "<names & others>"
    exec(compile(source, "<names & others>", "exec"), scope)
    shown = Read(scope["e"]._repr_svg_())
    shown.check()
    assert "<a & b>" in shown.text() and "日本語" in shown.text()


def test_it_is_saved(tmp_path):
    explanation = explained("chain")
    explanation.save(tmp_path / "plan.svg")
    explanation.save(str(tmp_path / "plan.html"))
    Read((tmp_path / "plan.svg").read_text("utf-8")).check()
    page = (tmp_path / "plan.html").read_text("utf-8")
    assert page.startswith("<!DOCTYPE html>") and page.count("<svg") == 1 and "http://www.w3.org" in page and "argpartition" in page
    assert "<script" not in page and not re.search(r"(?:src|href)=", page)  # it stands alone
    for name in ("plan.png", "plan"):
        with pytest.raises(ValueError, match=r"\.svg and \.html"):
            explanation.save(tmp_path / name)
    with pytest.raises(FileNotFoundError):
        explanation.save(tmp_path / "no" / "plan.svg")
    assert {p.name for p in tmp_path.iterdir()} == {"plan.svg", "plan.html"}


def test_nothing_to_compute_is_a_picture_too():
    for what in (plait.asarray([1.0, 2.0]), lambda: None):
        explanation = plait.explain(what)
        shown = Read(explanation._repr_svg_())
        assert not shown.groups and shown.text()
        assert "<pre>" in explanation._repr_html_()


def test_many_steps_are_bounded():
    scope = {}
    exec("def many(x):\n" + "    x = x + float(x.max())\n" * 90 + "    return x", scope)  # lines of their own, as rounds are told once
    explanation = plait.explain(scope["many"], numpy.ones(10_000))
    shown = Read(explanation._repr_svg_())
    assert sum(kind != "array" for kind, *_ in shown.groups) == 40 and "more, which the text has" in shown.text()
    assert "max-width:100%" in shown.root.get("style")


def test_steps_are_coloured_by_their_part_of_the_time():
    explanation = explained("chain")
    root = ET.fromstring(explanation._repr_svg_())
    fills = {g.find(f"{SVG}rect[@class='box']").get("fill") for g in root.iter(f"{SVG}g") if g.get("class") == "region"}
    assert len(fills) > 1  # those that ran, and the one that is predicted


def test_it_is_text_elsewhere():
    import copy
    import pickle

    explanation = explained("attention")
    assert repr(explanation) == repr(str(explanation)) and f"{explanation}" == str(explanation) == explanation
    assert pickle.loads(pickle.dumps(explanation)) == copy.copy(explanation) == explanation
    assert pathlib.Path(__file__).name in explanation


def test_a_page_has_a_link_to_the_trace():
    import base64
    import json

    page = explained("chain")._repr_html_()
    (text,) = re.findall(r'href="data:application/json;base64,([^"]*)"', page)
    events = json.loads(base64.b64decode(text))["traceEvents"]
    assert any(e.get("cat") == "fallback" and e["name"] == "argpartition" for e in events)
    assert "trace.json" not in plait.explain(plait.asarray([1.0]))._repr_html_()  # nothing has run
