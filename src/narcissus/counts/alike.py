"""Dimensions and labels of several tables that are one, and are spelled otherwise.

Case, blanks, punctuation and plural of a header make no other dimension, and case, composed letters
and leading zeros no other label. Whatever else two tables name otherwise is asked: dimensions that
no table crosses, unless both headers are known and differ, and labels that each has alone.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from itertools import combinations

from narcissus._validation import did_you_mean
from narcissus._visible import visible
from narcissus.counts.columns import ColumnUse, option_of
from narcissus.counts.ranges import read_range
from narcissus.counts.reading import Cell, TableRead
from narcissus.counts.system import Structure
from narcissus.errors import InputError
from narcissus.rows import Unaccounted

Pair = frozenset[str]
MOST_COMPARED = 200
"""Labels of a hierarchy, and of tables, that are compared letter by letter."""
_ANYBODYS = re.compile(
    r"\w{1,2}|\d+|yes|no|ja|nein|nee|nej|oui|non|true|false|others?|unknown|not stated", re.I
)
_YES_OR_NO = re.compile(
    r"yes|no|ja|nein|nee|nej|oui|non|s\u00ed|si|true|false|unknown|not stated", re.I
)
_OF_A_SEX = re.compile(
    r"\b(?:females?|males?|m[ae]n|wom[ae]n|boys?|girls?|widow(?:er)?s?|m\u00e4nner|frauen|mothers?"
    r"|fathers?|femmes?|hommes?|mujeres?|hombres?)\b",
    re.I,
)
_NUMBER = re.compile(r"\d|\b(?:under|over|adults?|child(?:ren)?|minors?|young|old|elderly)\b", re.I)
_CONCEPTS = [
    re.compile(rf"(?:{words})(?:[ _-]?(?:groups?|class(?:es)?|codes?|names?|gruppen?))?", re.I)
    for words in (
        "sex|gender|geschlecht|sexe|sexo|sesso",
        r"ages?|alter|\u00e2ge|edad|et\u00e0",
        r"areas?|regions?|districts?|count(?:y|ies)|municipalit(?:y|ies)|wards?|provinces?|geo"
        r"|countr(?:y|ies)|cit(?:y|ies)|gemeinden?|kreise?|kreis|land|l\u00e4nder|communes?|d\u00e9partements?",
        "year|jahr|ann\u00e9e|quarter|month|time_period",
        "nationalit(?:y|ies)|citizenship|country of birth|countr(?:y|ies)|ethnicity|race|origin",
        "occupations?|industr(?:y|ies)|sectors?|branch(?:es)?|professions?",
        "education|qualifications?|degrees?",
        "marital(?: status)?|familienstand|size|household size",
        "diagnos(?:is|es)|disease|illness|ill|cause of death|icd",
        "income|earnings|wages?",
        "religion",
    )
]
"""Headers of classifications that are different ones."""
_SEX, _AGE, _PLACE, _TIME, _ORIGIN = range(5)
_ILLNESS = 8
_OF_ADULTS = {5, 6, 7, 9}  # occupation, education, marital status, income
_FREE = {
    *(frozenset(pair) for pair in combinations((_SEX, _AGE, _PLACE, _TIME), 2)),
    *(frozenset((other, _ORIGIN)) for other in (_SEX, _AGE, _TIME)),
}
"""Classifications of which no label excludes one of the other, whatever their labels are.

Of all others somebody may know it of labels: a waitress is a woman, and no child has a degree.
"""
_YOUNG = 15
"""Below this age, anybody knows of somebody's job, degree, marriage and income."""


@dataclass(frozen=True)
class SameNames:
    """What is declared of names in several tables.

    Options
    -------
    same: pairs of dimensions, or of labels of one, that are one; it has the first name.
    apart: pairs that are not.
    alone: dimensions that are no others, and whose labels are each different.
    """

    same: tuple[tuple[str, str], ...] = ()
    apart: tuple[tuple[str, str], ...] = ()
    alone: tuple[str, ...] = ()

    @property
    def settled(self) -> set[Pair]:
        return {frozenset(pair) for pair in (*self.same, *self.apart)}


