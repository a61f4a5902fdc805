"""A study, and what came of it: load, run, save. The same path for every kind of study."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
from pydantic import BaseModel

from narcissus._files import read_bytes
from narcissus._random import RandomSource, entropy_of
from narcissus.errors import InputError, StoreError, StudyError
from narcissus.observer import SILENT, Observer
from narcissus.study.kinds import KINDS, RunOptions, study_kind
from narcissus.study.plugins import OwnCode
from narcissus.study.record import (
    Record,
    make_record,
    read_record,
    study_digest,
    write_atomically,
)
from narcissus.study.toml import read_document, validate

# where a run without a seed of its own keeps the one that it drew, so that it can be continued
ENTROPY = "entropy.txt"


@dataclass(frozen=True)
class Study:
    """A study as it was read: its kind, its settings and the folder that its paths start from.

    ``code`` is the permission to run code of its own, and what was run.
    """

    kind: str
    settings: BaseModel
    folder: Path
    code: OwnCode = field(default_factory=OwnCode, compare=False)

    @property
    def digest(self) -> str:
        """SHA-256 of the settings: two files that mean the same study have the same digest."""
        return study_digest(self.kind, self.to_dict())

    def to_dict(self) -> dict[str, Any]:
        """Give the settings with all defaults filled in."""
        return self.settings.model_dump(mode="json", by_alias=True)

    def __repr__(self) -> str:
        return f"Study(kind={self.kind!r}, digest={self.digest[:12]})"


def load_study(path: Path | str, *, allow_code: bool = False) -> Study:
    """Read a study file and check everything that can be checked before any work.

    Parameters
    ----------
    path
        The file.
    allow_code
        Whether it may run code of its own, ``module:attribute``: modules beside the file, or
        installed ones that declare the part. Such code can do whatever you can.

    Raises
    ------
    StudyError
        The file is wrong; one line a mistake, with its line in the file. Or it names code to run,
        and that is not allowed.
    InputError
        What the file names (a table, a column, a policy) is not usable.
    """
    document = read_document(path)
    name = document.data.pop("kind", "table")
    if not isinstance(name, str) or name not in KINDS:
        raise StudyError(
            f"{document.place(('kind',))}: `kind` must be one of {', '.join(KINDS)}, got {name!r}"
        )
    kind = study_kind(name)
    code = OwnCode(allowed=allow_code)
    with code.in_use():
        study = Study(name, validate(kind.model, document), document.folder, code)
        try:
            kind.check(study.settings, study.folder)
        except OSError as error:  # a name that the system does not take, a folder it does not open
            place = error.filename or "what the study names"
            raise InputError(f"cannot read {place}: {error.strerror or error}") from error
    return study


@dataclass(frozen=True)
class Audit:
    """The outcome of a study, around its record."""

    record: Record

    @property
    def status(self) -> str:
        """One of `narcissus.study.record.Status`: met, exceeded, contradicted, and so on."""
        return self.record.status

    @property
    def verdict(self) -> str:
        """The verdict in words."""
        return self.record.verdict

    @property
    def results(self) -> dict[str, Any] | list[dict[str, Any]]:
        """What the record holds under ``results``."""
        return self.record.to_dict()["results"]

    def __repr__(self) -> str:
        return f"Audit(kind={self.record.kind!r}, status={self.status!r})"

    def __str__(self) -> str:
        from narcissus.report import render_text

        return render_text(self.record)

    def _repr_html_(self) -> str:
        import html

        from narcissus.report import render_html

        # in a frame of its own, so that the style of the page stays out of the notebook
        page = html.escape(render_html(self.record), quote=True)
        return f'<iframe title="Report" srcdoc="{page}" width="100%" height="900"></iframe>'

    def to_dict(self) -> dict[str, Any]:
        """Give the record as plain values."""
        return self.record.to_dict()

    def to_frame(self) -> pd.DataFrame:
        """Give the results as a data frame, a row for each setting of a sweep."""
        results = self.results
        return pd.json_normalize(results if isinstance(results, list) else [results])

    def save(self, folder: Path | str) -> Path:
        """Write ``record.json`` and ``report.html``; give the folder."""
        from narcissus.report import render_html

        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        html = render_html(self.record)
        write_atomically(folder / "record.json", self.record.to_json())
        write_atomically(folder / "report.html", html)
        return folder


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
    """
    settings: Any = study.settings
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
    )
    with study.code.in_use():
        outcome = study_kind(study.kind).play(study.settings, study.folder, options)
    modules = {f"module {name}": f"sha256:{sha}" for name, sha in study.code.digests.items()}
    record = make_record(
        kind=study.kind,
        title=outcome.title,
        status=outcome.status,
        verdict=outcome.verdict,
        grade=outcome.grade,
        assumptions=outcome.assumptions,
        contradictions=outcome.contradictions,
        study=study.to_dict(),
        entropy=entropy,
        results=outcome.results,
        assessed=outcome.assessed,
        not_assessed=outcome.not_assessed,
        not_covered=outcome.not_covered,
        digests={"study": "sha256:" + study.digest, **outcome.digests, **modules},
    )
    return Audit(record)


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


def load_audit(path: Path | str) -> Audit:
    """Read a record that an earlier run wrote."""
    return Audit(read_record(path))
