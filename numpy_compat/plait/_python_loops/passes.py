"""What ends a pass over a loop before its end."""

from .types import NotCompiled


class Again(NotCompiled):
    """What a pass over the loop has found asks for another one."""


class Nothing(NotCompiled):
    """Something is read of a table into which no pass has found anything to be put yet: what follows is not reached."""