@dataclass
class _Names:
    """Where dimensions and labels are: by name, the labels behind it, and the files."""

    labels: dict[str, dict[str, set[str]]] = field(default_factory=dict[str, dict[str, set[str]]])
    files: dict[str, set[str]] = field(default_factory=dict[str, set[str]])

    def add(self, name: str, label: str, file: str) -> None:
        self.labels.setdefault(name, {}).setdefault(label, set()).add(file)
        self.files.setdefault(name, set()).add(file)

    def are_in_one_file(self, one: str, other: str) -> bool:
        return bool(self.files[one] & self.files[other])


def fold_name(name: str) -> str:
    """Return a header without case, blanks, punctuation and plural."""
    plain = re.sub(r"[\W_]+", "", unicodedata.normalize("NFKC", name).casefold())
    return plain[:-1] if len(plain) > 3 and plain.endswith("s") else plain


def fold_label(label: str) -> str:
    """Return a label without case, forms of letters, blanks around dashes, and leading zeros."""
    plain = unicodedata.normalize("NFKC", label).casefold()
    plain = re.sub(r"\s*[-\u2010-\u2015\u2212]\s*", "-", " ".join(plain.split()))
    return re.sub(r"(?<![\d.,])0+(?=\d)", "", plain)


def rename_alike(
    tables: Sequence[TableRead], structure: Structure, flat: Sequence[str], given: SameNames
) -> tuple[list[TableRead], Structure, tuple[str, ...]]:
    """Give dimensions and labels of all tables one spelling, where they differ in form alone.

    Returns the tables, the structure and the flat dimensions with these names.
    """
    names = _find_names(tables)
    _require_names(names, given)
    renamed = _same_dimensions(names, given)
    tables = [_with_names(table, renamed) for table in tables]
    structure, flat = _declared_with_names(structure, flat, renamed)
    names = _find_names(tables)
    labels = _same_labels(names, structure, given)
    tables = [replace(table, cells=_with_labels(table.cells, labels)) for table in tables]
    names = _find_names(tables)
    _require_tree(names, structure)
    return tables, structure, flat


def _find_names(tables: Iterable[TableRead]) -> _Names:
    names = _Names()
    for table in tables:
        for cell in table.cells:
            for name, label in cell.labels.items():
                names.add(name, label, table.file)
        for second in table.columns.second_names:
            for label in second.labels if not second.is_group else ():
                names.add(second.column, label, table.file)
    return names


def _require_names(names: _Names, given: SameNames) -> None:
    """Refuse a declared pair of which no table has a name, and one that one table has apart."""
    known = {*names.labels, *(label for some in names.labels.values() for label in some)}
    alone = tuple((name, name) for name in given.alone)
    for option, pairs in (("same", given.same), ("apart", (*given.apart, *alone))):
        for name in (name for pair in pairs for name in pair):
            if name not in known:
                raise InputError(
                    f"`--{option}`: no table has a dimension or a label {visible(name)!r}"
                    f"{did_you_mean(name, known)}"
                )
    for dimension, other in given.same:
        if {dimension, other} <= set(names.labels) and names.are_in_one_file(dimension, other):
            raise InputError(
                f"`--same {dimension}={other}`: one table has both, so they are two dimensions"
            )


def _same_dimensions(names: _Names, given: SameNames) -> dict[str, str]:
    """Return the name that a dimension gets, where it has another one."""
    new_names: dict[str, str] = {}
    declared = [pair for pair in given.same if set(pair) <= set(names.labels)]
    for dimension, other in declared:
        new_names[other] = new_names.get(dimension, dimension)
    first: dict[str, str] = {}
    for name in names.labels:
        if name in new_names:
            continue
        known = first.setdefault(fold_name(name), name)
        is_apart = frozenset((known, name)) in given.settled
        if known != name and not is_apart and not names.are_in_one_file(known, name):
            new_names[name] = known
    return {name: new_names.get(known, known) for name, known in new_names.items()}


