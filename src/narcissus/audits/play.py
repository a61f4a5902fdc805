"""Play a study: the same path for every kind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from narcissus._files import read_bytes, write_atomically
from narcissus._random import RandomSource, entropy_of
from narcissus.audits.outcome import Audit
from narcissus.errors import InputError, StoreError
from narcissus.game.executor import Executor
from narcissus.observer import SILENT, Observer
from narcissus.study.kinds import RunOptions, study_kind
from narcissus.study.load import Study
from narcissus.study.record import make_record
from narcissus.study.sections import PlayedRun

# where a run without a seed of its own keeps the one that it drew, so that it can be continued
ENTROPY = "entropy.txt"


def run(
    study: Study,
    *,
    rng: RandomSource = None,
    observer: Observer = SILENT,
    folder: Path | str | None = None,
    workers: int | None = None,
    restart: bool = False,
    policy: Path | str | None = None,
    internal: Path | str | None = None,
    hours: float | None = None,
    engine: str | Executor | None = None,
) -> Audit:
    """Play a study.

    Parameters
    ----------
    study
        From `load_study`.
    rng
        The seed; None takes the study's own (``run.seed``), or fresh entropy where it has none.
    observer
        Hears of progress; silent by default.
    folder
        Where finished trials are kept, so that an interrupted run continues; None keeps nothing.
    workers
        Worker processes; None as the study says. The numbers do not depend on it.
    restart
        Throw away what an earlier run left in ``folder``.
    policy
        A file of thresholds that belongs to whoever approves the release; its hash stands in the
        record. None: the study's own threshold.
    internal
        Where to write what is about single records, which the record never holds; None writes
        nothing of the kind.
    hours
        Refuse work that is estimated to take longer (`LongWorkError`); None plays any.
    engine
        Who plays: "serial" (this process), "processes", "dask" (a cluster on this machine, or the
        one that Dask's configuration names), or an executor of yours, such as
        ``narcissus.study.engines.Dask("tls://10.0.0.5:8786")``. None: as the study says, else
        processes. The numbers do not depend on it.
    """
    settings: Any = study.settings
    _refuse_engine(study.kind, settings, engine)
    seed = getattr(getattr(settings, "run", None), "seed", None)
    place = None if folder is None else Path(folder)
    if rng is None and seed is None and place is not None:
        entropy = _kept_entropy(place, restart=restart)
    else:
        entropy = entropy_of(seed if rng is None else rng)
    options = RunOptions(
        entropy=entropy,
        observer=observer,
        folder=place,
        workers=workers,
        restart=restart,
        policy=None if policy is None else Path(policy),
        internal=None if internal is None else Path(internal),
        hours=hours,
        engine=engine,
    )
    with study.code.in_use():
        outcome = study_kind(study.kind).play(study.settings, study.folder, options)
    record = make_record(
        outcome,
        kind=study.kind,
        study=study.to_dict(),
        entropy=entropy,
        digests={"study": "sha256:" + study.digest, **outcome.digests, **study.code.said},
    )
    return Audit(record)


def _refuse_engine(kind: str, settings: Any, engine: str | Executor | None) -> None:
    """Refuse an engine for what is not played by trials: the answer would come from here."""
    if engine is not None and not isinstance(getattr(settings, "run", None), PlayedRun):
        raise InputError(
            f"studies of the kind {kind!r} are played on this machine: leave out the engine"
        )


def _kept_entropy(folder: Path, *, restart: bool) -> int:
    """Draw the entropy of a run without a seed, or take that of the run that it continues."""
    path = folder / ENTROPY
    try:
        if not restart and path.exists():
            text = read_bytes(path, largest=100).decode("utf-8").strip()
            if text.isdecimal():
                return int(text)
        entropy = entropy_of(None)
        folder.mkdir(parents=True, exist_ok=True)
        write_atomically(path, f"{entropy}\n")
    except (OSError, UnicodeDecodeError, InputError) as error:
        raise StoreError(f"cannot keep the seed of the run in {path}: {error}") from error
    return entropy
