"""plait.explain: plans with the names and lines of the program, and of a function all that it evaluates on the way."""

import collections
import contextlib
import dis
import inspect
import re
import sys
import types

from . import _plait
from ._boundary import Call, leaves
from ._fallback import fallback_notes
from ._functions import original
from ._jit import Target, body_of, is_jitted, loops_of
from ._picture import Explanation, Picture, bytes_text, counted
from ._plait import lazy_scalar, ndarray
from ._source import ITEM, Source
from ._trace_link import traced

# What an instruction wants a value for.
_REASONS = {
    "GET_ITER": "iteration", "FOR_ITER": "iteration", "UNPACK_SEQUENCE": "unpacking", "STORE_SUBSCR": "assignment",
    "FORMAT_VALUE": "formatting", "FORMAT_SIMPLE": "formatting", "FORMAT_WITH_SPEC": "formatting", "COMPARE_OP": "comparison",
    "CONTAINS_OP": "in", "UNARY_NOT": "bool()", "TO_BOOL": "bool()",
}  # fmt: skip


_PROMPTS = re.compile(r"_+\d*")  # names under which a prompt keeps what it showed: _, __, _12


class _Sites:
    """The places of recorded operations, and of what forced values, in the program's source."""

    def __init__(self):
        self.source = Source()

    def __call__(self, site):
        """(place, name of the value, text of the line) for a call site of the recorder's."""
        found = _plait.site(site)
        return self.source.describe(*found) if found else ("", "", "")

    def heading(self, site):
        where, _, text = self(site)
        return f" at {where}" + (f": {text}" if text else "") if where else ""

    def line(self, site):
        where, _, text = self(site)
        return f"{where}  {text}".rstrip()

    def reason(self, site):
        """What the program did there that needs a value: "bool()", "item", or the function that it called."""
        found = _plait.site(site)
        if not found:
            return ""
        code, instruction = found
        name = dis.opname[code.co_code[instruction]]
        if "JUMP" in name:
            return "bool()"
        if tuple(code.co_code[instruction : instruction + 2]) == ITEM:
            return "item"
        if name in _REASONS:
            return _REASONS[name]
        called = self.source.called(code, instruction)
        return f"{called}()" if called else ""


_Event = collections.namedtuple("_Event", "kind note site counts headline text times seconds parts")


class _Totals:
    def __init__(self):
        self.regions = self.operations = self.nodes = self.moved = self.needed = 0

    def add(self, counts, headline):
        if counts:
            if "one at a time" in headline:
                self.operations += counts[0]
            else:
                self.regions += counts[0]
            self.nodes, self.moved, self.needed = self.nodes + counts[1], self.moved + counts[2], self.needed + counts[3]

    def __str__(self):
        alone = f" and {counted(self.operations, 'operation')} one at a time" if self.operations else ""
        return (
            f"{counted(self.regions, 'region')}{alone} from {counted(self.nodes, 'node')}; {bytes_text(self.moved)} moved, "
            f"at least {bytes_text(self.needed)} needed; {counted(_plait.num_threads(), 'thread')}"
        )


def of_arrays(arrays, target, source, scope):
    """The plan of pending arrays; scope: the caller's names."""
    for x in arrays:
        if not isinstance(x, (ndarray, lazy_scalar)) and not hasattr(x, "__array_interface__"):
            raise TypeError(
                f"explain() takes Plait arrays, tuples or lists of them, or a function and its arguments, not {type(x).__name__}"
            )
    names = {name: scope[name] for name in sorted(scope, key=lambda n: n.startswith("_")) if type(scope[name]) is ndarray and not _PROMPTS.fullmatch(name)}
    ours = tuple(x for x in arrays if type(x) is lazy_scalar or ndarray in type(x).__mro__)
    _, headline, text, parts = _plait.explain(target, source, names, _Sites(), 1, ours)
    others = len(arrays) - len(ours)
    if others:
        text += f"already in memory: {counted(others, 'value')} of NumPy's\n"
    picture = Picture()
    picture.regions(parts)
    picture.title = headline or text
    return Explanation(headline + text or "nothing to compute\n", picture)


def of_function(fn, args, target, source):
    """What fn evaluates for args on its way, and the plan of what it returns, which is dropped without being computed."""
    made = Target(original(fn))
    names = dict(_globals(made.function))
    sites, totals = _Sites(), _Totals()
    with Call(made, contextlib.nullcontext(), None) as call:
        args, _ = call.arguments(args, {})
        names.update(_parameters(made.function, args))
        events = None
        with traced() as trace, fallback_notes() as notes:
            _plait.watch(names)
            try:
                # Without a name: what is alive when the borrow ends is computed.
                result = [tuple(leaves(made.function(*args), [], namespaces=True))]
            finally:
                events = [_Event(*event) for event in _plait.watched(sites)]
        first = 1 + sum(event.counts[0] for event in events)
        del args
        returned, headline, text, parts = _plait.explain(target, source, names, sites, first, result.pop())
        names.clear()
    for event in events:
        totals.add(event.counts, event.headline)
    totals.add(returned, headline)
    rounds = _rounds(events, sites)
    sections = _sections(events, notes, sites, rounds)
    picture = _pictured(events, notes, sites, rounds)
    picture.trace = trace[0] if trace else None
    picture.regions(parts, "returned" if events else "")
    loops = [line for loop in loops_of(fn) for line in loop.report()]
    loops += body.report() if (body := body_of(fn)) is not None else []
    if loops:
        sections.append("Python's loops, in the calls so far:\n" + "".join(f"  {line}\n" for line in loops))
    if lines := _annotated(fn):
        sections.append("the source, and what runs it:\n" + "".join(f"  {line}\n" for line in lines))
    if not sections:
        picture.title = headline or text
        return Explanation(headline + (text or "nothing to compute\n"), picture)
    kinds = collections.Counter()
    for event in events:
        kinds[event.kind] += event.times
    summary = [str(totals), counted(kinds["evaluation"], "value") + " forced", counted(kinds["note"], "fallback")]
    if kinds["at call"]:
        summary.append(counted(kinds["at call"], "operation") + " computed at the call")
    if returned or text:
        sections.append("returned: " + (headline or "\n") + text)
    picture.title = "; ".join(summary)
    return Explanation("\n".join([picture.title + "\n", *sections]), picture)