def _with_names(table: TableRead, renamed: Mapping[str, str]) -> TableRead:
    """Return a table whose dimensions have other names."""
    if not renamed:
        return table

    def named(name: str) -> str:
        return renamed.get(name, name)

    columns = table.columns
    seconds = tuple(
        replace(second_name, column=named(second_name.column), of=named(second_name.of))
        for second_name in columns.second_names
    )
    uses = tuple(ColumnUse(named(use.column), use.role, use.detail) for use in columns.uses)
    dimensions = {at: named(name) for at, name in columns.dimensions.items()}
    return replace(
        table,
        cells=[
            replace(cell, labels={named(name): label for name, label in cell.labels.items()})
            if set(cell.labels) & set(renamed)
            else cell
            for cell in table.cells
        ],
        across=named(table.across),
        second_across=named(table.second_across),
        columns=replace(columns, dimensions=dimensions, second_names=seconds, uses=uses),
        margins={named(name): words for name, words in table.margins.items()},
    )


def _declared_with_names(
    structure: Structure, flat: Sequence[str], renamed: Mapping[str, str]
) -> tuple[Structure, tuple[str, ...]]:
    def named(name: str) -> str:
        return renamed.get(name, name)

    within = {
        file: [replace(part, dimension=named(part.dimension)) for part in parts]
        for file, parts in structure.within.items()
    }
    parents = dict[str, Mapping[str, str]]()
    for name, tree in structure.parents.items():
        parents[named(name)] = {**parents.get(named(name), {}), **tree}
    others = tuple(map(named, structure.others))
    return replace(structure, within=within, parents=parents, others=others), tuple(
        map(named, flat)
    )


def _same_labels(
    names: _Names, structure: Structure, given: SameNames
) -> dict[tuple[str, str], str]:
    """Return the spelling that a label of a dimension gets, where it has another one."""
    spellings: dict[tuple[str, str], str] = {}
    for name, labels in names.labels.items():
        hierarchy_labels = {
            label for part in structure.parents.get(name, {}).items() for label in part
        }
        alike: dict[str, list[str]] = {}
        for label in labels:
            alike.setdefault(fold_label(label), []).append(label)
        for some in alike.values():
            files = [file for label in some for file in labels[label]]
            is_apart = any({*pair} <= {*some} for pair in given.apart)
            if len(some) > 1 and len(files) == len(set(files)) and not is_apart:
                first = next((label for label in some if label in hierarchy_labels), some[0])
                spellings |= {(name, label): first for label in some if label != first}
        for spelling, other in given.same:
            if {spelling, other} <= set(labels):
                spellings[name, other] = spellings.get((name, spelling), spelling)
    return spellings


def _with_labels(cells: Sequence[Cell], labels: Mapping[tuple[str, str], str]) -> list[Cell]:
    if not labels:
        return list(cells)
    made: list[Cell] = []
    for cell in cells:
        renamed = {name: labels.get((name, label), label) for name, label in cell.labels.items()}
        made.append(cell if renamed == cell.labels else replace(cell, labels=renamed))
    return made


def _require_tree(names: _Names, structure: Structure) -> None:
    """Refuse a label of a hierarchy that no table has, if it is nearly one that no part names."""
    for name, tree in structure.parents.items():
        shown = set(names.labels.get(name, {}))
        named = {*tree, *tree.values()}
        left = sorted(shown - named)
        alike = {fold_label(label): label for label in left}
        unknown = sorted(named - shown)
        is_few = len(left) <= MOST_COMPARED and len(unknown) <= MOST_COMPARED
        for label in unknown if shown else ():
            near = alike.get(fold_label(label))
            if near is None and is_few and not re.search(r"\d", label):
                near = next(iter(get_close_matches(label, left, n=1, cutoff=0.8)), None)
            if near is not None:
                raise InputError(
                    f"`--hierarchy`: no table has {visible(name)} = {visible(label)}; did you mean "
                    f"`{visible(near)}`?"
                )


