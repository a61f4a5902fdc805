"""Sections that name parts: what is refused, and with which words."""

from __future__ import annotations

import inspect
import tomllib
from pathlib import Path
from typing import Annotated, Any

import jsonschema
import pytest
from pydantic import TypeAdapter, ValidationError

from narcissus import (
    attacks,
    channels,
    extraction,
    knowledge,
    mechanisms,
    profiles,
    success,
    worlds,
)
from narcissus.cli.studies import study_schema
from narcissus.errors import InputError
from narcissus.study.kinds import KINDS
from narcissus.study.part_section import (
    PartSection,
    as_text,
    checked,
    from_text,
    listed,
    part_from_text,
)
from narcissus.study.parts import Part, own_parts
from narcissus.study.plugins import OwnCode
from narcissus.study.registry import ROOMS, loaded
from narcissus.study.shipped import shipped_studies
from narcissus.study.signatures import options_of, summary_of
from narcissus.success import relations


def test_a_room_with_a_default_needs_no_name():
    section = {"name": "bayesian-network", "parents": 2, "smoothing": 1.0, "score": "bic"}
    assert checked("record-prior", {}).to_dict() == section
    with pytest.raises(ValidationError, match="has no `name`; it must be one of bits"):
        checked("world", {"n": 3})


@pytest.mark.parametrize("section", ["marginals", 3, ["marginals"]])
def test_what_is_no_table_is_no_section(section):
    kind = TypeAdapter(Annotated[Part, PartSection("table-mechanism")])
    with pytest.raises(ValidationError, match="must be a table with the key `name`"):
        kind.validate_python(section)


def test_every_mistake_of_a_section_is_told_at_once():
    with pytest.raises(ValidationError) as refused:
        checked("world", {"name": "tardos", "N": "9", "m": 3, "d": True})
    told = {".".join(map(str, one["loc"])): one["type"] for one in refused.value.errors()}
    assert told == {"N": "int_type", "d": "int_type", "n": "missing", "m": "unknown_option"}


def test_what_the_class_refuses_is_said_of_its_option():
    with pytest.raises(ValidationError) as refused:
        checked("world", {"name": "bits", "n": 2, "rate": 1.5})
    (fault,) = refused.value.errors()
    assert fault["loc"] == ("rate",)
    assert "must be probabilities in [0, 1]" in fault["msg"]


def test_parts_take_parts_one_level_deep():
    bits = {"name": "bits", "n": 2}
    family = checked("world", {"name": "family", "parts": [bits, {**bits, "rate": 0.1}]})
    assert [world.rate for world in family.build().members.values()] == [0.5, 0.1]
    assert family.to_dict()["parts"][0] == {**bits, "rate": 0.5}
    with pytest.raises(ValidationError, match="'family'"):
        checked("world", {"name": "family", "parts": [family.to_dict()]})


OWN = """
class Typed:
    def __init__(self, size: int, share: float = 0.5, *, word: "str" = "a"):
        self.given = size, share, word

    def attempt(self, release, known, rng):
        return release

class Free(Typed):
    def __init__(self, **options):
        self.given = options

class Untyped(Typed):
    def __init__(self, size, table: "Nowhere" = None):
        self.given = size

class Taken(Typed):
    def __init__(self, name):
        pass

class Broken(Typed):
    def __init__(self):
        raise KeyError("oh")

made = Free(a=1)

def guess(release):
    return release
"""


@pytest.fixture
def own(tmp_path):
    (tmp_path / "mine.py").write_text(OWN, encoding="utf-8")
    with OwnCode(allowed=True).in_use():
        yield lambda name, **options: checked(
            "attack", {"name": f"mine:{name}", **options}, tmp_path
        )


def test_ones_own_class_has_the_options_of_its_signature(own):
    assert own("Typed", size=3, word="b").build().given == (3, 0.5, "b")
    assert own("Typed", size=3).options == {"size": 3, "share": 0.5, "word": "a"}
    for options, said in (
        ({"size": "3"}, "integer"),
        ({}, "Field required"),
        ({"size": 1, "sise": 2}, "did you mean `size`"),
        ({"size": 1, "word": 2}, "string"),
    ):
        with pytest.raises(ValidationError, match=said):
            own("Typed", **options)


