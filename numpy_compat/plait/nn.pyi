"""For editors and type checkers."""

from collections.abc import Iterable, Sequence
from typing import Any, Literal, Self

from numpy.typing import ArrayLike, DTypeLike

from . import ndarray

__all__ = ["Quantized", "attention", "conv", "dequantize", "linear", "pool", "quantize"]

class Quantized(tuple[ndarray[Any, Any], ...]):
    axis: int
    group: int | None
    def __new__(cls, arrays: Iterable[ndarray[Any, Any]], axis: int = -1, group: int | None = None) -> Self: ...
    def dequantize(self, dtype: DTypeLike = ...) -> ndarray[Any, Any]: ...

def quantize(x: ArrayLike, dtype: DTypeLike, axis: int = -1, group: int | None = None) -> Quantized: ...
def dequantize(
    q: ArrayLike,
    scale: ArrayLike,
    zero: ArrayLike | None = None,
    axis: int = -1,
    group: int | None = None,
    dtype: DTypeLike = ...,
) -> ndarray[Any, Any]: ...
def linear(x: ArrayLike, w: ArrayLike | Quantized, bias: ArrayLike | None = None) -> ndarray[Any, Any]: ...
def attention(
    q: ArrayLike,
    k: ArrayLike,
    v: ArrayLike,
    mask: ArrayLike | None = None,
    is_causal: bool = False,
    scale: float | None = None,
) -> ndarray[Any, Any]: ...

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
