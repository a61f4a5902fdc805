"""Titles above a table and notes below it: which are neutral, and which say another rule."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Protocol

from narcissus._visible import visible
from narcissus.counts.codes import find_count_signs
from narcissus.counts.marks import SUPPRESSED, Meaning, Rules
from narcissus.rows import Unaccounted


class LabelledCell(Protocol):
    """What is read of a cell here: whom it is about, and what it prints."""

    @property
    def printed(self) -> str: ...

    @property
    def labels(self) -> Mapping[str, str]: ...

    @property
    def count(self) -> Meaning: ...


Note = tuple[int, str]
"""A line next to a table, and its text."""
_FEWER = (
    r"<|\b(?:fewer|less|smaller) than|\bbelow|\bunder|\bunter|\bweniger als|\bkleiner als"
    r"|\bmoins de|\bmenos de"
)
_AT_MOST = r"<=|\u2264|\bup to|\bat most|\bno more than|\bbis zu|\bh\u00f6chstens"
_NUMBER_WORDS = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen",
    "sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty",
    "ninety hundred dozen single both pair twins triplets ein eins eine zwei drei vier",
    "f\u00fcnf sechs sieben acht neun zehn elf zw\u00f6lf dreizehn vierzehn f\u00fcnfzehn",
    "sechzehn siebzehn achtzehn neunzehn zwanzig drei\u00dfig vierzig f\u00fcnfzig sechzig",
    "siebzig achtzig neunzig hundert dutzend einzige einziger einziges une deux trois quatre",
    "cinq sept huit neuf dix onze douze treize quatorze quinze seize vingt trente quarante",
    "cinquante soixante cent douzaine uno una dos tres cuatro cinco seis siete ocho nueve",
    "diez doce trece catorce diecis\u00e9is veinte treinta due tre quattro cinque sei sette",
    "otto nove dieci undici dodici tredici quattordici quindici sedici venti trenta cento",
    "twee drie vier vijf zes zeven acht negen tien twaalf dertien veertien vijftien zestien",
    "twintig dois duas quatro sete oito dez doze treze quinze vinte tv\u00e5 fyra fem sju",
    "\u00e5tta nio tio elva tolv tjugo otte seks syv \u00e5tte kaksi kolme dwa trzy cztery",
    "pi\u0119\u0107 sze\u015b\u0107 siedem osiem dziewi\u0119\u0107 dziesi\u0119\u0107",
)
_WORD = re.compile(
    rf"\b(?:{'|'.join(' '.join(_NUMBER_WORDS).split())}|\w+und(?:zwanzig|\w+(?:zig|\u00dfig))"
    r"|\w+(?:teen|ty-\w+))\b|(?-i:\b[IVX]{2,}\b)",
    re.I,
)
"""Numbers in words of several languages, and in Roman numerals."""
_NUMBER = r"(?:\d{1,9}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty)\b"
_WORDS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven"]
_NUMBERS = {word: at for at, word in enumerate(_WORDS, 1)} | {"twelve": 12, "twenty": 20}
_THRESHOLD = re.compile(
    rf"(?:(?P<below>{_FEWER})|{_AT_MOST}|\b[01]\s*(?:-|\u2013|to|and|bis))\s*(?P<number>{_NUMBER})"
    r"(?!\s*(%|percent|prozent|years?|jahren?))",
    re.I,
)
_NO_COUNT = re.compile(
    r"\b(19|20)\d\d\b|\b(table|tabelle|tab\.|tableau|figure|sheet|page|seite|version)\s*[\d.]+"
    rf"|({_AT_MOST}|{_FEWER})\s*\d+|^\W*\d{{1,2}}\s*[).\]]",
    re.I,
)
"""Numbers of notes that are no counts: years, thresholds, and those of tables and notes."""
_CARRIED = re.compile(r"(?:[(\[{:;=/|]|\bn ?=|[-\u2013] ) ?(\d{1,9})\W*$", re.I)
"""A number at the end of a label that is no part of its name."""
_HIDING = re.compile(
    r"suppress|hidden|hide|withheld|withhold|confiden|disclos|not (shown|published|displayed)"
    r"|secre|geheim|unterdr\u00fcckt|nicht (gezeigt|ausgewiesen)|masked|redact|censored|small",
    re.I,
)
_OTHERS = re.compile(
    r"secondar|complementary|consequential|(protect|derive|deduc|recalcul|calculat)\w*"
    r"|other (cells|values|counts|figures)",
    re.I,
)
"""Words of cells that are hidden because of others."""
_UNKNOWN = re.compile(
    r"not (available|applicable|known|collected)|unknown|missing|n/?a\b|keine angabe|unbekannt",
    re.I,
)
_NONE = re.compile(
    r"\b(nil|zero|none|no (people|persons|cases|data)|null|nichts vorhanden)\b", re.I
)
_ROUNDED = re.compile(
    r"(?P<random>random\w*\s+)?\b(?:rounded|rounding|gerundet|arrondi\w*)\b[^.;]*?"
    r"(?:\bto|\bauf|\bbase|\bof|\b\u00e0)\s[^\d.;]*?(?P<base>\d{1,6})",
    re.I,
)
_QUANTITY = re.compile(
    r"\b(?:nobody|neither|every\w*|only|solely|exclusively|mostly|half|halves|\w*thirds?|\w*quarters?"
    r"|fifths?|sixths?|sevenths?|eighths?|ninths?|tenths?|couple|several|few|equal\w*|same|as many"
    r"|fewer|less|most|majority|minority|double|twice|triple|twofold|kein\w*|nur|ausschlie\u00dflich"
    r"|h\u00e4lfte\w*|\w*drittel\w*|viertel\w*|f\u00fcnftel\w*|zehntel\w*|gleich\w*|weniger|mehrheit"
    r"|doppelt\w*|aucune?s?|moiti\u00e9|tiers|quart|seule?s?|uniquement|ningun\w*|mitad|tercio|solo"
    r"|geen|helft|alleen|nessun\w*|met\u00e0)\b|[<>\u2264\u2265=\u00bc\u00bd\u00be%\u2030]",
    re.I,
)
"""Words and signs of quantities that are no numbers."""
_MONTH = (
    r"(?:jan|feb|mar|apr|jun|jul|aug|sept?|o[ck]t|nov|de[cz])\.?"
    r"|(?:januar|februar)y?|march|m\u00e4rz|april|ma[iy]|jun[ei]|jul[yi]|august|(?:sept|nov)ember"
    r"|o[ck]tober|de[cz]ember"
)
_PHRASES = re.compile(
    r"\b(?:not|nicht) (?:shown|published|displayed|available|applicable|included|released"
    r"|gezeigt|ausgewiesen|ver\u00f6ffentlicht)\b"
    rf"|\b(?:\d{{1,2}}\.? )?(?:{_MONTH})(?!\w)"
    r"|\b(?:19|20)\d\d(?:\s?[-/\u2013]\s?(?:(?:19|20)?\d\d))?\b"
    r"(?!\s*(?:persons|people|cases|women|men|personen|f\u00e4lle))"
    r"|\b\d{1,2}[./-]\d{1,2}[./-](?:19|20)\d\d\b|\b(?:19|20)\d\d-\d\d(?:-\d\d)?\b"
    r"|\b(?:table|tabelle|tab\.?|tableau|figure|sheet|page|seite|version|chapter|section|note)"
    r" ?[a-z]?\d{1,3}(?:[.-]\d{1,3})*[a-z]?\b",
    re.I,
)
"""Dates, numbers of tables and pages, and set phrases, which tell no count."""
_NEUTRAL_WORDS = (
    "a about according also an and any are as at based been between by calculated can cannot",
    "case cases cell cells checked code codes compiled computed confidential confidentiality",
    "control copyright count counted counts data database dataset date deduced definition",
    "definitions derived detail details disclosive disclosure displayed do does due each",
    "estimate estimated estimates explanation explanations figure figures file final footnote",
    "footnotes for from further given has have he hidden hide how if imputed in include",
    "included includes including information is it its law license licence last legal made",
    "mark marked marks masked methodology method methods methodological more new no note",
    "notes number numbers of office official on or other others own page pages per persons",
    "people person place population prepared preliminary primary privacy produced project",
    "protect protected protecting protection provisional provided public publication",
    "published reason reasons record recorded registered released remark remarks replaced",
    "report reported resident residents respondents result results revised revision rights",
    "reserved rounded rounding rule rules secondary see shown since small so source sources",
    "statistical status suppressed suppression survey system table tables taken that the",
    "their them then there these this those to total totals under unit updated usual value",
    "values version was website were when where which who whose with withheld year years age",
    "ages area areas by country county district districts education educational employment",
    "ethnic ethnicity gender group groups industry marital municipality municipalities",
    "nationality occupation province region regions regional religion sector sex state states",
    "territory type ward wards anmerkung anzahl auf aus bei beim daten den der des die durch",
    "ergebnisse ergebnis f\u00fcr geheim geheimhaltung gr\u00fcnden hinweis im jahr mit nach",
    "oder personen pro quelle region regionen stand statistische statistisches und",
    "unterdr\u00fcckt vom von vorl\u00e4ufig werden werte wert wird zahlen zu zum zur alter",
    "geschlecht kreis kreise land l\u00e4nder gemeinde gemeinden tabelle endg\u00fcltig",
    "ann\u00e9e au aux confidentialit\u00e9 dans de donn\u00e9es du et la le les lecture par",
    "pour r\u00e9gion r\u00e9gions secret statistique sexe \u00e2ge tableau champ personnes",
    "selon sur",
)
_NEUTRAL = frozenset(" ".join(_NEUTRAL_WORDS).split())
"""Words of titles and notes by which no quantity can be told."""
_ALL_OR_NONE = re.compile(
    r"\b(?:no|none|nil|zero|null|all|any|both|neither|without|with|but|except|equals?|than|more"
    r"|keine?r?|alle[rn]?|ohne|mit|mehr|sans|tou(?:s|tes?)|ni|sin|con|todos|todas|ninguno|senza|tutti"
    r"|tutte|geen|zonder|alle|ingen|inga|alla|bez)\b",
    re.I,
)
_OFFICE = re.compile(
    r"offices?|statisti\w*|census|bureau|ministry|department|agency|institut\w*|survey|register"
    r"|\w*amt|\w*ministerium|zensus|mikrozensus|insee|destatis|eurostat|ons|nso|recensement|istat"
    r"|ine|cbs|university|universit\u00e4t|registry|authority|commission|council|office|service|data",
    re.I,
)
"""A word of whoever publishes; behind a source without one may be anything."""
_PERSON = re.compile(
    r"\b(?:women|wom[ae]n|m[ae]n|females?|males?|girls?|boys?|frauen|m\u00e4nner|personen|persons?|people"
    r"|femmes?|hommes?|mujeres?|hombres?|donne|uomini|vrouwen|mannen|kvinnor|m\u00e4n|children|cases?)\b",
    re.I,
)
_SOURCE = re.compile(r"\W*(?:sources?|quellen?|fuente|fonte|kilde|bron|k\u00e4lla)\b\s*:", re.I)
_WITH_ZERO = re.compile(
    r"\b(?:zeros?|nulls?|0)\s+(?:is |are |being )?included|\bincluding (?:zeros?|0\b)"
    r"|\binclud\w+ zeros?|\beinschlie\u00dflich null"
    r"|\bzeros? (?:is|are|were) (?:also )?(?:suppressed|hidden)",
    re.I,
)
"""What says that a hidden count may be zero."""
_HIDDEN_WORD = r"(?:suppress|hidden|hide|mask|withh|confiden|secret|unterdr|geheim|ersetz)"
_NEVER = "|".join(("never", "not", "nicht", "nie", "isn't", "ungleich"))
_NOT_ZERO = re.compile(
    "|".join(
        (
            rf"\b(?:{_NEVER})\s+(?:be\s+|equal to\s+)?(?:zero|empty|null|0\b)",
            r"non-?zero",
            r"\bno zeros?",
            r"\bexclud\w+ (?:zeros?|0\b)|\bzeros? excluded",
            r"\b(?:other|greater|more|larger|higher|above) than (?:zero|none|0\b)",
            r"\babove (?:zero|0\b)|> ?0\b|\bexcept (?:for )?zeros?|\bohne null",
            r"(?:gr\u00f6\u00dfer|mehr) als (?:null|0\b)",
            r"\bat least (?:one|1)\b|\bmindestens (?:ein\w*|1)\b",
            rf"\b(?:zeros?|nulls?|nullen|nullwerte)\b[^.;]*\b(?:{_NEVER})\b[^.;]*{_HIDDEN_WORD}",
            r"\bzeros? (?:counts? |values? |cells? )?(?:are|is|were) (?:always )?"
            r"(?:shown|published|printed|displayed)",
            r"\bnullen (?:werden|sind) (?:gezeigt|ausgewiesen|ver\u00f6ffentlicht)",
            r"\b(?:empty|blank) (?:cells? )?(?:is|are|means?|stands? for) (?:zeros?|0\b)",
            r"\bzeros? (?:is|are) (?:left )?(?:empty|blank)",
            r"\bpositive (?:counts?|numbers?|values?)",
        )
    ),
    re.I,
)
"""What says that a hidden count is not zero."""
_SPAN = re.compile(
    rf"(?<![\d.,])(?P<low>{_NUMBER})\s*(?:-|\u2013|\u2014|to|and|or|bis|und|oder|\u00e0)\s*"
    rf"(?P<high>{_NUMBER})"
    r"(?!\s*(?:%|percent|prozent|years?|jahren?))",
    re.I,
)
_UNIT = re.compile(
    r"\bin (?:thousands?|millions?|hundreds?|tausend|millionen|hundert|milliers|miles|thsd\.?"
    r"|tsd\.?|mio\.?|mill\.?|1[ ,.]?000s?)\b|\(\s*'?0{3}s?\s*\)|(?<!\d)'000s?\b"
    r"|\bunits? ?[:=] ?(?:thousand|million)"
    r"|\((?:thousands?|millions?|tausend|tsd\.?|mio\.?|1[ ,.]?000)\)"
    r"|\bx ?1[ ,.]?000\b|\b(?:thousands?|millions?) (?:of )?(?:persons|people|inhabitants)",
    re.I,
)
"""Words by which numbers are of hundreds, thousands or millions."""
_PERTURBED = re.compile(
    r"perturb|cell.?key|\bnoise\b|random(ly)? (adjust|change|alter)|record.?swap|verrausch", re.I
)


def without_thresholds(text: str) -> str:
    """Return a text without years, thresholds, and numbers of notes and tables."""
    return _NO_COUNT.sub("", text)


def ask_for_notes(
    file: str, cells: Sequence[LabelledCell], notes: Sequence[Note], rules: Rules
) -> Iterator[Unaccounted]:
    """Yield a question for each line that says another rule than the one that is declared.

    Parameters
    ----------
    file: the table's name.
    cells: of the table.
    notes: lines above it and below it.
    rules: how its counts are declared to be printed.
    """
    hidden = [cell for cell in cells if cell.count.kind not in ("exact", "derived")]
    marks = {cell.printed for cell in hidden if cell.count.kind == "suppressed"}
    marks |= {cell.printed for cell in cells if rules.suppressed(cell.printed) is not None}
    for line, note in notes:
        if rules.unit is None and (unit := find_unit(note)):
            yield ask_for_unit(f"note in line {line} of {visible(file)}", unit)
            continue
        other = next(_other_rules(note, marks, rules), None)
        if other is not None:
            yield _question(file, line, *other, "if the note is about something else")


def is_neutral(note: str, rules: Rules, names: set[str], labels: set[str]) -> bool:
    """Return whether a line tells no count and no rule but the declared one.

    It does where all its words are neutral, but for dates, marks and the declared threshold. Behind
    a source are names, if they are no labels and no quantities.

    names: words of the table's headers.
    labels: of the table.
    """
    if find_unit(note):
        return False
    text = re.sub(r"https?:\S+|www\.\S+", " ", note)
    text = _without_declared(text, rules)
    text = _PHRASES.sub(" ", text)
    if re.search(r"\d", text) or _WORD.search(text) or not re.fullmatch(_SIGNS, text):
        return False
    if (match := _SOURCE.match(text)) is not None and not compares(text):
        attribution = text[match.end() :]
        is_of_office = any(map(_OFFICE.fullmatch, re.findall(r"[^\W\d_]+", attribution)))
        has_label = any(
            re.search(rf"(?<!\w){re.escape(label)}(?!\w)", attribution, re.I) for label in labels
        )
        return is_of_office and not has_label and _PERSON.search(attribution) is None
    return are_neutral_words(text, names)


def names_people(text: str) -> bool:
    """Return whether a text has a word for people, such as women or cases."""
    return _PERSON.search(text) is not None


_SIGNS = r"[\w\s.,;:()\[\]'\u2019\"&/*\u2020\u2021\u00a9\u201c\u201d|!-]*"


def _without_declared(note: str, rules: Rules) -> str:
    """Return a line without the number of a footnote, marks, and what is declared of them."""
    text = re.sub(
        r"^\W*(?:\d{1,2}|[a-z])[).\]]\s|^\W*\(\d{1,2}\)|^[*\u2020\u2021]+", " ", note.strip()
    )
    text = re.sub(r"^\W*[a-z]\s+(?=(?-i:[A-Z])\w*[a-z])", " ", text)
    limits = {rules.below, *rules.marks.values()} - {None}
    for mark in sorted({*SUPPRESSED, *rules.marks} - {""}, key=len, reverse=True):
        sign = re.escape(mark)
        if re.search(r"[a-z]{2}", mark) is None:
            text = re.sub(rf"(?:^|(?<=[\s\"'(]))[\"'(]?{sign}[\"')]?(?=\s*[=:\s])\s*=?", " ", text)
            text = re.sub(rf"\b(?:as|by|als|durch|par) {sign}(?=[.,;]|$)", " ", text, flags=re.I)
    text = re.sub(r"(?<!\w)[a-z]\s*[:=]", " ", text)

    def drop(found: re.Match[str]) -> str:
        below = _as_number(found["number"].casefold()) + (found["below"] is None)
        return " " if below in limits else found[0]

    text = _THRESHOLD.sub(drop, text)
    lower_limit = int(rules.no_zeros)

    def drop_span(found: re.Match[str]) -> str:
        low, high = _as_number(found["low"]), _as_number(found["high"])
        return " " if low == lower_limit and high + 1 in limits else found[0]

    text = _SPAN.sub(drop_span, text)
    text = (_NOT_ZERO if rules.no_zeros else _WITH_ZERO).sub(" ", text)
    if rules.base > 1:
        text = _ROUNDED.sub(
            lambda match: " " if int(match["base"]) == rules.base else match[0], text
        )
    return text


def are_neutral_words(text: str, known: Set[str] = frozenset()) -> bool:
    """Return whether a text has neutral or known words alone, in any case."""
    words = re.findall(r"[^\W\d_]+", text.casefold())
    return all(word in _NEUTRAL or word in known for word in words)


def compares(text: str) -> bool:
    """Return whether a text has a word or a sign that compares people: half, no, all, equals."""
    return _QUANTITY.search(text) is not None or _ALL_OR_NONE.search(text) is not None


def has_number_word(text: str) -> bool:
    """Return whether a text has a number in words, or in Roman numerals."""
    return _WORD.search(text) is not None


def tells_quantity(text: str) -> bool:
    """Return whether a text has a number, in digits or words, or another quantity."""
    plain = _PHRASES.sub(" ", text)
    return bool(re.search(r"\d", plain) or _WORD.search(plain) or _QUANTITY.search(plain))


def find_unit(text: str) -> str:
    """Return words that say that numbers are of thousands or the like; empty: there are none."""
    match = _UNIT.search(text)
    return "" if match is None else match[0]


def ask_for_unit(subject: str, unit: str) -> Unaccounted:
    """Return the question of numbers that are printed in thousands or the like."""
    return Unaccounted(
        subject=subject,
        reason=f"By `{visible(unit)}`, numbers may not be those of single people.",
        declaration="`--round 1000` and numbers in full, or a copy of the table without them",
    )


def _question(file: str, line: int, reason: str, option: str, condition: str) -> Unaccounted:
    ways = [f"`{option}`" if option.startswith("--") else option] if option else []
    ways.append(f"a copy of the table without line {line}, {condition}")
    return Unaccounted(
        subject=f"note in line {line} of {visible(file)}",
        reason=reason,
        declaration=visible(", or ".join(ways)),
    )


def ask_for_labels(
    file: str, name: str, texts: Sequence[str], cells: Sequence[LabelledCell]
) -> Iterator[Unaccounted]:
    """Yield a question if labels carry the counts of their rows, as in `Alba (3)`.

    Parameters
    ----------
    file, name: of the table, and of the column of labels.
    texts: labels as they are printed, by row.
    cells: one of each row.
    """
    if all(cell.count.kind in ("exact", "derived") for cell in cells):
        return
    matches = [_CARRIED.search(text) for text in texts]
    numbers = ["" if match is None else match[1] for match in matches]
    counts = [cell.count.low if cell.count.kind == "exact" else None for cell in cells]
    pairs = [(n, count) for n, count in zip(numbers, counts, strict=True) if count is not None]
    is_count = len(pairs) > 1 and all(n and int(n) == count for n, count in pairs)
    if is_count or (any(numbers) and find_count_signs(numbers, counts)):
        yield Unaccounted(
            subject=f"labels of `{visible(name)}` in {visible(file)}",
            reason="Numbers in them follow the printed counts, and may tell hidden ones.",
            declaration="labels without these numbers, in a copy of the table",
        )


def _threshold(note: str) -> int | None:
    """Return below how many people a note says that counts are hidden; None: it does not."""
    match = _THRESHOLD.search(note)
    if match is None:
        return None
    text = match["number"].casefold()
    return _as_number(text) + (match["below"] is None)


def tells_threshold(note: str, below: int | None) -> bool:
    """Return whether a note names the threshold that is declared."""
    return below is not None and _threshold(note) == below


def _other_rules(note: str, marks: set[str], rules: Rules) -> Iterator[tuple[str, str]]:
    """Yield what a note says of the rule that is not declared, and the option that declares it."""
    yield from _rounding(note, rules)
    named = [mark for mark in sorted(marks) if mark and _explains(note, mark)]
    is_hiding = bool(_HIDING.search(note)) or bool(named)
    below = _threshold(note) if is_hiding and marks else None
    about = _beside_threshold(note, named) or named
    limits = {_limit(mark, rules) for mark in about or sorted(marks)}
    is_printed = [mark for mark in sorted(marks) if mark and _names(note, mark)]
    about_zero = is_hiding or bool(is_printed) or bool(re.search(r"\bzeros?|\bnull", note, re.I))
    excludes = about_zero and _excludes_zero(note)
    is_open = excludes and any(_least(mark, rules) == 0 for mark in about or sorted(marks))
    option = " --no-zeros" * is_open
    if below is not None and limits != {below} and (about or below not in limits):
        reason = f"It says that counts below {below} are hidden, which is not declared."
        yield reason, f"--below {below}{option}"
    span = _SPAN.search(note) if is_printed and not _is_of_ages(note) else None
    if span is not None and 1 < _as_number(span["low"]) < _as_number(span["high"]):
        reason = f"It says that `{is_printed[0]}` is from {span['low']} to {span['high']}."
        yield reason, f"{span['low']}-{span['high']} in the cells themselves"
    if is_open:
        yield (
            "It says that hidden counts are one or more, which waits for a declaration.",
            "--no-zeros",
        )
    if named and rules.below is not None and limits != {None}:
        mark = named[0]
        if _UNKNOWN.search(note) or (_OTHERS.search(note) and below is None):
            yield f"It says that `{mark}` hides other counts than small ones.", f"--mark {mark}=any"
    is_none = _NONE.search(note) and not _HIDING.search(note) and not excludes
    is_none = is_none and below is None and _THRESHOLD.search(note) is None
    if named and is_none and limits != {1}:
        yield f"It says that `{named[0]}` stands for nobody.", f"--mark {named[0]}=below:1"


def _beside_threshold(note: str, named: Sequence[str]) -> list[str]:
    """Return marks that are explained in the clause of a note's threshold."""
    clauses = re.split(r"[.;](?:\s|$)", note)
    clause = next(filter(_THRESHOLD.search, clauses), "")
    return [mark for mark in named if _explains(clause.strip(), mark)]


