"""The section [family]: which distributions it makes, and what is refused."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from narcissus import load_study
from narcissus.errors import InputError, NarcissusError
from narcissus.study.game.family import MOST, RatesFamily
from narcissus.worlds import Bits, Pairs, Records

REST = """
[mechanism]
name = "identity"
[success]
name = "prefix"
[statement]
name = "narcissus"
"""
BITS = '[world]\nname = "bits"\nn = 3\n'
OWN = """
from narcissus.worlds import Bits

def named(n: int = 2):
    return {"fair": Bits(n), "rare": Bits(n, 0.1)}

def listed():
    yield Bits(3)
    yield lambda rng: rng.integers(0, 2, 3)

def empty():
    return []

def number():
    return 3

def wrong():
    return [3]
"""


def loaded(tmp_path, family, world="", rest=REST, **options):
    (tmp_path / "mine.py").write_text(OWN, encoding="utf-8")
    path = tmp_path / "s.toml"
    path.write_text(f'kind = "game"\n{world}[family]\n{family}\n{rest}', encoding="utf-8")
    return load_study(path, **options)


def members_of(study):
    with study.code.in_use():
        return study.settings.build().game.world.members


def test_rates_are_those_of_the_interval_with_both_ends(tmp_path):
    study = loaded(tmp_path, 'kind = "rates"\nfrom = 0.1\nto = 0.4\npoints = 4', BITS)
    found = members_of(study)
    assert [world.rate for world in found.values()] == pytest.approx([0.1, 0.2, 0.3, 0.4])
    assert next(iter(found)) == "rate = 0.1"
    assert all(isinstance(world, Bits) and world.n == 3 for world in found.values())
    even = RatesFamily.model_validate({"kind": "rates", "from": 1e-4, "to": 1, "points": 5})
    log = even.model_copy(update={"spacing": "log"})
    assert np.diff(even.rates) == pytest.approx((1 - 1e-4) / 4)
    assert log.rates == pytest.approx([1e-4, 1e-3, 1e-2, 1e-1, 1])
    assert (log.rates[0], log.rates[-1]) == (even.rates[0], even.rates[-1]) == (1e-4, 1)


def test_a_grid_is_every_combination(tmp_path):
    text = 'kind = "grid"\nover.n = "2:4:1"\nover.rate = [0.25, 0.5]'
    found = members_of(loaded(tmp_path, text, BITS))
    assert list(found.values()) == [Bits(n, r) for n in (2, 3, 4) for r in (0.25, 0.5)]
    assert list(found)[:2] == ["n = 2, rate = 0.25", "n = 2, rate = 0.5"]


def test_distributions_are_all_whole_shares(tmp_path):
    world = '[world]\nname = "records"\nn = 2\nvalues = [0, 1, 5]\n'
    found = members_of(loaded(tmp_path, 'kind = "distributions"\nsteps = 4', world))
    every = {c for c in itertools.product(range(5), repeat=3) if sum(c) == 4}
    shares = {tuple(round(4 * p) for p in world.probabilities) for world in found.values()}
    assert shares == every
    assert len(found) == len(every) == 15
    assert "probabilities 0/4, 1/4, 3/4" in found
    assert all(isinstance(w, Records) and list(w.values) == [0, 1, 5] for w in found.values())


def pairs_of(study):
    return {
        frozenset(map(str, world.sets.reshape(2, -1).tolist()))
        for world in members_of(study).values()
    }


def test_neighbours_are_all_pairs_that_differ_in_one_record(tmp_path):
    rows = [list(row) for row in itertools.product(range(3), repeat=2)]
    near = {
        frozenset({str(a), str(b)})
        for a, b in itertools.combinations(rows, 2)
        if sum(x != y for x, y in zip(a, b, strict=True)) == 1
    }
    text = 'kind = "neighbours"\nrecords = 2\nvalues = 3'
    assert pairs_of(loaded(tmp_path, text)) == near
    listed = f'kind = "neighbours"\nuniverse = {rows}'
    assert pairs_of(loaded(tmp_path, listed)) == near
    alone = loaded(tmp_path, 'kind = "neighbours"\nuniverse = [[0, 0], [0, 1]]')
    assert len(members_of(alone)) == 1


def test_messages_are_all_pairs_each_with_its_bit(tmp_path):
    rest = REST.replace("prefix", "first-bit")
    found = members_of(loaded(tmp_path, 'kind = "messages"\nlength = 2', rest=rest))
    assert len(found) == 6
    pair = found["messages [0, 0] and [1, 1]"]
    assert isinstance(pair, Pairs)
    assert pair.sets.squeeze().tolist() == [[0, 0, 0], [1, 1, 1]]
    listed = loaded(tmp_path, 'kind = "messages"\nmessages = [[7, 8], [9, 9], [1, 1]]', rest=rest)
    assert "messages [7, 8] and [9, 9]" in members_of(listed)
    assert len(members_of(listed)) == 3


def test_an_own_generator_names_its_worlds_or_they_are_counted(tmp_path):
    text = 'kind = "own"\ngenerator = { name = "mine:named", n = 4 }'
    study = loaded(tmp_path, text, allow_code=True)
    assert members_of(study) == {"fair": Bits(4), "rare": Bits(4, 0.1)}
    listed = loaded(tmp_path, 'kind = "own"\ngenerator.name = "mine:listed"', allow_code=True)
    found = members_of(listed)
    assert list(found) == ["member 1", "member 2"]
    drawn = found["member 2"].draw(5, np.random.default_rng(1)).data
    assert drawn.shape == (5, 3)
    assert members_of(listed).keys() == found.keys()  # made anew each time
    with pytest.raises(NarcissusError, match="runs code of its own: mine:named"):
        loaded(tmp_path, text)


@pytest.mark.parametrize(
    ("family", "world", "match"),
    [
        (
            'kind = "rate"',
            BITS,
            r"line 5: `family.kind` must be one of rates.*did you mean `rates`",
        ),
        ("from = 0.1", BITS, "the key `family.kind` is missing"),
        ('kind = "rates"\nfrom = 0', BITS, "the key `family.to` is missing"),
        ('kind = "rates"\nform = 0\nto = 1', BITS, "unknown key `family.form`.*`from`"),
        ('kind = "rates"\nfrom = 0.5\nto = 0.5', BITS, "`to` must be above `from`"),
        ('kind = "rates"\nfrom = 0\nto = 1\nspacing = "log"', BITS, "needs `from` above 0"),
        ('kind = "rates"\nfrom = 0\nto = 1\nbudget = 9', BITS, "`budget` must be at least 10"),
        ('kind = "rates"\nfrom = 0\nto = 1', "", "varies .world., and the study has none"),
        ('kind = "grid"\nover.rat = [1]', BITS, "no parameter `rat`.*did you mean `rate`"),
        ('kind = "grid"\nover = {}', BITS, "family.over"),
        ('kind = "grid"\nover.n = []', BITS, "`family.over.n` must hold at least one value"),
        ('kind = "grid"\nover.n = "1:2"', BITS, "`family.over.n` must be FROM:TO:STEP"),
        ('kind = "grid"\nover.n = [1.5]', BITS, "`n` must be a whole number"),
        ('kind = "grid"\nover.n = "1:20000:1"', BITS, f"20,000 members, at most {MOST:,}"),
        ('kind = "distributions"\nsteps = 3', BITS, "for the world `records`, got `bits`"),
        ('kind = "neighbours"\nrecords = 2', BITS, ".world. is not used"),
        ('kind = "neighbours"', "", "give `records`, of which all are meant, or `universe`"),
        ('kind = "neighbours"\nrecords = 2\nuniverse = [[0], [1]]', "", "one of them"),
        ('kind = "neighbours"\nvalues = 2\nuniverse = [[0], [1]]', "", "`values` is not used"),
        ('kind = "neighbours"\nuniverse = [[0, 0], [1, 1]]', "", "no two data sets that differ"),
        ('kind = "neighbours"\nrecords = 13', "", "53,248 members"),
        ('kind = "messages"\nmessages = [[0]]', "", "at least two messages"),
        ('kind = "messages"\nlength = 40', "", "more than 4096"),
        ('kind = "messages"\nlength = 8', "", "32,640 members"),
        ('kind = "own"\ngenerator.name = "mine:empty"', "", "gives no world"),
        ('kind = "own"\ngenerator.name = "mine:number"', "", "must give worlds: a dictionary"),
        ('kind = "own"\ngenerator.name = "mine:wrong"', "", "member 1 is 3"),
        ('kind = "own"\ngenerator.name = "mine:nope"', "", "'mine' has no 'nope'"),
        ('kind = "own"', "", "the key `family.generator` is missing"),
    ],
)
def test_what_is_wrong_is_named_with_the_remedy(tmp_path, family, world, match):
    with pytest.raises(NarcissusError, match=match):
        loaded(tmp_path, family, world, allow_code=True)


def test_a_study_needs_a_world_or_a_family(tmp_path):
    path = tmp_path / "s.toml"
    path.write_text(f'kind = "game"\n{REST}', encoding="utf-8")
    with pytest.raises(InputError, match="the key `world` is missing"):
        load_study(path)


def test_a_study_without_a_family_is_written_as_before(tmp_path):
    path = tmp_path / "s.toml"
    path.write_text(f'kind = "game"\n{BITS}{REST}', encoding="utf-8")
    assert "family" not in load_study(path).to_dict()
    study = loaded(tmp_path, 'kind = "rates"\nfrom = 0\nto = 1', BITS)
    assert study.to_dict()["family"]["from"] == 0