def test_ones_own_class_may_take_anything(own):
    assert own("Free", a=1, b=[2]).build().given == {"a": 1, "b": [2]}
    assert own("Untyped", size="any").build().given == "any"
    assert own("made").build().given == {"a": 1}
    assert own("guess").build().function(7) == 7
    for name in ("made", "guess"):
        with pytest.raises(ValidationError, match="has no options"):
            own(name, a=2)


def test_what_ones_own_class_cannot_do_is_said(own):
    with pytest.raises(ValidationError, match=r"KeyError: 'oh' \(mine.py, line"):
        own("Broken")
    with pytest.raises(ValidationError, match="the parameter `name` of mine:Taken"):
        own("Taken")


def test_a_file_beside_the_study_is_found_there_and_named_as_it_stands(tmp_path):
    (tmp_path / "names.txt").write_text("Eve\nBob\n", encoding="utf-8")
    part = checked("secret-prior", {"name": "names", "file": "names.txt"}, tmp_path)
    assert part.build().values == ("Eve", "Bob")
    assert part.to_dict() == {"name": "names", "file": "names.txt", "n": None}
    with pytest.raises(ValidationError, match="no such file"):
        checked("secret-prior", {"name": "names", "file": "names.txt"})


def test_a_section_is_written_with_its_defaults_and_read_again():
    part = checked("table-attack", {"name": "rap", "start": "prior"})
    section = part.to_dict()
    assert section["steps"] == 1000
    assert checked("table-attack", section) == part
    kind = TypeAdapter(Annotated[Part, PartSection("table-attack")])
    assert kind.dump_python(part, mode="json") == section
    assert kind.validate_python(part) is part


def test_a_sweep_makes_one_object_for_each_level():
    part = checked("table-mechanism", {"epsilon": [1, 3.0], "k": 2})
    assert (part.swept, part.levels) == (True, [1.0, 3.0])
    assert [one.label for one in part.each()] == ["ε = 1", "ε = 3"]
    alone = checked("table-mechanism", {"mu": 1})
    assert (alone.swept, alone.levels) == (False, [1.0])
    assert [one.label for one in alone.each()] == ["μ = 1"]
    for levels in ([], [1, 1.0], [1, "2"], [True]):
        with pytest.raises(ValidationError):
            checked("table-mechanism", {"epsilon": levels})


def test_the_names_of_ones_own_parts_are_found_at_any_depth():
    part = Part("attack", "mine:Typed", {"size": 1})
    nested = Part("world", "family", {"parts": [part]})
    assert list(own_parts([{"a": nested}, part])) == ["mine:Typed", "mine:Typed"]
    assert list(own_parts(checked("world", {"name": "bits", "n": 1}))) == []


EXAMPLES = (
    "exponential:values=10,epsilon=1",
    "gaussian:sigma=2",
    "gaussian:epsilon=1,delta=1e-6",
    "geometric:values=100,rate=0.1",
    "laplace:span=1,scale=2",
    "laplace:epsilon=0.5",
    "optimized-unary:values=10,epsilon=1",
    "planar-geometric:width=3,height=2,epsilon=0.5",
    "planar-laplace:width=3,height=2,epsilon=0.5,step=2",
    "randomized-response:values=10,epsilon=1",
    "subset:values=10,epsilon=1",
    "subset:values=10,epsilon=1,size=3",
    "unary:values=10,epsilon=1",
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("randomised-response:values=3,epsilon=1", "did you mean `randomized-response`"),
        ("randomized-response:value=3,epsilon=1", "did you mean `values`"),
        ("randomized-response:values=3", "`epsilon` is missing"),
        ("randomized-response:values=1,epsilon=1", "at least 2"),
        ("randomized-response:values=3,epsilon=-1", "at least 0"),
        ("randomized-response:values=3,epsilon=nan", "NaN"),
        ("randomized-response:values=3,epsilon=oh", "must be a number, got 'oh'"),
        ("randomized-response:values=3,values=3", "twice"),
        ("randomized-response:values", "not KEY=VALUE"),
        ("randomized-response:values=2.5,epsilon=1", "integer"),
        ("laplace:span=1", "`scale` or `epsilon`"),
        ("laplace:epsilon=0", "above 0"),
        ("gaussian:epsilon=1", "`sigma`, or"),
        ("subset:values=4,size=4,epsilon=1", "at most 3"),
        ("exponential:values=100000,epsilon=1", "GiB"),
        ("mine:Mechanism", "not KEY=VALUE"),
    ],
)
def test_a_wrong_text_is_refused(text, words):
    with pytest.raises(InputError, match=words):
        part_from_text("channel-mechanism", text)


