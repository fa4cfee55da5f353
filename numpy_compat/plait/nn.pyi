"""For editors and type checkers."""

from collections.abc import Sequence
from typing import Any, Literal

from numpy.typing import ArrayLike

from . import ndarray

__all__ = ["conv", "pool"]

def conv(
    x: ArrayLike,
    w: ArrayLike,
    bias: ArrayLike | None = None,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    groups: int = 1,
) -> ndarray[Any, Any]: ...
def pool(
    x: ArrayLike,
    size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    kind: Literal["max", "mean"] = "max",
) -> ndarray[Any, Any]: ...
