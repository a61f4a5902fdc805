"""The outcome of a study, around its record: what it says, as text, page, frame and pictures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from narcissus._pandas import pd
from narcissus.rows import StudyRow
from narcissus.study.marks import write_results
from narcissus.study.reading import read_record
from narcissus.study.record import Record

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, repr=False)
class Audit:
    """The outcome of a study, around its record."""

    record: Record

    @property
    def status(self) -> str:
        """One of `narcissus.results.Status`: met, exceeded, contradicted, and so on."""
        return self.record.status

    @property
    def verdict(self) -> str:
        """The verdict in words, as it follows from the rows of the record."""
        from narcissus.report.about import verdict_of

        return verdict_of(self.record)

    @property
    def results(self) -> dict[str, Any]:
        """``criteria`` and ``result`` as plain values; typed in ``record``."""
        fields = self.record.to_dict()
        return {key: fields[key] for key in ("criteria", "result")}

    @property
    def figures(self) -> tuple[str, ...]:
        """Names of the report's figures, for `plot`."""
        from narcissus.audits.plots import figures_of

        return tuple(figures_of(self.record))

    def __repr__(self) -> str:
        """Name kind, status, grade, and the whole ones of 100 that the first screen shows."""
        from narcissus.report import page_of

        first, of = page_of(self.record, internal=True).first, self.record
        assert first is not None
        figures = {"without": first.without, "with": first.with_it, "at most": first.most}
        text = ", ".join(f"{k} {v}" for k, v in figures.items() if v is not None)
        text = f"; of {first.total} {first.unit} {text}" if text else ""
        return f"Audit({of.kind}: {of.status}, {of.grade}{text})"

    def __str__(self) -> str:
        from narcissus.report import render_text

        return render_text(self.record, whole=False)

    def _repr_html_(self) -> str:
        import html

        from narcissus.report import render_html

        # in a frame of its own, so that the style of the page stays out of the notebook
        page = html.escape(render_html(self.record), quote=True)
        return f'<iframe title="Report" srcdoc="{page}" width="100%" height="600"></iframe>'

    def to_dict(self) -> dict[str, Any]:
        """Return the record as plain values."""
        return self.record.to_dict()

    def to_frame(self) -> pd.DataFrame:
        """Return the numbers that one wants to plot, in long form: a row for each number.

        Returns
        -------
        pandas.DataFrame
            These columns for every kind of study, then some specific ones
            (each key of ``at``, then what its kind adds):

            ==============  ====================================================================
            ``quantity``    what the number is: "attack", "ceiling", "bound", "success", ...
            ``name``        whose it is: the attack, the theorem, the measure
            ``value``       the number; for a bound, what nobody exceeds
            ``low, high``   its confidence limits; NaN where it has none on that side
            ``confidence``  level of the limits; of a bound on a count, how sure it is
            ``baseline``    what the same attempts score without the release; NaN if that is
                            not a question
            ``grade``       "proved", "proved if", "sampled", "approximate" or "not assessed"
            ==============  ====================================================================
        """
        return frame_of(self.record)

    def plot(self, name: str | None = None, *, ax: Axes | None = None) -> Axes:
        """Draw a figure of the report with matplotlib.

        name: One of `figures`; None draws the first.
        ax: Where to draw; None makes a new figure, as pyplot does.

        matplotlib.axes.Axes: What was drawn on.

        InputError: There is no such figure; or it needs more than one pair of axes, and ``ax`` is
            given.
        """
        from narcissus.audits.plots import plot

        return plot(self.record, name, ax)

    def save(self, folder: Path | str, *, restart: bool = False) -> Path:
        """Write ``record.json`` and ``report.html``; give the folder.

        folder: Made where it is missing, and never reached by a link (`opened_folder`).
        restart: Replace results that this installation did not write, or that were changed since.

        InputError: A link leads to the folder. OSError: It cannot be written; the file is named.
        StoreError: It holds results of others, and ``restart`` is not said.
        """
        from narcissus.report import render_html

        folder = Path(folder)
        texts = {"record.json": self.record.to_json(), "report.html": render_html(self.record)}
        write_results(folder, texts, restart=restart)
        return folder


def load_audit(path: Path | str) -> Audit:
    """Read a record that an earlier run wrote: the file, or the folder that `save` left."""
    return Audit(read_record(path))


COLUMNS = ("quantity", "name", "value", "low", "high", "confidence", "baseline", "grade")
"""The columns that every kind of study has."""


def frame_of(record: Record) -> pd.DataFrame:
    """Return numbers of a record in long form, with a column for each key of ``at``."""
    from narcissus.report.about import shown

    layout, case = shown(record)
    rows = [
        _flat(row, details)
        for row in record.rows
        if row.of and (details := layout.in_frame(row, case)) is not None
    ]
    graded_rows = [
        {**row, "grade": "not assessed"}
        # what a contradicted record says to be proved is not
        if record.contradictions and str(row["grade"]).startswith("proved")
        else row
        for row in rows
    ]
    columns = list(
        dict.fromkeys(
            [*layout.columns, *(k for row in graded_rows for k in row if k not in COLUMNS)]
        )
    )
    texts = {k for row in graded_rows for k, value in row.items() if isinstance(value, str)}
    texts |= {"quantity", "name", "grade"}
    frame = pd.DataFrame(graded_rows, columns=[*COLUMNS, *columns])
    return frame.astype({c: float for c in frame.columns if c not in texts})


def _flat(row: StudyRow, more: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row of a record as one of its frame."""
    quantity = row.quantity
    labels = {
        "quantity": row.of,
        "name": row.name,
        "baseline": row.baseline,
        "grade": quantity.grade,
    }
    numbers = {"value": quantity.value, "low": quantity.low, "high": quantity.high}
    trials = {} if quantity.trials is None else {"trials": quantity.trials}
    return {**labels, **numbers, "confidence": quantity.confidence, **row.at, **more, **trials}
