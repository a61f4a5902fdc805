"""What a statement that a study can name says of itself, besides its inequality."""

from __future__ import annotations

from typing import Any, ClassVar


class Claim:
    """The beginning of every statement that a study can name.

    Attributes
    ----------
    definition
        The paper and its number: ``"Cohen et al. 2024, Definition 1.6"``.
    two_relations
        Whether it takes a relation of its own for fresh data, the section [looser] of a study.
    whatever_is_told
        Whether the definition asks for every side information, of which a study tells one.
    """

    definition: ClassVar[str]
    two_relations: ClassVar[bool] = False
    whatever_is_told: ClassVar[bool] = False

    @classmethod
    def require(cls, game: Any) -> None:
        """Refuse a game that it does not speak of; any game, if a statement says nothing else.

        Raises
        ------
        InputError
            Something is missing, or the world is another.
        """
