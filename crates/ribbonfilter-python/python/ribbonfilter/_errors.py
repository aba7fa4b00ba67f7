"""Exceptions for which Python has no class."""


class FormatError(ValueError):
    """The bytes are not a filter, function, exact set or container, or are truncated or corrupt."""

    __module__ = "ribbonfilter"


class NullKeyError(TypeError, ValueError):
    """A key is null: None, a missing value of pandas, or an Arrow null."""

    __module__ = "ribbonfilter"
