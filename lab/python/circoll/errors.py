"""Errors of the library. Each has the sentence that the tool would print."""


class Error(Exception):
    """Any error of the library."""


class InvalidArgument(Error, ValueError):
    """A value outside its documented range."""


class UnknownName(Error, LookupError):
    """No collective, algorithm, type or operator has this name."""


class Unsupported(Error):
    """The needs of an algorithm do not hold: its operator, p or parameters."""


class ParseError(Error, ValueError):
    """A text or a file could not be read."""


class Refuted(Error):
    """A schedule failed its proof."""


class InternalError(Error):
    """A broken invariant of the library itself."""


_CLASSES = {1: InvalidArgument, 2: UnknownName, 3: Unsupported, 4: ParseError, 5: Refuted, 7: InternalError}


def error_of(code, sentence):
    """The exception for a code of the library (circoll/error.hpp)."""
    return _CLASSES.get(code, Error)(sentence)