@pytest.mark.parametrize("text", EXAMPLES)
def test_a_text_gives_a_part_and_the_part_the_text(text):
    part = part_from_text("channel-mechanism", text)
    assert checked("channel-mechanism", from_text(part.to_text())) == part
    made = part.build()
    assert 0 < made.beta_star < 1
    summary = channels.analyse(made)
    assert summary.beta == pytest.approx(made.bayes_risk / made.guessing_error)


def test_every_channel_mechanism_has_an_example():
    named = {text.partition(":")[0] for text in EXAMPLES}
    assert named == set(ROOMS["channel-mechanism"].parts)
    assert part_from_text("channel-mechanism", "laplace:points=2,scale=3").to_text() == (
        "laplace:scale=3"
    )


EXAMPLES_LISTED = Path(__file__).resolve().parents[2] / "examples"
STUDIES = [*EXAMPLES_LISTED.rglob("*.toml"), *(study.path for study in shipped_studies())]
SCHEMAS = {kind: study_schema(kind) for kind in KINDS}


@pytest.mark.parametrize("path", STUDIES, ids=lambda path: path.stem)
@pytest.mark.one_in(4)
def test_the_schema_accepts_every_shipped_study(fit, path):
    study = tomllib.loads(path.read_text(encoding="utf-8"))
    fit(study, SCHEMAS[study.get("kind", "table")])


TABLE = {
    "data": {"path": "people.csv"},
    "threat": {"unknown": ["ill"]},
    "prior": {"name": "independent", "smoothing": 1},
    "mechanism": {"name": "marginals", "epsilon": [1, 2]},
    "attacks": {"prior": {}, "rap": {"steps": 3, "trials": 2}},
}
WRONG = [
    ("prior", {"name": "independent", "parents": 2}),
    ("prior", {"name": "independant"}),
    ("mechanism", {"name": "marginals", "epsilon": "1"}),
    ("mechanism", {"name": "marginals", "epsilon": 1, "noise": "gausian"}),
    ("attacks", {"rap": {"name": "rap", "step": 3}}),
    ("attacks", {"rap": {"name": "rap", "steps": 3.5}}),
]


@pytest.mark.parametrize(("section", "value"), WRONG)
def test_the_schema_refuses_what_a_part_does_not_take(fit, section, value):
    fit(TABLE, SCHEMAS["table"])
    fit({**TABLE, "prior": {"name": "mine:Prior", "any": 1}}, SCHEMAS["table"])
    with pytest.raises(jsonschema.ValidationError):
        fit({**TABLE, section: value}, SCHEMAS["table"])


def test_the_page_and_the_text_have_every_part_and_option():
    page = (Path(__file__).parents[2] / "docs" / "reference" / "parts.md").read_text(
        encoding="utf-8"
    )
    for room in ROOMS:
        assert f"## {room}" in page
        text = as_text(room)
        for name, summary, options in listed(room):
            assert f"### `{name}`" in page
            assert f"  {name}: {summary}" in text
            for option in options:
                assert f"| `{option.name}` |" in page
                assert f"      {option.name}  (" in text


LINES = [(room, name) for room in ROOMS for name in ROOMS[room].parts]


@pytest.mark.parametrize(("room", "name"), LINES)
@pytest.mark.one_in(4)
def test_every_part_is_there_typed_and_described(room, name):
    maker = loaded(ROOMS[room].parts[name])
    assert callable(maker)
    assert summary_of(maker).endswith(".")
    takes = options_of(maker, given=ROOMS[room].given).values()
    for option in takes:
        assert option.hint is not Any, option.name
        assert option.text, option.name
    assert len({option.text for option in takes}) == len(takes)