def _names(note: str, mark: str) -> bool:
    """Return whether a note has a mark as a word."""
    return re.search(rf"(?<!\w){re.escape(mark)}(?!\w)", note) is not None


def _is_of_ages(note: str) -> bool:
    return re.search(r"\b(aged?|ages|years?|alter|jahren?|ans)\b", note, re.I) is not None


def _as_number(text: str) -> int:
    return _NUMBERS[text.casefold()] if text.casefold() in _NUMBERS else int(text)


def _excludes_zero(note: str) -> bool:
    """Return whether a note says that hidden counts are one or more."""
    spans = [] if _is_of_ages(note) else list(_SPAN.finditer(note))
    return _NOT_ZERO.search(note) is not None or any(_as_number(s["low"]) == 1 for s in spans)


def _least(mark: str, rules: Rules) -> int:
    """Return how many people a mark stands for at least."""
    return rules.count(mark, "a note").low


def _limit(mark: str, rules: Rules) -> int | None:
    """Return below how many people a mark is declared to be; None: any number."""
    meaning = rules.count(mark, "a note")
    return None if meaning.high is None else meaning.high + 1


def _explains(note: str, mark: str) -> bool:
    """Return whether a note begins with a mark, or quotes it, and says what it means."""
    sign = re.escape(mark)
    return re.match(rf"\W{{0,2}}{sign}\W?\s*(=|:|-|\u2013|\s)\s*\S", note, re.I) is not None or (
        re.search(rf"[\"'`\u201c\u2018(\[]{sign}[\"'`\u201d\u2019)\]]", note, re.I) is not None
    )


def _rounding(note: str, rules: Rules) -> Iterator[tuple[str, str]]:
    """Yield that a note says numbers to be rounded or perturbed, where that is not declared."""
    match = _ROUNDED.search(note)
    if rules.key is not None or re.search(r"percent|prozent|%|rates?\b|share", note, re.I):
        return
    if match is not None and rules.unit is None and int(match["base"]) not in (0, 1, rules.base):
        base = f"{'random:' if match['random'] else ''}{match['base']}"
        yield f"It says that numbers are rounded to {match['base']}.", f"--round {base}"
    elif _PERTURBED.search(note) and rules.base == 1:
        yield "It says that numbers are changed randomly.", "--cell-key FILE"
