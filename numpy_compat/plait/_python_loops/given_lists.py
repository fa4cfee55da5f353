"""Lists, dicts and sets that a loop is given, and that change in it: at its beginning they have the elements that Python's have."""

from . import lists_in_lists, table_methods
from .deques import empty
from .list_views import GridView
from .lists_in_lists import NestedInput
from .types import Tabled


def given(lowering, key, view):
    """The same, at the beginning, with the elements that it has."""
    if isinstance(view.shape, Tabled):
        return table_methods.given(lowering, key, view)
    if isinstance(view, GridView) or isinstance(view.shape, NestedInput):
        return lists_in_lists.given(lowering, key, view)
    made = empty(lowering, key, lowering.inputs[key].of)
    if key in lowering.facts.changed_lists:
        lowering.lists.append((key, made))
    if view.empty:
        return made
    made.fill(view.dims[0][0], view.row, lowering.top)
    return made