@pytest.mark.parametrize("room", ROOMS)
def test_parts_stand_in_order_and_the_default_is_one(room):
    parts = ROOMS[room].parts
    assert list(parts) == sorted(parts)
    assert ROOMS[room].default in {"", *parts}
    if ROOMS[room].of_function:
        assert len(inspect.signature(loaded(ROOMS[room].of_function)).parameters) >= 1


OFFERS = {"world": "draw", "mechanism": "release", "attack": "attempt", "relation": "holds"}
HOMES = (attacks, extraction, knowledge, mechanisms, profiles, relations, success, worlds)
NOT_NAMED = {
    # protocols and beginnings of classes
    "Attack", "Knowledge", "Mechanism", "OutputRelation", "Relation", "World",
    # what a room makes of an object or a function of the user's
    "Own", "OwnAttack", "OwnMechanism", "OwnWorld", "OwnSideInformation",
    # made by parts that are named: a function with the options, or the best attack that is found
    "BestPredicate", "Lookup", "RankingAttack", "ThroughChannel", "TrainedOnSecret",
    # the game of a table, whose study has sections of its own
    "NoisyMarginals", "OtherColumns", "FactoredColumns", "People", "RealRows", "Prepared",
    "KeptReleases",
}  # fmt: skip


def test_every_part_of_a_game_has_its_line():
    """A part that is public and stands in no room cannot be named by a study."""
    offers = {*OFFERS.values(), "reveal"}
    public = {
        name
        for home in HOMES
        for name in home.__all__
        if isinstance(found := getattr(home, name), type)
        and any(hasattr(found, offer) for offer in offers)
    }
    named = {
        loaded(target).__name__
        for room in (*OFFERS, "side-information", "secret-attack")
        for target in ROOMS[room].parts.values()
    }
    assert public - named == NOT_NAMED


def test_every_statement_has_its_line_and_its_definition():
    made = [loaded(target) for target in ROOMS["statement"].parts.values()]
    assert all(issubclass(one, success.Claim) for one in made)
    assert len({one.definition for one in made}) == len(made)
    beginnings = {success.Claim, success.Resilience}
    public = {getattr(success, name) for name in success.__all__}
    claims = {one for one in public if isinstance(one, type) and issubclass(one, success.Claim)}
    assert claims - beginnings == set(made)


def whole_numbers(node, root, path=""):
    """Yield the place and the schema of every whole number of a schema, of each definition once."""
    for place, one in root.get("$defs", {}).items() if node is root else ():
        yield from whole_numbers(one, root, place)
    if node.get("type") == "integer" and not {"const", "enum"} & set(node):
        yield path, node
    for name, one in node.get("properties", {}).items():
        yield from whole_numbers(one, root, f"{path}.{name}")
    for key in ("anyOf", "oneOf", "allOf", "prefixItems"):
        for one in node.get(key, ()):
            named = one.get("properties", {}).get("name", {}).get("const", "")
            yield from whole_numbers(one, root, f"{path}[{named}]" if named else path)
    for key in ("items", "additionalProperties"):
        if isinstance(node.get(key), dict):
            yield from whole_numbers(node[key], root, path)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_whole_number_of_a_study_file_has_a_largest(kind):
    """What counts steps, rounds or samples would run without end."""
    schema = study_schema(kind)
    found = list(whole_numbers(schema, schema))
    assert found
    assert [place for place, one in found if "maximum" not in one] == []
    work = ("steps", "samples", "sweeps", "epochs", "starts", "trials", "runs")
    counts = [(place, one["maximum"]) for place, one in found if place.endswith(work)]
    assert [place for place, most in counts if most > 10**9] == []


@pytest.mark.parametrize(
    ("room", "section", "key", "most"),
    [
        ("table-attack", {"name": "rap", "steps": 2**63}, "steps", 10**7),
        ("table-attack", {"name": "gibbs", "sweeps": 10**7 + 1}, "sweeps", 10**7),
        ("world", {"name": "bits", "n": 10**9 + 1}, "n", 10**9),
        ("language-model", {"name": "ngram", "order": 2**63}, "order", 1000),
    ],
)
def test_a_part_that_would_run_without_end_is_refused(room, section, key, most):
    with pytest.raises(ValidationError, match=f"less than or equal to {most}") as refused:
        checked(room, section)
    assert refused.value.errors()[0]["loc"] == (key,)
