"""What is studied: each prior at each epsilon, as a game to be played."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from narcissus.errors import InputError
from narcissus.extraction import FineTune, NgramDpSgd
from narcissus.extraction.secret_training import TrainsOnSecrets
from narcissus.game import Game
from narcissus.game.block import Seat
from narcissus.game.plan import seats_of
from narcissus.priors.secrets import SecretPrior
from narcissus.study.secrets.schema import SecretsStudy
from narcissus.success.relations import NamesSecret
from narcissus.worlds import Secret

AskedOfTraining = NgramDpSgd | FineTune


@dataclass(frozen=True, eq=False)
class SecretSetting:
    """One prior at one epsilon.

    Attributes
    ----------
    label
        Of both, as far as there are several.
    prior
        How secrets are drawn.
    asked
        What the study asks of the training.
    trained
        The mechanism, its learning rate chosen.
    """

    label: str
    prior: SecretPrior
    asked: AskedOfTraining
    trained: TrainsOnSecrets

    def seat(self, study: SecretsStudy) -> Seat:
        """Give the game with the attacks that are prepared for it."""
        game = Game(Secret(self.prior.weights), self.trained, NamesSecret(len(self.prior.chances)))
        attacks = {name: part.build() for name, part in study.attacks.items()}
        [seat] = seats_of(game, attacks)
        return Seat(self.label, seat.game, seat.attacks)


def settings_of(study: SecretsStudy) -> list[SecretSetting]:
    """Give every prior at every epsilon, learning rates chosen where the study leaves them.

    Raises
    ------
    InputError
        Two priors are called the same.
    """
    priors: Sequence[SecretPrior] = study.priors()
    words = [prior.words for prior in priors]
    if twice := [one for place, one in enumerate(words) if one in words[:place]]:
        raise InputError(f"the study has the prior {twice[0]!r} twice: leave one of them out")
    asked: list[AskedOfTraining] = study.mechanism.each()
    return [
        SecretSetting(_label(prior, level), prior, level, level.trained_on(prior.weights))
        for prior in priors
        for level in asked
    ]


def _label(prior: SecretPrior, level: AskedOfTraining) -> str:
    return f"{prior.words}, epsilon {level.epsilon:g}"
