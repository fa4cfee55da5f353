"""The dtypes that programs draw, and what NumPy's kinds and limits are of those of ml_dtypes, which have a kind of their own there."""
import ml_dtypes
import numpy

DTYPES = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "F", "D"]
WEIGHTS = [2, 1, 1, 3, 4, 2, 1, 1, 1, 1, 5, 8, 1, 2]
NARROW_FLOATS = ["bfloat16", "float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz",
                 "float6_e2m3fn", "float6_e3m2fn", "float4_e2m1fn"]
NARROW_INTS = ["int1", "int2", "int4", "uint1", "uint2", "uint4"]
KINDS = {numpy.dtype(getattr(ml_dtypes, n)): "f" if n in NARROW_FLOATS else n[0] for n in NARROW_FLOATS + NARROW_INTS}


def is_narrow(dtype):
    return dtype in KINDS


def kind_of(dtype):
    return KINDS.get(dtype) or dtype.kind


def finfo(dtype):
    return ml_dtypes.finfo(dtype) if is_narrow(numpy.dtype(dtype)) else numpy.finfo(dtype)


def iinfo(dtype):
    return ml_dtypes.iinfo(dtype) if is_narrow(numpy.dtype(dtype)) else numpy.iinfo(dtype)
