"""A study as it was read, from a file or a dictionary: checked before any work."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from narcissus.errors import InputError, StudyError
from narcissus.observer import SILENT, Observer
from narcissus.study.given import THE_STUDY, digest_of_object, is_table, split
from narcissus.study.kinds import KINDS, OF_PAPERS, known_kinds, require_installed, study_kind
from narcissus.study.plugins import OwnCode
from narcissus.study.record import study_digest
from narcissus.study.toml import Document, read_document, validate


@dataclass(frozen=True)
class Study:
    """A study as it was read: its kind, its settings and the folder that its paths start from.

    ``code`` is the permission to run custom code, and what was run.
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
        """Return the settings with all defaults filled in."""
        return self.settings.model_dump(mode="json", by_alias=True)

    def __repr__(self) -> str:
        return f"Study(kind={self.kind!r}, digest={self.digest[:12]})"


def load_study(
    study: Path | str | Mapping[str, Any],
    *,
    folder: Path | str | None = None,
    allow_code: bool = False,
    observer: Observer = SILENT,
) -> Study:
    """Read a study and check everything that can be checked before any work.

    study: A study file, or a dictionary that is nested as the file is. A dictionary may hold a data
        frame or a `Table`, ``{"data": {"frame": frame, ...}, ...}``, and own parts as objects
        wherever a file would name a ``module:attribute`` (`narcissus.study.given`).
    folder: Where relative paths in the study start; None: the folder of the file, for a dictionary
        the current one.
    allow_code: Whether it may run its own code, ``module:attribute``: modules next to the file,
        or installed ones that declare the part. Such code can do whatever you can. Objects in a
        dictionary need no permission.

    StudyError: The study is wrong; one line a mistake, with its key, and its line in the file. Or
        it names code to run, and that is not allowed.
    InputError: What the study names (a table, a column, a policy) is not usable.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"job": ["cook", "clerk"] * 20, "ill": ["no", "no", "no", "yes"] * 10})
    >>> load_study({
    ...     "data": {"frame": frame},
    ...     "threat": {"unkown": ["ill"], "targets": 10},
    ...     "mechanism": {"k": 2, "epsilon": 1.0},
    ... })
    Traceback (most recent call last):
    ...
    narcissus.errors.StudyError: the study: unknown key `threat.unkown`; did you mean `unknown`?
    """
    if isinstance(study, Mapping):
        data, objects = split(study)
        document = Document(THE_STUDY, Path(folder or Path.cwd()).resolve(), data)
    else:
        document, objects = read_document(study), dict[str, Any]()
        if folder is not None:
            document = replace(document, folder=Path(folder).resolve())
    code = OwnCode(allowed=allow_code, given=objects)
    code.digests.update((n, digest_of_object(o)) for n, o in objects.items() if not is_table(o))
    loaded = read_settings(document, code)
    with code.in_use():
        try:
            study_kind(loaded.kind).check(loaded.settings, loaded.folder, observer)
        except OSError as error:  # a name that the system does not take, a folder it does not open
            place = error.filename or "what the study names"
            raise InputError(f"cannot read {place}: {error.strerror or error}") from error
    return loaded


def read_settings(document: Document, code: OwnCode | None = None) -> Study:
    """Check a document against the schema of its kind; the files that it names are not read.

    code: Permission to run custom code; None gives none.

    StudyError: The study is wrong; one line a mistake.
    """
    data, code = dict(document.data), code or OwnCode()
    name = data.pop("kind", "table")
    place = document.place(("kind",))
    if not isinstance(name, str) or name not in KINDS | OF_PAPERS:
        raise StudyError(f"{place}: `kind` must be one of {known_kinds()}, got {name!r}")
    try:
        require_installed(name)
    except InputError as error:
        raise StudyError(f"{place}: {error}") from error
    with code.in_use():
        settings = validate(study_kind(name).model, replace(document, data=data))
    return Study(name, settings, document.folder, code)
