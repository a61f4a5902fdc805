"""What the user declares of a model's folder, in words."""

from __future__ import annotations

from narcissus._validation import some_of
from narcissus._visible import visible
from narcissus.kinds.memorization.engine import MemorizedResult

_SHOWN = 6


def declared(result: MemorizedResult) -> tuple[str, ...]:
    """Return what is declared as a clause of the first screen."""
    if not result.unpublished:
        return ()
    names = some_of([f"`{visible(name)}`" for name in result.unpublished], _SHOWN)
    verb = "are" if len(result.unpublished) > 1 else "is"
    return (f"{names} in the model's folder {verb} not published",)


def left_out(result: MemorizedResult) -> list[tuple[str, str]]:
    """Return all of what is declared as a line of the facts."""
    names = ", ".join(map(visible, result.unpublished))
    return [("Not published, as declared", names)] if names else []