def ask_for_names(
    cells: Sequence[Cell], structure: Structure, given: SameNames
) -> Iterator[Unaccounted]:
    """Yield a question for dimensions, and for labels, that may be one under two names.

    cells: of all tables, without totals.
    structure: which labels are parts of others, and ranges.
    """
    each: dict[str, dict[str, set[str]]] = {}
    for cell in cells:
        for name, label in cell.labels.items():
            each.setdefault(name, {}).setdefault(cell.file, set()).add(label)
    for name, files in each.items():
        if name not in given.alone:
            yield from _ask_for_forms(name, files, given)
            yield from _ask_for_labels(name, files, structure, given)
    crossed = {frozenset(pair) for cell in cells for pair in combinations(sorted(cell.labels), 2)}
    beside: dict[str, list[str]] = {}
    for dimension, other in combinations(each, 2):
        pair = frozenset((dimension, other))
        if pair in crossed | given.settled or pair & {*given.alone}:
            continue
        labels, other_labels = (
            set[str]().union(*each[name].values()) for name in (dimension, other)
        )
        is_told = _tells_kind(labels, other) or _tells_kind(other_labels, dimension)
        is_told |= _are_tied(dimension, labels, other, other_labels)
        if _may_be_one(dimension, other) or _share_names(labels, other_labels) or is_told:
            first, later = (
                (other, dimension)
                if is_concept(other) and not is_concept(dimension)
                else (dimension, other)
            )
            beside.setdefault(later, []).append(first)
    for name, others in beside.items():
        labels = {k: set[str]().union(*each[k].values()) for k in (name, *others)}
        folded = {k: {*map(fold_label, some)} for k, some in labels.items()}
        likely = min(
            others,
            key=lambda other: (
                not fold_name(name).startswith(fold_name(other)),
                -len(folded[name] & folded[other]),
            ),
        )
        apart, same = option_of("apart", name), option_of("same", f"{likely}={name}")
        ways = f"{same}, or {apart} if it tells nothing of the others"
        if not folded[name] & folded[likely]:
            pair = option_of("same", f"{min(labels[likely])}={min(labels[name])}")
            ways = (
                f"{apart} if it tells nothing of the others, or {same} with its labels, as {pair}"
            )
        yield Unaccounted(
            subject=f"the dimension `{visible(name)}`",
            reason=f"No table crosses it with {_few(others)}. It may be one of these under another "
            "name, or a label of one may tell labels of the other.",
            declaration=visible(ways),
        )


def _ask_for_forms(
    name: str, files: Mapping[str, set[str]], given: SameNames
) -> Iterator[Unaccounted]:
    """Yield a question for labels of one table that differ in form alone."""
    for file, labels in files.items():
        alike: dict[str, list[str]] = {}
        for label in sorted(labels):
            alike.setdefault(fold_label(label), []).append(label)
        for one, other, *_ in (some for some in alike.values() if len(some) > 1):
            if frozenset((one, other)) not in given.settled:
                pair = f"{one}={other}"
                yield Unaccounted(
                    subject=f"labels `{visible(one)}` and `{visible(other)}` of `{visible(name)}` "
                    f"in {visible(file)}",
                    reason="They differ in form alone, and may be one group.",
                    declaration=visible(
                        f"{option_of('same', pair)}, or {option_of('apart', pair)} if they are two"
                    ),
                )


def _ask_for_labels(
    name: str, files: Mapping[str, set[str]], structure: Structure, given: SameNames
) -> Iterator[Unaccounted]:
    """Yield a question where each of two tables has labels that the other one does not explain."""
    variable = structure.variable
    if variable is not None and variable.is_named(name):
        return
    parents = structure.parents.get(name, {})
    for (file, labels), (other, other_labels) in combinations(files.items(), 2):
        if any(
            name == part.dimension for f in (file, other) for part in structure.within.get(f, ())
        ):
            continue
        left = [
            _unexplained(labels, other_labels, parents),
            _unexplained(other_labels, labels, parents),
        ]
        if all(read_range(label) is not None for label in (*left[0], *left[1])):
            continue  # their numbers tell which is which
        pairs = [
            (spelling, two)
            for spelling in left[0]
            for two in left[1]
            if frozenset((spelling, two)) not in given.settled
        ]
        if pairs:
            example = option_of("same", "=".join(pairs[0]))
            yield Unaccounted(
                subject=f"labels of `{visible(name)}` in {visible(file)} and {visible(other)}",
                reason=f"{_few(left[0])} appear in one table alone, and {_few(left[1])} in the "
                "other: they may be one group under two names.",
                declaration=visible(f"{example}, or {option_of('apart', name)} if each is another"),
            )
            return


def _few(labels: Sequence[str]) -> str:
    return ", ".join(f"`{visible(label)}`" for label in labels[:3]) + ", ..." * (len(labels) > 3)