def _annotated(fn):
    if not isinstance(fn, types.FunctionType) or not is_jitted(fn):
        return []
    from ._python_loops.annotated import annotated

    return annotated(inspect.unwrap(fn), loops_of(fn))


_LONGEST = 12  # events of a round that is told apart
_TOGETHER = 3  # rounds that are told as one


def _rounds(events, sites):
    """{number of an event: how often it and those behind it come, for the last of them None}: of the rounds of a loop, the first is told."""
    keys = [(e.kind, e.note, e.site, _unnumbered(e)) for e in events]
    told, at = {}, 0
    while at < len(keys):
        length, times = _repeated(keys, at)
        told.update({at + i: times if i == 0 else 1 for i in range(length)})
        at += length * times
    return told


def _unnumbered(event):
    """What an event computed, without what differs from round to round."""
    regions, _ = event.parts
    return tuple((planned, tuple((v[1], v[3]) for v in results)) for _, planned, results, *_ in regions)


def _repeated(keys, at):
    """(how many events from there on are a round, how often it comes)."""
    for length in range(1, min(_LONGEST, (len(keys) - at) // _TOGETHER) + 1):
        times = 1
        while keys[at + times * length : at + (times + 1) * length] == keys[at : at + length]:
            times += 1
        if times >= _TOGETHER:
            return length, times
    return 1, 1


def _sections(events, notes, sites, rounds):
    """A text for each value that was forced, each fallback and each place that computes at its call, in order."""
    sections, fallback, at_call = [], None, None
    for number, event in enumerate(events):
        if number not in rounds:
            continue
        if rounds[number] > 1:
            sections.append(f"{rounds[number]} times, of which this is the first:\n")
        site = event.site
        if event.kind == "note":
            fallback = event.note, site
            sections.append(f"fallback{sites.heading(site)}\n  {event.note}: computed by NumPy{_measured(notes.get(number))}\n")
        elif event.kind == "at call":
            times = f", {event.times} times" if event.times > 1 else ""
            if at_call != site:  # a line may do several
                sections.append(f"at its call{sites.heading(site)}\n")
            sections[-1] += f"  {event.note}: computed in {event.seconds * 1e3:.3g} ms{times}\n"
        else:
            reason = f"for the fallback {fallback[0]}" if fallback and fallback[1] == site else sites.reason(site)
            sections.append(f"forced{sites.heading(site)}" + (f"  ({reason})" if reason else "") + f"\n  {event.headline}{event.text}")
        at_call = site if event.kind == "at call" else None
    return sections


def _pictured(events, notes, sites, rounds):
    """The same as steps of a picture. What a fallback asks for comes after its note, and runs before it."""
    picture, fallback, asked_for = Picture(), None, []

    def end_fallback():
        nonlocal fallback
        if fallback is not None:
            number, event = fallback
            picture.fallback(event.note, event.site, sites.line(event.site), notes.get(number, (None,))[0], asked_for)
        fallback = None
        asked_for.clear()

    for number, event in enumerate(events):
        if number not in rounds:
            continue
        if rounds[number] > 1:
            end_fallback()
            picture.begin_rounds(rounds[number])
        if event.kind == "evaluation" and fallback is not None and event.site == fallback[1].site:
            asked_for += picture.regions(event.parts, f"for the fallback {fallback[1].note}")
            continue
        end_fallback()
        if event.kind == "note":
            fallback = number, event
        elif event.kind == "at call":
            picture.at_call(event.note, event.site, sites.line(event.site), event.seconds, event.times)
        else:
            reason = sites.reason(event.site)
            picture.regions(event.parts, " ".join(filter(None, ["forced at", sites.line(event.site), reason and f"({reason})"])))
    end_fallback()
    return picture


def _measured(note):
    if note is None:
        return ""
    seconds, read, written = note
    return f" in {seconds * 1e3:.3g} ms; {bytes_text(read)} of arrays in, {bytes_text(written)} out"


def _globals(function):
    """The arrays that a function knows by a global name."""
    function = inspect.unwrap(getattr(function, "__func__", function))
    code, scope = getattr(function, "__code__", None), getattr(function, "__globals__", {})
    scope = getattr(scope, "module_globals", scope)
    return {n: scope[n] for n in (code.co_names if code else ()) if type(scope.get(n)) is ndarray and not _PROMPTS.fullmatch(n)}


def _parameters(function, args):
    try:
        bound = inspect.signature(function).bind(*args).arguments
    except (TypeError, ValueError):
        return {}
    named = {}
    for name, value in bound.items():
        if type(value) is ndarray:
            named[name] = value
        elif isinstance(value, (tuple, list)):
            named.update({f"{name}[{i}]": v for i, v in enumerate(value) if type(v) is ndarray})
        elif isinstance(value, dict):
            named.update({f"{name}[{k!r}]": v for k, v in value.items() if type(v) is ndarray})
    return named


def caller(depth):
    """The names of the frame that called explain()."""
    frame = sys._getframe(depth + 1)
    return {**{k: v for k, v in frame.f_globals.items() if type(v) is ndarray}, **frame.f_locals}
