"""Play a study: the same path for every kind."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from narcissus._files import read_bytes
from narcissus._folders import opened_folder
from narcissus._random import RandomSource, entropy_of
from narcissus.audits.outcome import Audit
from narcissus.errors import InputError, StoreError
from narcissus.game.executor import Executor
from narcissus.observer import SILENT, Observer
from narcissus.study.keyed import keyed, keyed_digests
from narcissus.study.kinds import RunOptions, study_kind
from narcissus.study.load import Study
from narcissus.study.marks import (
    CANNOT_KEEP,
    digest_key,
    installation_key,
    require_marked,
    unmarked,
    write_marked,
)
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

    study: From `load_study`.
    rng: The seed; None takes the study's own (``run.seed``), or fresh entropy where it has none.
    observer: Hears of progress; silent by default.
    folder: Where finished trials are kept, so that an interrupted run continues, and the key of the
        digests of data (`narcissus.study.keyed`); None keeps nothing, and withholds the digests.
    workers: Worker processes; None as the study says. The numbers do not depend on it.
    restart: Throw away what an earlier run left in ``folder``. Without it, results that this
        installation did not write, or that were changed since, are refused (StoreError).
    policy: A file of thresholds of the person who approves the release; its hash is in
        the record. None: the study's own threshold.
    internal: Where to write what is about single records, which the record never holds; None writes
        nothing of the kind.
    hours: Refuse work that is estimated to take longer (`LongWorkError`); None plays any.
    engine: Who plays: "serial" (this process), "processes", "dask" (a cluster on this machine, or
        the one that Dask's configuration names), or an executor of yours, such as
        ``narcissus.study.engines.Dask("tls://10.0.0.5:8786")``. None: as the study says, else
        processes. The numbers do not depend on it.
    """
    settings: Any = study.settings
    seed = getattr(getattr(settings, "run", None), "seed", None)
    place = None if folder is None else Path(folder)
    if place is not None:
        require_marked(place, restart=restart)
        if installation_key() is None:
            observer.note(f"a later run will not recognise the results in {place}: {CANNOT_KEEP}")
    if rng is None and seed is None and place is not None:
        entropy = _kept_entropy(place, restart=restart)
    else:
        entropy = entropy_of(seed if rng is None else rng)
    options = RunOptions(
        entropy=entropy,
        keyed=partial(_by_key_of, place),
        observer=observer,
        folder=place,
        workers=workers,
        restart=restart,
        policy=None if policy is None else Path(policy),
        internal=None if internal is None else Path(internal),
        hours=hours,
        engine=engine,
    )
    return play(study, options)


def play(study: Study, options: RunOptions) -> Audit:
    """Play a study as the options say; `run` is this for a seed, a folder and paths.

    InputError: An engine is named for a study that is not played by trials.
    """
    _refuse_engine(study.kind, study.settings, options.engine)
    with study.code.in_use():
        outcome = study_kind(study.kind).play(study.settings, study.folder, options)
    record = make_record(
        outcome,
        kind=study.kind,
        study=study.to_dict(),
        entropy=options.entropy,
        digests=keyed_digests(
            {"study": "sha256:" + study.digest, **outcome.digests, **study.code.said}, options.keyed
        ),
    )
    return Audit(record)


def _by_key_of(folder: Path | None, digest: str) -> str:
    """Key a digest; the key of a folder is drawn when it is needed, after all refusals."""
    return keyed(digest, None if folder is None else digest_key(folder))


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
        if not restart and path.exists() and ENTROPY not in unmarked(folder):
            text = read_bytes(path, largest=100).decode("utf-8").strip()
            if text.isdecimal():
                return int(text)
        entropy = entropy_of(None)
        with opened_folder(folder, make=True) as place:
            write_marked(place, ENTROPY, f"{entropy}\n", private=True)
    except (OSError, UnicodeDecodeError, InputError) as error:
        raise StoreError(f"cannot keep the seed of the run in {path}: {error}") from error
    return entropy
