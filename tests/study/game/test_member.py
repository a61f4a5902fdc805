"""One distribution of a family as a study of its own."""

from __future__ import annotations

import math
import tomllib

import pytest

from narcissus import load_study, profile
from narcissus.errors import InputError
from narcissus.study.game.member import section_of, text_of, to_toml
from narcissus.study.shipped import shipped_study
from narcissus.worlds import Bits, Finite, Neighbours, Records


def read_back(tmp_path, text, **options):
    (tmp_path / "one.toml").write_text(text, encoding="utf-8")
    return load_study(tmp_path / "one.toml", **options)


@pytest.mark.parametrize(
    "name", ["counting-query-rates", "counting-query-every-rate", "neighbours-each"]
)
def test_every_member_plays_as_in_its_family(tmp_path, name):
    study = load_study(shipped_study(name).path)
    family = profile(study, [0.0, 1.0]).family
    for member in list(family.members)[:6]:
        world = family.members[member].game.world
        alone = read_back(tmp_path, text_of(study.settings, world, member))
        found = profile(alone, [0.0, 1.0])
        assert list(found.delta) == [family.members[member].delta(e) for e in (0.0, 1.0)]
        assert alone.settings.title.endswith(member)
        assert "family" not in alone.to_dict()
        assert alone.settings.statement == study.settings.statement
        assert alone.settings.attack == study.settings.attack


def test_worlds_become_their_sections():
    assert section_of(Bits(3, 0.25), "it") == {"name": "bits", "n": 3, "rate": 0.25}
    assert section_of(Records(2, [0.5, 0.5]), "it")["probabilities"] == [0.5, 0.5]
    pair = next(iter(Neighbours(2).members.values()))
    assert section_of(pair, "it")["pairs"] == [[[0, 0], [1, 0]]]
    assert section_of(Finite([[0], [1]]), "it")["data"] == [[0], [1]]

    class Mine(Bits):
        pass

    with pytest.raises(InputError, match="rate = 3 is a Mine of your own"):
        section_of(Mine(2), "rate = 3")


def test_toml_is_read_back_as_it_was():
    document = {
        "kind": "game",
        "title": 'a "quoted" line\nwith \\ and é',
        "none": None,
        "yes": True,
        "tiny": 1e-300,
        "far": math.inf,
        "empty": [],
        "one": {"name": "x", "nested": {"a b": [1, 2.5, "c"], "d": {"e": False}}, "none": None},
        "several": [{"name": "a"}, {"name": "b", "lists": [[1, 2], [3]]}],
    }
    found = tomllib.loads(to_toml(document))
    wanted = {k: v for k, v in document.items() if v is not None}
    wanted["one"] = {k: v for k, v in document["one"].items() if v is not None}
    assert found == wanted
