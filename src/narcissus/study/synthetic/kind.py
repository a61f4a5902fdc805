"""The kind "synthetic": read the files, try the three risks, say what can and cannot be said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import BaseModel, TypeAdapter

from narcissus.errors import InputError
from narcissus.observer import Observer
from narcissus.results import NotAssessed
from narcissus.study.kinds import Outcome, RunOptions
from narcissus.study.plugins import GIVEN, load_attribute
from narcissus.study.results.synthetic import SyntheticResults
from narcissus.study.synthetic.schema import ExcessThreshold, SyntheticPolicy, SyntheticStudy
from narcissus.study.synthetic.summary import summarised
from narcissus.study.synthetic.words import ASSUMPTIONS, NOT_COVERED, not_assessed, verdict_words
from narcissus.study.toml import read_policy
from narcissus.study.work import agree
from narcissus.synthetic import FileThreat, GivenFiles, assess_file, read_files
from narcissus.synthetic.files import Source
from narcissus.tables import Bins, Table

_SECONDS = 2e-9  # a person, a row, a column and an attack
_ATTACKS = 16  # of singling out and linkability, as long as that many guesses


class SyntheticKind:
    """The kind "synthetic"."""

    model: type[BaseModel] = SyntheticStudy
    results: TypeAdapter[Any] = TypeAdapter(SyntheticResults)

    def check(self, study: Any, folder: Path, observer: Observer) -> None:
        """Refuse files that cannot be used together, and columns that they do not have."""
        settings: SyntheticStudy = study
        files = _files(settings, folder)
        threat = _threat(settings)
        threat.secrets(files)
        threat.division(files)
        for name in settings.groups.columns:
            files.table.index(name)
        _threshold(settings, folder, None)

    def play(self, study: Any, folder: Path, options: RunOptions) -> Outcome:
        """Try the three risks."""
        settings: SyntheticStudy = study
        threshold, digests = _threshold(settings, folder, options.policy)
        if threshold.worst_group is not None and not settings.groups.columns:
            raise InputError("the policy's `worst_group` needs groups: name their columns")
        files, threat = _files(settings, folder), _threat(settings)
        people = min(files.real, threat.people) + min(files.control, threat.people)
        attacks = _ATTACKS + 6 * len(threat.secrets(files))
        for line in files.reading:
            options.observer.note(line)
        agree(
            _SECONDS * people * files.synthetic * files.table.columns * attacks,
            f"{people:,} people held against {files.synthetic:,} rows",
            hours=options.hours,
            observer=options.observer,
        )
        found = assess_file(files, threat, entropy=options.entropy, observer=options.observer)
        results = summarised(
            files,
            found,
            threshold,
            confidence=settings.run.confidence,
            columns=settings.groups.columns,
            least=settings.groups.least_group,
        )
        verdict = results.verdict
        parts = ("real", "synthetic", *(["control"] if files.control else []))
        return Outcome(
            title=settings.title or "A given synthetic file",
            status=verdict,
            verdict=verdict_words(results),
            grade="not assessed" if verdict == "not assessed" else "sampled",
            assumptions=() if verdict == "not assessed" else ASSUMPTIONS,
            results=results,
            assessed=[
                *(f"{risk.name}, by {len(risk.tried)} attacks" for risk in results.risks),
                *files.reading,
            ],
            not_assessed=[*not_assessed(results), *_remarks(files)],
            not_covered=NOT_COVERED,
            digests={**{name: _digest(files, name) for name in parts}, **digests},
        )


def _source(name: str, folder: Path) -> Source:
    """Give what a file of the study stands for."""
    if name.startswith(GIVEN):
        return load_attribute(name, folder)
    return name if name.startswith("statsmodels:") else folder / name


def _files(study: SyntheticStudy, folder: Path) -> GivenFiles:
    data = study.data
    return read_files(
        _source(data.real, folder),
        _source(data.synthetic, folder),
        None if data.control is None else _source(data.control, folder),
        columns=data.columns,
        drop=data.drop,
        bins={name: Bins(**spec.model_dump(exclude_none=True)) for name, spec in data.bins.items()},
        missing=data.missing,
        read_as=data.read_as,
    )


def _threat(study: SyntheticStudy) -> FileThreat:
    linked = study.threat.linked
    return FileThreat(
        tuple(study.threat.unknown),
        None if linked is None else (tuple(linked[0]), tuple(linked[1])),
        study.threat.people,
    )


def _threshold(
    study: SyntheticStudy, folder: Path, policy: Path | None
) -> tuple[ExcessThreshold, dict[str, str]]:
    """Give what is accepted and, if it comes from a policy file, the file's digest."""
    read, digests = read_policy(study, folder, policy, SyntheticPolicy)
    found = study.threshold if read is None else read.threshold
    return found or ExcessThreshold.model_validate({}), digests


def _digest(files: GivenFiles, name: str) -> str:
    table = files.table
    part = Table(table.names, table.labels, table.ordered, table.codes[files.rows(name)])
    return f"sha256:{part.digest}"


def _remarks(files: GivenFiles) -> list[NotAssessed]:
    """Say how columns were read that a reader may take for something else."""
    return [
        NotAssessed(f"distances in the column {name}", text, "clean the column, or drop it")
        for name, text in files.table.notes.items()
    ]


KIND = SyntheticKind()
