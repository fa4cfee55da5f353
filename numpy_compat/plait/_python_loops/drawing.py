"""Names of the arguments of a compiled loop that are addresses of functions which draw random numbers."""

FUNCTION = ".draws "


def function_argument(name):
    """The name of the argument for the address of a function that draws."""
    return FUNCTION + name
