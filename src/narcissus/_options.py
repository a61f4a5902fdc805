"""What a class says about its parameters to whoever makes it from a study file.

Every parameter of a part is an option of its section unless it is marked here.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Annotated, Any


@dataclass(frozen=True)
class OfRoom:
    """Mark of a parameter that takes a part itself: ``Annotated[Any, OfRoom("world")]``.

    ``room`` is a room of `narcissus.study.registry`.
    """

    room: str


@dataclass(frozen=True)
class Swept:
    """Mark of a number for which a study may give a list: one release for each."""


Level = Annotated[float, Swept()]

FILLED_IN = "filled in"


def filled_in(*, required: bool = False, **more: Any) -> Any:
    """Give a dataclass field that the game fills in, when it is there: no option of a file.

    Parameters
    ----------
    required
        Whether the object cannot be made without it; otherwise it is None until ``prepare``.
    more
        For `dataclasses.field`.
    """
    default = {} if required else {"default": None}
    return dataclasses.field(metadata={FILLED_IN: True}, **default, **more)
