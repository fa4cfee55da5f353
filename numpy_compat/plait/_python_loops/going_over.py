"""When a loop goes over to machine code, and what the log of fallbacks has of it."""

from .._plait import log_fallback

# Seconds that a loop has taken in Python, or will by what its iterations took so far, before its code is asked for. 0, of tests: at once.
# Of the thread: what others do says nothing of a loop.
WORTH = 2e-3
LONG = 20e-3  # the same of one run of a loop inside another that may be compiled: a shorter one goes over with that, soon
LEAST = 20e-6  # seconds in Python that going over to machine code takes as well
TRIED = 31  # of so many and one calls whose code has no entry (entries.py), one is Python's, and one is not, whichever is faster
SELDOM = 1023  # the same of calls that are AHEAD times as fast in machine code as in Python
AHEAD = 4
SHORT = 1.0  # seconds in Python of a `for` that runs in quick code to its end: less than code of full effort lets wait
PART = 2e-3  # seconds that quick code runs at a time
MUCH = 10e-3  # seconds that it has run before code of full effort is asked for, which other loops' quick code then waits for
MOST = 16  # codes of a loop
ROUNDS, LONGEST = 10, 1 << 16  # rounds without gain until a loop sleeps, and as many for a start; rounds that it sleeps at most
DROWSY, DEEP = 64, 4096  # rounds of sleep from which it leaves the function's code when the jitted call ends, and at once
GAVE_UP = 4  # rounds that one counts for in which machine code was asked for, and cannot be
WAITING = 1 << 60  # rounds of a loop that another one around it wakes


def log(text):
    log_fallback(text)
