"""The exceptions that Python itself has no class for."""


class FormatError(ValueError):
    """Bytes that are not a filter or function, or not all of one, or altered."""

    __module__ = "ribbonfilter"


class NullKeyError(TypeError, ValueError):
    """A null among the keys: None, a missing value of pandas, or a null of Arrow."""

    __module__ = "ribbonfilter"
