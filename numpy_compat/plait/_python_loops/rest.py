"""What is left of a loop, by whoever goes over it: Python, until there is machine code."""

import sys
import time

from . import going_over
from .by_python import go_on, on


class Rest:
    """What is left of a loop: it goes on in Python until there is code for the rest."""

    def __init__(self, loop, numbers, items, given, measured=False):
        self.loop, self.numbers, self.items, self.given = loop, numbers, items, given
        self.code, self.left, self.measured = None, False, measured  # what may run the rest; whether it does; whether Python is to
        self.done, self.given_up = 0, False
        self.later = 0.0  # seconds that it takes in Python before its variables are looked at again, of which there is no code
        self.begun = time.thread_time()  # of which a call takes as long as a short loop
        if measured:
            return
        if (loop.codes if loop.waits else loop.seconds >= going_over.WORTH) and (loop.each or going_over.WORTH == 0):
            self.look(sys._getframe(loop.depth).f_locals)

    def look(self, variables):
        """Hands over if there is code for the variables as they are now; asks for it if not."""
        self.went = time.thread_time()  # from when on machine code has it
        known = len(self.loop.codes)
        self.code, values = self.loop.chosen(variables | self.given if self.given else variables, self.numbers)
        if len(self.loop.codes) > known:
            self.went = time.thread_time()  # as it is made once
        self.code.ask(self.short)
        self.given_up = self.loop.stays = not (self.code.usable and self.code.fits(values))
        self.left = not self.given_up and self.ready
        if not self.code.usable and self.loop.usable_codes():
            self.look_later()
        elif self.given_up:
            self.loop.idled(going_over.GAVE_UP)
        elif self.left:
            self.loop.gained()
        self.values = values if self.left else None
        self.wake()

    def look_later(self):
        """There is no code for the variables as they are, but as they may be after some iterations."""
        self.code, self.given_up = None, False
        self.later = max(going_over.WORTH, 2 * (time.thread_time() - self.begun))

    @property
    def short(self):
        """Whether a `for` will soon have ended in Python, as far as its iterations so far, or those of other calls, say."""
        if self.numbers is None or not going_over.WORTH:
            return False
        each = (time.thread_time() - self.begun) / self.done if self.done else self.loop.each
        return 0 < each * len(self.numbers) < going_over.SHORT

    @property
    def ready(self):
        """Whether there is code, which need not be of full effort where the loop can be left, or is soon over."""
        return self.code.ready or self.code.soon_ready and self.short

    def wake(self):
        """Lets the loops inside ask too, of which each run may take long by now."""
        for inner in self.loop.inner:
            if inner.naps > going_over.LONGEST:
                inner.naps = 0

    def worth(self):
        """Whether the loop takes long enough in Python, or will, where the number of its iterations is known."""
        self.wake()
        spent = time.thread_time() - self.begun
        if spent < self.later:
            return False
        all_of_it = 0.0 if self.numbers is None else spent / self.done * len(self.numbers)
        if self.loop.waits:
            return max(spent, all_of_it) >= going_over.LONG
        return max(self.loop.seconds + spent, all_of_it) >= going_over.WORTH

    def __iter__(self):
        items, self.items = iter(self.items), None
        return iter(()) if self.left else items if self.given_up else self.iterate(items)

    def iterate(self, items):
        look_at = 1
        try:
            for item in items:
                yield item
                self.done += 1
                if self.done == look_at and not self.measured:
                    if self.ready if self.code is not None else self.worth():
                        self.look(sys._getframe(1).f_locals)
                        if self.left:
                            return
                    look_at += 1 + (self.done // 4 if self.code is None else self.done // 64)
                    if self.given_up:
                        yield from items
        finally:
            spent = time.thread_time() - self.begun
            self.loop.seconds += spent
            if self.measured:
                self.loop.each = 0.75 * self.loop.each + 0.25 * spent / (1 if self.numbers is None else max(1, self.done))
            elif not self.left or not self.loop.each:
                self.loop.each = spent / (1 if self.numbers is None else max(1, self.done))
            self.account(spent)

    def account(self, spent):
        """What a round in Python says of the loop."""
        if self.measured:
            return
        if self.loop.waits:
            if not self.loop.codes:
                self.loop.naps = going_over.WAITING
        elif self.later and not self.left:
            self.loop.idled(going_over.GAVE_UP)
        elif not self.left and not self.given_up:
            self.loop.idled() if spent < going_over.LEAST else self.loop.lasted()

    def finish(self, variables):
        if not self.left:
            return None
        values, self.values = self.values, None
        numbers = self.numbers and self.numbers[self.done :]
        if self.code.divisible:
            values, variables, numbers = self.code.begin(self.loop, values, variables, numbers)
        found = self.code.run(self.loop, values, variables, numbers) if values is not None else go_on(self.loop, on(self.loop, variables, numbers))
        if self.loop.by_python:
            cost = (time.thread_time() - self.went) / (1 if numbers is None else max(1, len(numbers)))
            self.loop.cost = 0.75 * self.loop.cost + 0.25 * cost if self.loop.cost else cost
        return found


class Finished:
    """A loop that its entry has run: what came of it is still to be told."""

    def __init__(self, loop, code, results):
        self.loop, self.code, self.results = loop, code, results

    def __iter__(self):
        return iter(())

    def finish(self, variables):
        return go_on(self.loop, self.code.told(self.loop, variables, [self.results], 4))
