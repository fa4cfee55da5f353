"""What a loop needs among its inputs that is not there yet, and is found as it is lowered: attributes of objects, and texts in another form."""

from typing import NamedTuple


class Path(NamedTuple):
    """An attribute among the inputs of a loop: of the input `owner`."""

    owner: str
    name: str

    @property
    def key(self):
        return f"{self.owner}.{self.name}"


class Wanted(Exception):
    """Code needs an attribute that is not among its inputs."""

    def __init__(self, path, node):
        super().__init__(path.key)
        self.path, self.node = path, node

    def is_known(self, loop):
        return self.path.key in loop.paths

    def note(self, loop):
        loop.paths[self.path.key] = self.path


class WantedAs(Wanted):
    """Code needs a text, or None, among its inputs as something else than a constant: as characters, or as a state."""

    def __init__(self, key, form, node):
        super().__init__(Path(key, form), node)

    def is_known(self, loop):
        return loop.forms.get(self.path.owner) == self.path.name

    def note(self, loop):
        loop.forms[self.path.owner] = self.path.name


CHARACTERS, STATE = "characters", "a state"
