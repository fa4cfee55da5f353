"""For editors and type checkers."""

from numpy.linalg import *
