"""Which of a function's loops ask for machine code: those that have gained nothing sleep, and stand in the function's code as they do in its source.
What wakes them: a call of the jitted function around them that is of another kind than those before, far longer, or one of ever fewer."""

from .. import _plait

LONGER, LONG = 4, 1e-3  # times the longest call so far; seconds
CALLS = 256  # of a jitted function until sleeping loops are asked again; then twice as many
FEW = 10  # calls after which loops that were not met count as asleep
TRIES = 16  # how often the names of a function may come to stand for something else
KINDS = 64  # of calls that are known


class Versions:
    """The codes of a rebuilt function. written(asleep): the code in which these of the loops, by their names, are left as they are."""

    def __init__(self, function, scope, loops, code, written):
        self.function, self.scope, self.loops, self.written = function, scope, loops, written
        self.codes = {frozenset(): code}
        scope.versions[function] = self
        for loop in loops.values():
            loop.versions = self

    def choose_code(self):
        """Has calls that begin from now on run the code in which the loops that are awake ask."""
        asleep = set()
        for name, loop in self.loops.items():  # outer ones first
            if loop.sleeps or (loop.waits and loop.outer.own in asleep):
                asleep.add(name)
        asleep = frozenset(asleep)
        if asleep not in self.codes:
            self.codes[asleep] = self.written(asleep)
        code = self.codes[asleep]
        made = self.scope.functions.get(self.function)
        if code is not None and made is not None:
            made[0].__code__ = code
            (self.scope.asleep.add if asleep else self.scope.asleep.discard)(self)
        self.scope.changes += 1

    def is_quiet(self, known):
        """Whether no loop asks: each sleeps, waits for one that does, or, of a function that is known for a while, was never met."""
        asleep = set()
        for name, loop in self.loops.items():
            if not (loop.sleeps or (known and loop.calls == 0) or (loop.waits and loop.outer.own in asleep)):
                return False
            asleep.add(name)
        return True

    def wake(self):
        for loop in self.loops.values():
            loop.wake()
        self.choose_code()


class Calls(_plait.CallAccount):
    """The calls of one jitted function: what they were like while loops of its module slept (bindings/call_account.cpp)."""

    def __init__(self, scope):
        super().__init__(scope, scope.asleep, scope.drowsy, CALLS, KINDS, LONGER, LONG)
        self.scope = scope
        self.watch = None  # the _performance.Watch that hears of long calls
        self.tries = 0  # how often its names had come to stand for something else
        self.looked = None  # when it was looked at last: changes of the scope, and whether there were many calls

    def to_be_looked_at(self, untouched):
        """Whether the function may have become one that runs as it is (untouched.py), or is one no more."""
        now = self.scope.changes, self.all >= FEW
        if now == self.looked and (untouched is None or not untouched.stale or self.tries >= TRIES):
            return False
        self.tries += now == self.looked
        self.looked = now
        return True

    def doze(self):
        """At the end of a call in which loops were drowsy."""
        for loop in tuple(self.scope.drowsy):
            loop.call_ends()

    def took_long(self):
        """At the end of a call that was long."""
        if self.watch is not None:
            self.watch.took_long()

    def wake(self):
        for versions in tuple(self.scope.asleep):
            versions.wake()
