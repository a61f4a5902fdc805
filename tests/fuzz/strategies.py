"""What a stranger may hand over: studies, tables, channels, records and options, from good to bad.

Each begins with something that works and changes it a little, so that the changes reach beyond
the first check.
"""

from __future__ import annotations

import copy
import json
import math
from datetime import date

from hypothesis import strategies as st

DEEP_LIST = [0]
for _ in range(40):
    DEEP_LIST = [DEEP_LIST]

WORDS = st.one_of(
    st.sampled_from(
        [
            "", " ", "x", "a:b", "subprocess:getoutput", "../x", "/dev/zero", ".", "inf", "nan",
            "1", "people.csv", "statsmodels:fair", "statsmodels:nothing", "\x07", "ä" * 300,
            "{}", "income", "ill", "age", "prior", "rap",
            "randomized-response:values=3,epsilon=1",
        ]
    ),
    st.text(max_size=8),
)  # fmt: skip
NUMBERS = st.one_of(
    st.sampled_from(
        [
            0, 1, 2, -1, 3, 10, 2**31, 2**63, 2**64, 10**30, 10**400, -(10**400), 0.0, -0.0, 0.5,
            1.5, 1e-9, 1e-300, 5e-324, 1e308, -1e308, math.inf, -math.inf, math.nan, 1e16,
        ]
    ),
    st.integers(-20, 300),
    st.floats(),
)  # fmt: skip
VALUES = st.one_of(
    NUMBERS,
    WORDS,
    st.booleans(),
    st.just([]),
    st.just({}),
    st.just([1, "a"]),
    st.just(date(2000, 1, 2)),
    st.just(DEEP_LIST),
    st.just({"a": {"b": {"c": 1}}}),
    st.lists(NUMBERS, max_size=4),
    st.lists(WORDS, max_size=4),
    st.dictionaries(WORDS, NUMBERS, max_size=3),
)


def places(value, path=()):
    """Yield the path of every value within a value, itself first."""
    yield path
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from places(inner, (*path, key))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from places(inner, (*path, number))


@st.composite
def changed(draw, bases, *, values=VALUES, most=3):
    """One of some nested values, with up to ``most`` places replaced, left out, added or moved."""
    made = copy.deepcopy(draw(st.sampled_from(bases)))
    for _ in range(draw(st.integers(1, most))):
        found = [path for path in places(made) if path]
        if not found:
            break
        *way, last = draw(st.sampled_from(found))
        inside = made
        for step in way:
            inside = inside[step]
        how = draw(st.sampled_from(["replace"] * 6 + ["leave out", "add", "move"]))
        if how == "replace":
            inside[last] = copy.deepcopy(draw(values))
        elif how == "leave out":
            del inside[last]
        elif isinstance(inside, list):
            inside.append(copy.deepcopy(draw(values)))
        elif how == "add":
            inside[draw(WORDS)] = copy.deepcopy(draw(values))
        else:
            inside[draw(WORDS)] = inside.pop(last)
    return made


def toml(value) -> str:
    """Write a value as TOML, inline below the first level."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return json.dumps(value).replace("\x7f", "\\u007f")
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{toml(str(k))} = {toml(v)}" for k, v in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    if isinstance(value, float):
        text = repr(value)
        return text if any(c in text for c in ".en") else text + ".0"
    return str(value)


def document(study: dict) -> str:
    """Write a study file."""
    return "".join(f"{toml(str(key))} = {toml(value)}\n" for key, value in study.items())


@st.composite
def spoiled(draw, texts):
    """Some bytes with up to four places replaced, cut out or doubled."""
    made = bytearray(draw(texts))
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, max(0, len(made) - 1)))
        length = draw(st.integers(0, 12))
        piece = draw(
            st.one_of(
                st.binary(max_size=6),
                st.sampled_from([b'"', b",", b"\n", b"\r", b"\0", b"\xff\xfe", b"\xef\xbb\xbf"]),
                st.sampled_from([b"[[", b"]", b"=", b"'''", b"#", b"{", b"1e999", b"-", b"NA"]),
                st.just(bytes(made[at : at + length]) * 3),
            )
        )
        made[at : at + length] = piece
    return bytes(made)


CELLS = st.one_of(
    st.sampled_from(["", "0", "1", "2", "0.5", "1e308", "-1", "nan", "NA", "inf", "x", "y", '"']),
    st.sampled_from(["0.25", "0.75", "secret", " ", '"a"', '"a""b"', '1"x"', "a,b", "1e999", "٣"]),
    st.text(max_size=5),
)


@st.composite
def csv_bytes(draw):
    """A small table of text, good or not."""
    width = draw(st.integers(1, 4))
    mark = draw(st.sampled_from([",", ",", ",", ";", "\t"]))
    end = draw(st.sampled_from(["\n", "\r\n", "\r", "\n\n"]))
    row = st.lists(CELLS, min_size=width, max_size=width)
    rows = draw(st.lists(row, max_size=8))
    if draw(st.integers(0, 9)) == 0:
        rows.append(draw(st.lists(CELLS, max_size=6)))
    header = [f"c{i}" for i in range(width)] if draw(st.booleans()) else draw(row)
    return end.join(mark.join(r) for r in [header, *rows]).encode("utf-8", "surrogatepass")
