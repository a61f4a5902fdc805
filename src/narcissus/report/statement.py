"""A statement for the file: one to two pages about a record that a data protection officer signs.

The terms are those of WP216 (Article 29 Working Party, Opinion 05/2014), of EDPB Opinion 28/2024,
of the anonymisation guidance of the ICO, and of the TEHDAS2 guideline on anonymisation and
synthetic data (10.5281/zenodo.20269109). It helps to document a decision, and is no legal advice.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from textwrap import shorten
from typing import NamedTuple
from xml.sax.saxutils import escape

from narcissus._visible import plain_markdown, visible
from narcissus.findings import weakest
from narcissus.report.about import Answered, numbers_of, shown, subject_of, uncovered_of
from narcissus.report.envelope import INTERNAL, page_of
from narcissus.report.format import SIGNS, grade_word, percent
from narcissus.report.gives_away import figures_of
from narcissus.report.page import Facts, Grid, Items, Section
from narcissus.results import GRADES as FROM_STRONG
from narcissus.results import Grade
from narcissus.study.record import Record
from narcissus.study.shareable import to_show

LONGEST, MOST_ITEMS, MOST_NAMES = 120, 4, 12
"""Letters of an item of a list, items of a list, names in a list; the rest is counted."""
NO_GROUPS = "groups of people: an average can hide who loses most"
AS_DESCRIBED = "the release is made as the study describes it"
AT_LEAST = ("beta_star", "bayes_risk")
"""Thresholds of a channel, whose security must be so high."""
TO_FILL_IN = "…" * 8

STANDING = {
    "met": "The threshold is kept, for this release and this attacker, if what it rests on holds.",
    "exceeded": "This record speaks against the release.",
    "contradicted": "This record speaks against the release: what was assumed is refuted.",
    "no threshold": "No threshold was set. This record measures; it supports no decision yet.",
    "compared": "No threshold was set. This record measures; it supports no decision yet.",
}
UNDECIDED = "This record is no evidence in favour of the release."
"""How a record stands to a release, by its status; `UNDECIDED` for every other status."""


class SupervisorsCriterion(NamedTuple):
    """A criterion of those who supervise: its name, whose it is, and the answers to it."""

    name: str
    source: str
    answers: tuple[str, ...]


CRITERIA = (
    SupervisorsCriterion("Singling out", "WP216, EDPB, ICO", ("singling out",)),
    SupervisorsCriterion("Linkability", "WP216, EDPB, ICO", ("linkability",)),
    SupervisorsCriterion("Inference", "WP216, EDPB, ICO", ("inference",)),
    SupervisorsCriterion("Extraction from a model", "EDPB Opinion 28/2024", ("extraction",)),
    SupervisorsCriterion("Motivated intruder", "ICO; programs here, no person", ("testing",)),
    SupervisorsCriterion("Residual risk", "TEHDAS2, ICO", ("limit",)),
    SupervisorsCriterion("Guarantee", "as the study states it", ("parameters", "unit")),
)


class ReleaseStatement(NamedTuple):
    """A statement before it is written: a title, the answer, and sections of facts and tables."""

    title: str
    answer: str
    standing: str
    sections: tuple[Section, ...]


def statement_of(record: Record, *, internal: bool = False) -> ReleaseStatement:
    """Turn a record into a statement, nothing in which is stronger than in the record.

    record: from a run, or read from a file.
    internal: use also what must not be shown, see `narcissus.report.page_of`.
    Returns ReleaseStatement: what is released against whom, three numbers with their grades, the
        threshold, the criteria, what the answer assumes, what was not assessed, and signatures.
    Raises InputError: the record has groups of so few real people that it cannot be shown.
    """
    record = record if internal else to_show(record)
    first = page_of(record, internal=internal).first
    assert first is not None
    title = _short(f"Statement on what a release gives away: {record.title}")
    return ReleaseStatement(
        f"{INTERNAL}: {title}" if internal else title,
        f"{first.sign} {first.word}: {first.answer} ({grade_word(record.grade)})",
        STANDING.get(record.status, UNDECIDED),
        (
            Section("Release and attacker", [Facts(list(_release(record, first.about)))]),
            _numbers(record, first.sentences),
            Section("Criteria", [criteria_of(record)]),
            Section("What the answer rests on", list(_premises(record))),
            Section("Not assessed, and residual risk", list(_missing(record, first.hardest))),
            Section("Decision and signatures", _signatures()),
        ),
    )


def no_stronger(grade: Grade, record: Record) -> Grade:
    """Return the grade of a number, which proves nothing where statements are at odds."""
    is_proof = FROM_STRONG.index(grade) <= FROM_STRONG.index("proved if")
    return weakest([grade, "not assessed"]) if record.contradictions and is_proof else grade


def _sure(grade: Grade | None, record: Record) -> str:
    grade = no_stronger(grade or "not assessed", record)
    return f"{SIGNS[grade]} {grade_word(grade)}"


def _release(record: Record, about: str) -> Iterator[tuple[str, str]]:
    yield "Released", subject_of(record).released
    if attacker := about or _short("; ".join(record.assessed)):
        yield "Attacker", attacker
    yield "Threshold", accepted(record)
    yield (
        "Record",
        f"{record.digest or 'without a digest'}, Narcissus {record.provenance.narcissus}",
    )
    if names := "; ".join(figure.name for figure in figures_of(record)):
        yield "Depends on real records", names


def _numbers(record: Record, sentences: Sequence[tuple[str, Grade | None]]) -> Section:
    """Return the sentences of the first screen, each with its grade."""
    layout, case = shown(record)
    names = ("Without the release", "With it, by the best attack", "At most, by anybody")
    rows = [
        (name, text, _sure(grade, record))
        for name, (text, grade) in zip(names, sentences, strict=True)
    ]
    table = Grid("What is reached", ("Of whom", "Number", "How sure"), rows)
    return Section(f"Three numbers{layout.where(case)}", [table])


def criteria_of(record: Record) -> Grid:
    """Return each criterion with its answer; that of models only for a study of a model."""
    findings = answers(record)
    rows: list[tuple[str, str, str]] = []
    for name, source, keys in CRITERIA:
        known = [findings[key] for key in keys if key in findings]
        if not known and name in ("Extraction from a model", "Guarantee"):
            continue  # not a study of a model, or of a guarantee
        text = "; ".join(answer.text for answer in known) or "nothing in this record"
        grade = known[0].grade if known else "not assessed"
        sure = "as stated" if grade is None else _sure(grade, record)
        rows.append((f"{name} ({source})", _short(text), sure))
    return Grid("By criterion", ("Criterion", "This record", "How sure"), rows)


_OF_MODELS = ("classifier", "image-model", "language-model", "secrets")
"""Kinds of study whose inference is extraction from a model."""
_SEEN: tuple[Grade, ...] = ("sampled", "counted")


def answers(record: Record) -> dict[str, Answered]:
    """Return what a record answers, by criterion; what it says nothing about is left out.

    No grade is stronger than the record allows: where statements contradict each other, nothing is
    proved.
    """
    subject = subject_of(record)
    layout, case = shown(record)
    findings = layout.answers(record, case)
    if "inference" in findings and record.kind in _OF_MODELS:
        findings["extraction"] = findings["inference"]
    numbers = numbers_of(record)
    if sampled := [f"{name}: {value}" for name, value, _, grade in numbers if grade in _SEEN]:
        findings["testing"] = Answered("; ".join(sampled), "sampled")
    if subject.limits and not subject.against:
        findings["limit"] = Answered(subject.limits[0].text, subject.limits[0].grade)
    return {
        name: replace(finding, grade=finding.grade and no_stronger(finding.grade, record))
        for name, finding in findings.items()
    }


def _premises(record: Record) -> Iterator[Items]:
    """Yield what is refuted, what is not accounted for, and what must hold."""
    _, case = shown(record)
    if record.contradictions:
        yield Items("Refuted", _first(record.contradictions))
    if case.unaccounted:
        subjects = [item.subject for item in case.unaccounted]
        yield Items("Not accounted for", _first(subjects, MOST_NAMES))
    subject = subject_of(record)
    given = [text for limit in subject.limits for text in limit.given]
    assumed = [*dict.fromkeys([*record.assumptions, *given])] or [AS_DESCRIBED]
    yield Items("Assumed" if record.contradictions else "It holds only if", _first(assumed))


def _missing(record: Record, hardest: str) -> Iterator[Items]:
    subject = subject_of(record)
    risks = [] if subject.limits else ["No number here limits every attacker."]
    if subject.against:
        risks = [f"Only {subject.against} are limited by the numbers here."]
    risks += [hardest] if hardest else []
    risks += [f"No ground for a decision about people: {subject.no_ground}."] * bool(
        subject.no_ground
    )
    if risks:
        yield Items("Residual risk", [_short(risk) for risk in risks])
    questions = [f"{remark.quantity}: {remark.reason}" for remark in record.not_assessed]
    questions += [] if subject.groups else [NO_GROUPS]
    if questions:
        yield Items("Not assessed, so it may be unsafe", _first(questions))
    yield Items("Not covered by any number", _first(uncovered_of(record)))


def _short(text: str) -> str:
    return shorten(text, LONGEST, placeholder=" (more in the report)")


def _first(items: Sequence[str], most: int = MOST_ITEMS) -> list[str]:
    left = len(items) - most
    rest = [f"and {left} more, in the report"] if left > 0 else []
    return [*map(_short, items[:most]), *rest]


def _signatures() -> list[Facts | Grid]:
    """Return what people fill in: a record holds no date, so that it can be made again."""
    people = ("Prepared by", "Data protection officer", "Responsible for the release")
    return [
        Facts(
            [
                ("Released to", TO_FILL_IN),
                ("The residual risk is accepted", "yes / no, because " + TO_FILL_IN),
                ("Reviewed again on", TO_FILL_IN),
            ]
        ),
        Grid(
            "Signatures",
            ("Role", "Name", "Date", "Signature"),
            [(role, TO_FILL_IN, TO_FILL_IN, TO_FILL_IN) for role in people],
        ),
    ]


def _asked(key: str) -> str:
    """Describe what a key of a threshold is about."""
    return "excess" if key == "at_most" else key.replace("_", " ")


def accepted(record: Record) -> str:
    """Describe what was accepted beforehand, why and by whom; or that nothing was."""
    layout, case = shown(record)
    if accepted := layout.subject(record, case).accepted:
        return accepted
    threshold = layout.threshold(record, case)
    parts = [
        f"{_asked(key)} at {'least' if key in AT_LEAST else 'most'} "
        f"{percent(value) if isinstance(value, float) else value}"
        for key, value in threshold.items()
        if isinstance(value, int | float)
    ]
    if not parts:
        return "nothing: no threshold was set"
    parts += [f"why: {threshold['reason'].rstrip('.')}"] if threshold.get("reason") else []
    parts.append(f"set by: {threshold.get('origin') or 'not stated'}")
    parts += [f"policy: {policy}"] if (policy := record.study.get("policy")) else []
    return "; ".join(parts)


NOTE = (
    "“Not assessed” may be unsafe. People decide, from more than this; it is not legal advice. "
    "Every number, with its method, is in the report of the same record."
)


def statement_markdown(statement: ReleaseStatement) -> str:
    """Write a statement as Markdown; names and values of others are shown as text."""
    plain = plain_markdown
    lines = [f"# {plain(statement.title)}", "", f"**{plain(statement.answer)}**", ""]
    lines += [plain(statement.standing), ""]
    for section in statement.sections:
        lines += [f"## {plain(section.title)}", ""]
        for block in section.blocks:
            if isinstance(block, Items):
                lines += [f"{block.title}:", "", *(f"* {plain(text)}" for text in block.items)]
            elif isinstance(block, Facts):
                lines += [f"* **{name}:** {plain(text)}" for name, text in block.rows]
            elif isinstance(block, Grid):
                table = [block.columns, ["---"] * len(block.columns)]
                cells = [[plain(str(cell)) for cell in row] for row in block.rows]
                lines += [f"| {' | '.join(row)} |" for row in [*table, *cells]]
            lines.append("")
    return "\n".join([*lines, plain(NOTE), ""])


_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_DOCUMENT = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"
_MAIN = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_PARTS = {
    "[Content_Types].xml": f'{_HEAD}<Types xmlns="{_PACKAGE}/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.'
    'relationships+xml"/><Override PartName="/word/document.xml" '
    f'ContentType="{_MAIN}"/></Types>',
    "_rels/.rels": f'{_HEAD}<Relationships xmlns="{_PACKAGE}/relationships"><Relationship '
    f'Id="r1" Type="{_DOCUMENT}" Target="word/document.xml"/></Relationships>',
}
"""The two parts of a DOCX around its text (ECMA-376, part 2)."""
_EDGES = "".join(
    f'<w:{edge} w:val="single" w:sz="4" w:color="8994A0"/>'
    for edge in ("top", "left", "bottom", "right", "insideH", "insideV")
)


def statement_docx(statement: ReleaseStatement) -> bytes:
    """Write a statement as a DOCX file on A4, the same bytes each time (ECMA-376, part 1)."""
    body = [_paragraph(statement.title, size=28, is_bold=True)]
    body += [_paragraph(statement.answer, is_bold=True), _paragraph(statement.standing)]
    for section in statement.sections:
        body.append(_paragraph(section.title, size=24, is_bold=True))
        for block in section.blocks:
            if isinstance(block, Items):
                items = (f"\N{BULLET} {text}" for text in block.items)
                body += [_paragraph(f"{block.title}:"), *map(_paragraph, items)]
            elif isinstance(block, Facts):
                body += [_paragraph(f"{name}: {text}") for name, text in block.rows]
            elif isinstance(block, Grid):
                body.append(_table([block.columns, *([*map(str, row)] for row in block.rows)]))
    body.append(_paragraph(NOTE))
    page = '<w:sectPr><w:pgSz w:w="11906" w:h="16838"/><w:pgMar w:top="850" w:right="850" '
    page += 'w:bottom="850" w:left="850" w:header="0" w:footer="0" w:gutter="0"/></w:sectPr>'
    text = f'{_HEAD}<w:document xmlns:w="{_WORD}"><w:body>{"".join(body)}{page}</w:body>'
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as file:
        for name, part in {**_PARTS, "word/document.xml": f"{text}</w:document>"}.items():
            file.writestr(zipfile.ZipInfo(name), part)  # 1980: a record holds no date
    return content.getvalue()


def _paragraph(text: str, *, size: int = 18, is_bold: bool = False) -> str:
    """Return a paragraph; ``size`` is in half points."""
    look = f'{"<w:b/>" * is_bold}<w:sz w:val="{size}"/>'
    run = f'<w:r><w:rPr>{look}</w:rPr><w:t xml:space="preserve">{escape(visible(text))}</w:t></w:r>'
    return f'<w:p><w:pPr><w:spacing w:before="0" w:after="60"/></w:pPr>{run}</w:p>'


def _table(rows: Sequence[Sequence[str]]) -> str:
    """Return a table whose first row is its head, with an empty paragraph after it."""
    grid = '<w:gridCol w:w="2500"/>' * len(rows[0])
    lines = [
        "".join(f"<w:tc>{_paragraph(cell, is_bold=not place)}</w:tc>" for cell in row)
        for place, row in enumerate(rows)
    ]
    look = f'<w:tblPr><w:tblW w:w="5000" w:type="pct"/><w:tblBorders>{_EDGES}</w:tblBorders>'
    grid = f"</w:tblPr><w:tblGrid>{grid}</w:tblGrid>"
    return f"<w:tbl>{look}{grid}<w:tr>{'</w:tr><w:tr>'.join(lines)}</w:tr></w:tbl>{_paragraph('')}"
