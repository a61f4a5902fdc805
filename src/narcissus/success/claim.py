"""Properties of a statement that a study can name, other than its inequality."""

from __future__ import annotations

from typing import Any, ClassVar


class Claim:
    """The base of every statement that a study can name."""

    definition: ClassVar[str]  # paper and number: "Cohen et al. 2024, Definition 1.6"
    # whether fresh data have a relation of their own, the section [looser] of a study
    two_relations: ClassVar[bool] = False
    # whether the definition covers all side information, of which a study tells one
    whatever_is_told: ClassVar[bool] = False

    @classmethod
    def require(cls, game: Any) -> None:
        """Check that a game fits the statement; here no game does.

        Raises
        ------
        InputError
            Something is missing, or the world is another.
        """
