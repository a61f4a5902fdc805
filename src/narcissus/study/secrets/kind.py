"""The kind "secrets": train models on secrets, attack them, hold them against what is proved."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from pydantic import BaseModel, TypeAdapter

from narcissus._random import child
from narcissus._version import __version__
from narcissus.errors import InputError
from narcissus.game.block import Arrays, Seat
from narcissus.game.outcome import packed, unpacked
from narcissus.game.plan import BlockPlayer, OneStream, plan
from narcissus.observer import Observer
from narcissus.study.engines import executor_of
from narcissus.study.kinds import Outcome, RunOptions
from narcissus.study.parts import own_parts
from narcissus.study.plugins import source_digests
from narcissus.study.pool import play_all
from narcissus.study.results.secrets import SecretsResults
from narcissus.study.secrets.schema import SecretsPolicy, SecretsStudy, SecretThreshold
from narcissus.study.secrets.setting import SecretSetting, settings_of
from narcissus.study.secrets.summary import Scored, summarised
from narcissus.study.secrets.words import NOT_COVERED, assessed, not_assessed, overall
from narcissus.study.store import TrialStore
from narcissus.study.toml import read_policy
from narcissus.study.work import agree

_SECONDS = 3e-8  # a logit and a step
_OTHERS = 20_000  # models that choose a learning rate, or that an attacker trains


class SecretsKind:
    """Plays studies of the kind "secrets"."""

    model: type[BaseModel] = SecretsStudy
    results: TypeAdapter[Any] = TypeAdapter(SecretsResults)

    def check(self, study: SecretsStudy, folder: Path, observer: Observer) -> None:
        """Make all parts once, and see that they fit each other."""
        for part in study.attacks.values():
            part.build()
        _threshold(study, folder, None)

    def play(self, study: SecretsStudy, folder: Path, options: RunOptions) -> Outcome:
        """Train, attack and judge."""
        if options.internal is not None:
            raise InputError("`--records` is for audits of tables: here are no records to name")
        threshold, digests = _threshold(study, folder, options.policy)
        _agree(study, options)
        settings = settings_of(study)
        scored = _played(study, settings, folder, options)
        results = summarised(study, settings, scored, threshold)
        status, grade, verdict = overall(results)
        return Outcome(
            title=study.title or "Secrets in trained models",
            status=status,
            verdict=verdict,
            grade=grade,
            contradictions=tuple(text for one in results.deciding for text in one.contradictions),
            results=results,
            assessed=assessed(results),
            not_assessed=not_assessed(results),
            not_covered=NOT_COVERED,
            digests=digests,
        )


KIND = SecretsKind()


def _agree(study: SecretsStudy, options: RunOptions) -> None:
    """Say how long it takes, by the logits that are trained."""
    levels = study.mechanism.each()
    steps = sum(level.steps * level.work for level in levels)
    values = sum(len(prior.chances) for prior in study.priors())
    models = study.run.models + _OTHERS
    agree(
        _SECONDS * steps * values * models,
        f"{study.run.models:,} models for each of {len(study.prior) * len(levels)} settings",
        hours=options.hours,
        observer=options.observer,
    )


def _played(
    study: SecretsStudy, settings: Sequence[SecretSetting], folder: Path, options: RunOptions
) -> list[Scored]:
    """Play the game of each setting; the numbers depend on the study and the seed alone."""
    with ExitStack() as stack:
        store = None
        if options.folder is not None:
            store = stack.enter_context(
                TrialStore(
                    options.folder,
                    _identity(study, folder, options.entropy),
                    restart=options.restart,
                    observer=options.observer,
                )
            )
        executor = stack.enter_context(
            executor_of(options, study.run, workers=study.run.workers or 1)
        )
        seats = [setting.seat(study) for setting in settings]
        planned = plan(seats, study.run.models * len(seats))
        entropy = int(child(options.entropy, 0).integers(2**63))
        player = BlockPlayer(seats, OneStream(entropy, len(seats) == 1), 1, packed)
        found = play_all(
            player,
            [block.key for block in planned],
            store=store,
            executor=executor,
            what="blocks of models",
            observer=options.observer,
        )
        return [
            _scored(seat, [found[block.key] for block in planned if block.place == place])
            for place, seat in enumerate(seats)
        ]


def _scored(seat: Seat, blocks: Sequence[Arrays]) -> Scored:
    return {
        name: [unpacked(arrays, place) for arrays in blocks]
        for place, name in enumerate(seat.attacks)
    }


def _identity(study: SecretsStudy, folder: Path, entropy: int) -> dict[str, object]:
    """Say what trials depend on: the number of models is not part of it, so it can be raised."""
    settings = study.model_dump(mode="json")
    return {
        **{part: settings[part] for part in ("prior", "mechanism", "attacks")},
        "chances": hashlib.sha256(
            repr([one.chances for one in study.priors()]).encode()
        ).hexdigest(),
        "seed": str(entropy),
        "own code": source_digests(own_parts(study), folder),
        "version": __version__,
    }


def _threshold(
    study: SecretsStudy, folder: Path, policy: Path | None
) -> tuple[SecretThreshold | None, dict[str, str]]:
    """Give the threshold and, if it comes from a policy file, the file's digest."""
    read, digests = read_policy(study, folder, policy, SecretsPolicy)
    found = study.threshold if read is None else read.threshold
    levels = study.mechanism.levels
    if found is not None and found.at is not None and found.at not in levels:
        known = ", ".join(f"{level:g}" for level in levels)
        raise InputError(
            f"`threshold.at` is {found.at:g}, which is no epsilon of [mechanism]: {known}"
        )
    return found, digests
