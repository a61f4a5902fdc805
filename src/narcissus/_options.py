"""Marks of constructor parameters for study files.

Every parameter of a part is an option of its section unless it is marked here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated


@dataclass(frozen=True)
class OfRoom:
    """Mark of a parameter that takes a part itself: ``Annotated[Any, OfRoom("world")]``.

    ``room`` is a room of `narcissus.study.registry`.
    """

    room: str


@dataclass(frozen=True)
class Swept:
    """Mark of a number for which a study may give a list: one release each."""


@dataclass(frozen=True)
class FilledIn:
    """Mark of a parameter that is not an option: the game fills it in."""


@dataclass(frozen=True)
class RunsProgram:
    """Mark of a parameter that is a command: a study needs permission to name one.

    Its constructor takes ``folder``, the base of relative files in the command.
    """


@dataclass(frozen=True)
class BesideStudy:
    """Mark of a parameter that names a file or folder, relative to the study file.

    Its constructor takes ``folder``, the base of the name.
    """


Level = Annotated[float, Swept()]

MOST_COUNT = 10**9
"""Largest whole number that a study file may give, where its key names no smaller one."""
MOST_WORK = 10**7
"""Most steps, rounds or samples: what is done one after another, so often."""
MOST_WORKERS = 10**4
LARGEST_SEED = 2**256
