"""Every error that Narcissus raises on purpose, under one base class."""

from __future__ import annotations

import traceback
from pathlib import Path


class NarcissusError(Exception):
    """Base of all errors raised on purpose; the message says what to do about it."""


class InputError(NarcissusError, ValueError):
    """An argument, a table or a file is not usable as it stands."""


class StudyError(InputError):
    """A study file is wrong: the message names the key and its line in the file."""


class MissingExtraError(NarcissusError, ImportError):
    """A feature needs a package that is not installed; the message names the extra."""


class TooLargeError(InputError):
    """The exact answer does not fit; the message says how large it would be."""


class LongWorkError(InputError):
    """The work would take longer than was agreed to; the message says how long."""


class StoreError(NarcissusError):
    """A results folder cannot be used: unwritable, or it belongs to another study."""


def raised_where(error: Exception) -> str:
    """Say what a user's own code raised, and where."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {error} ({Path(last.filename).name}, line {last.lineno})"