def _unexplained(labels: set[str], more: set[str], parents: Mapping[str, str]) -> list[str]:
    """Return labels that another table neither has, nor has a part or a whole of."""

    def wholes(label: str) -> set[str]:
        ancestors: set[str] = set()
        while label in parents and label not in ancestors:
            ancestors.add(label)
            label = parents[label]
        return {label, *ancestors}

    other_wholes = set[str]().union(*map(wholes, more))
    return sorted(
        label for label in labels - more if not wholes(label) & more and label not in other_wholes
    )


def is_concept(header: str) -> bool:
    """Return whether a header is a known one of a classification."""
    return any(words.fullmatch(header) for words in _CONCEPTS)


def is_place(header: str) -> bool:
    """Return whether a header is of places alone, such as area or district."""
    return _kinds(header) == {_PLACE}


def _may_tell(one: str, other: str) -> bool:
    """Return whether labels under two headers may tell one another, whatever they are."""
    pairs = [frozenset((kind, other_kind)) for kind in _kinds(one) for other_kind in _kinds(other)]
    return not pairs or not all(pair in _FREE for pair in pairs)


def _may_be_one(one: str, other: str) -> bool:
    """Return whether two headers are not known to name different things."""
    kinds, other_kinds = _kinds(one), _kinds(other)
    return not (kinds and other_kinds) or bool(kinds & other_kinds)


def _kinds(header: str) -> set[int]:
    return {at for at, words in enumerate(_CONCEPTS) if words.fullmatch(header)}


def list_tied(cells: Sequence[Cell], given: SameNames) -> list[str]:
    """Return what a verdict assumes of dimensions that a table crosses, in words.

    Of them anybody knows that some labels of one have nobody of the other's, which table or not.
    """
    each: dict[str, set[str]] = {}
    pairs: set[tuple[str, ...]] = set()
    for cell in cells:
        for name, label in cell.labels.items():
            each.setdefault(name, set()).add(label)
        pairs |= set(combinations(sorted(cell.labels), 2)) if len(cell.labels) > 1 else set()
    return [
        f"nobody knows from elsewhere that a cell of `{visible(one)}` and `{visible(other)}` is "
        "empty"
        for one, other in sorted(pairs)
        if _are_tied(one, each[one], other, each[other])
        and frozenset((one, other)) not in given.settled
    ]


def _are_tied(one: str, labels: set[str], other: str, more: set[str]) -> bool:
    """Return whether somebody may know of labels of two dimensions that they share nobody."""
    if _names_sexes(labels, other) or _names_sexes(more, one):
        return True
    if not _may_tell(one, other):
        return False
    if any(_is_ill_or_not(*of) for of in ((one, labels), (other, more))):
        return False
    kinds = [_concept(name) for name in (one, other)]
    if _AGE not in kinds or not _OF_ADULTS & {*kinds}:
        return True
    ages = labels if kinds[0] == _AGE else more
    spans = [read[1] for label in ages if (read := read_range(label)) is not None]
    return not spans or min(spans)[0] < _YOUNG


def _is_ill_or_not(header: str, labels: set[str]) -> bool:
    """Return whether a dimension says of each person whether she is ill, and not of what."""
    return _concept(header) == _ILLNESS and all(map(_YES_OR_NO.fullmatch, labels))


def _concept(header: str) -> int | None:
    found = (at for at, words in enumerate(_CONCEPTS) if words.fullmatch(header))
    return next(found, None)


def _tells_kind(labels: set[str], header: str) -> bool:
    """Return whether labels of another dimension name sexes or ages, which a header is of."""
    of_age = _CONCEPTS[_AGE].fullmatch(header) is not None and any(map(_NUMBER.search, labels))
    return of_age or _names_sexes(labels, header)


def _names_sexes(labels: set[str], header: str) -> bool:
    """Return whether a header is of sexes, and labels of another dimension name some."""
    return _CONCEPTS[_SEX].fullmatch(header) is not None and any(map(_OF_A_SEX.search, labels))


def _share_names(labels: set[str], more: set[str]) -> bool:
    """Return whether half of the labels of one are the other's; yes, no and codes are anybody's."""
    shared = [label for label in labels & more if not _ANYBODYS.fullmatch(label)]
    return 2 * len(shared) >= min(len(labels), len(more)) > 1
