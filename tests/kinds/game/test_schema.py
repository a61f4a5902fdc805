"""The study file of a game: mistakes are named, options that a part does not use are refused."""

from __future__ import annotations

import itertools
import tomllib

import jsonschema
import numpy as np
import pytest

from narcissus import Game, load_study, run
from narcissus.attacks import (
    AskEach,
    BucketHashing,
    Fingerprint,
    FixedGuess,
    KeySearch,
    LinearReconstruction,
    Posterior,
    Reencryption,
    ReleasedPlaces,
    ReleasedRow,
    SeedSearch,
    SupersetMatching,
    TryInputs,
)
from narcissus.errors import InputError, NarcissusError, StudyError
from narcissus.extraction import (
    CompressionVerifier,
    DensestAttack,
    KktAttack,
    LearnedVerifier,
    PosteriorGuess,
    StatisticalVerifier,
    trained_on_secret,
)
from narcissus.kinds.game.kind import identity_of
from narcissus.kinds.game.schema import MOST, RatesFamily
from narcissus.knowledge import Hiding
from narcissus.mechanisms import (
    Cipher,
    CountQueries,
    Identity,
    KAnonymity,
    NoisyAverage,
    Parity,
    PublicKey,
    Sha256,
    Stretched,
)
from narcissus.study.registry import ROOMS, loaded
from narcissus.study.shipped import shipped_studies, shipped_study
from narcissus.study.signatures import options_of
from narcissus.success import KeptSurprisal
from narcissus.success.relations import (
    FirstBit,
    Hamming,
    Isolates,
    Member,
    NamesSecret,
    Pinned,
    Prefix,
    RandomRow,
    SameImage,
)
from narcissus.worlds import Bits, Pairs, Records, Secret, Tardos, Uniform

STUDY = """
kind = "game"
[world]
{world}
[mechanism]
{mechanism}
[success]
{relation}
[[attack]]
{attack}
{side}
[statement]
{statement}
"""
GOOD = {
    "world": 'name = "bits"\nn = 4',
    "mechanism": 'name = "identity"',
    "relation": 'name = "prefix"',
    "attack": 'name = "released-row"',
    "side": "",
    "statement": 'name = "narcissus"',
}
UNPLAYED = {"statement": 'name = "narcissus"\n[exact]\nwhen = "never"'}
SECTION = {"relation": "success", "attack": "attack.1"}
GAME_ROOMS = ("world", "side-information", "mechanism", "attack", "relation", "statement")
NAMES = [(room, name) for room in GAME_ROOMS for name in ROOMS[room].parts]


def load(tmp_path, **changed):
    path = tmp_path / "study.toml"
    path.write_text(STUDY.format(**{**GOOD, **changed}), encoding="utf-8")
    return load_study(path, allow_code=True)


@pytest.mark.parametrize(("room", "name"), NAMES)
@pytest.mark.one_in(4)
def test_every_part_refuses_an_option_it_does_not_have(tmp_path, room, name):
    place = "side" if room == "side-information" else room
    head = "[side-information]\n" if place == "side" else ""
    section = f'{head}name = "{name}"\nquantum = 3'
    names = list(options_of(loaded(ROOMS[room].parts[name])))
    known = f"the options {', '.join(names)}" if names else "no options"
    with pytest.raises(StudyError) as refused:
        load(tmp_path, **{place: section})
    key = f"{SECTION.get(room, room)}.quantum"
    assert f"unknown key `{key}`: the {room} `{name}` has {known}" in str(refused.value)


def test_a_part_of_ones_own_has_the_options_of_its_signature(tmp_path):
    (tmp_path / "mine.py").write_text(
        "class World:\n"
        "    def __init__(self, n: int, rate: float = 0.5):\n        self.n, self.rate = n, rate\n"
        "    def draw(self, trials, rng):\n        raise NotImplementedError\n"
        "    def fresh(self, draw, rng):\n        raise NotImplementedError\n"
        "def world(rng):\n    return rng.integers(0, 2, 4)\n"
    )
    made = load(tmp_path, world='name = "mine:World"\nn = 3', **UNPLAYED).settings.world.build()
    assert (made.n, made.rate) == (3, 0.5)
    for world, said in {
        'name = "mine:World"': "the key `world.n` is missing",
        'name = "mine:World"\nn = "3"': "`world.n`: must be a whole number, got '3'",
        'name = "mine:World"\nn = 3\nrat = 1': "has the options n, rate; did you mean `rate`",
        'name = "mine:world"\nn = 3': "key `world.n`: the world `mine:world` has no options",
    }.items():
        with pytest.raises(StudyError, match=said):
            load(tmp_path, world=world, **UNPLAYED)


PREPARED = [
    (BucketHashing(buckets=7), Game(Uniform(5, 2, 10), KAnonymity(2), Isolates())),
    (Fingerprint(0.2, rows=9, noise=0.5), Game(Tardos(9, 4, 3), NoisyAverage(1.0), RandomRow())),
    (Posterior(0.7, rate=0.2), Game(Bits(4, 0.3), Identity(), Pinned(1))),
    (FixedGuess(3), Game(Bits(4), Identity(), Prefix())),
    (ReleasedRow("all"), Game(Bits(4), Identity(), Prefix())),
    (ReleasedPlaces(2), Game(Bits(4), Identity(), Pinned(2))),
    (SeedSearch(77), Game(Pairs([[[0], [1]]]), Stretched(4, 8), FirstBit())),
    (CompressionVerifier(["zlib"], 0.02), Game(Pairs([[[0], [1]]]), Stretched(4, 8), FirstBit())),
    (StatisticalVerifier(["runs"], 0.02), Game(Pairs([[[0], [1]]]), Stretched(4, 8), FirstBit())),
    (LearnedVerifier(50, 2.0), Game(Pairs([[[0], [1]]]), Stretched(4, 256), FirstBit())),
    (TryInputs(77), Game(Bits(6), Sha256(4), SameImage(Sha256(4)))),
    (KeySearch(77), Game(Pairs([[[0, 1, 1], [1, 0, 1]]]), Cipher("repeating-xor"), FirstBit())),
    (
        PosteriorGuess(50, 3),
        Game(Secret([0.5, 0.5]), trained_on_secret(2, 1.0, steps=2), NamesSecret(2)),
    ),
    (DensestAttack(0.3, 20), Game(Bits(4), Identity(), Prefix())),
    (KktAttack(1.5, 7, 0, 3), Game(Bits(4), Identity(), Prefix())),
    (AskEach(7), Game(Bits(4), CountQueries(60), Hamming(0.1))),
    (LinearReconstruction(9, "linear-program"), Game(Bits(4), CountQueries(9), Hamming(0.1))),
    (Reencryption(["a", "b"]), Game(Pairs([[[0], [1]]]), PublicKey(), FirstBit())),
    (SupersetMatching(True), Game(Uniform(2, 4), Parity(), Member(), side=Hiding(5))),
]


@pytest.mark.parametrize(("attack", "game"), PREPARED, ids=lambda p: type(p).__name__)
def test_preparing_an_attack_keeps_what_the_file_gave(attack, game):
    """The values of an option of the file that a game replaces would be ignored."""
    ready = attack.prepare(game) if hasattr(attack, "prepare") else attack
    for name in options_of(type(attack)):
        assert getattr(ready, name) == getattr(attack, name), name


def test_all_attacks_with_options_are_prepared_above():
    makers = {name: loaded(target) for name, target in ROOMS["attack"].parts.items()}
    # `bayes` is replaced by the table of the best attacker, `ranking` is a function: both made with
    # their options.
    made = ("bayes", "ranking")
    optional = {maker for name, maker in makers.items() if options_of(maker) and name not in made}
    assert optional == {type(attack) for attack, _ in PREPARED}


@pytest.mark.parametrize("scheme", ["aes", "one-time-pad"])
def test_key_bits_of_a_scheme_with_keys_of_its_own(tmp_path, scheme):
    with pytest.raises((StudyError, InputError), match="`key_bits` is an option of the scheme"):
        load(tmp_path, mechanism=f'name = "cipher"\nscheme = "{scheme}"\nkey_bits = 12')
    assert Cipher("repeating-xor").secret_bits(40) == 12


def test_bucket_hashing_takes_its_levels_from_the_world(tmp_path):
    with pytest.raises(StudyError, match="the attack `bucket-hashing` has the options buckets"):
        load(tmp_path, attack='name = "bucket-hashing"\nlevels = 5')


def test_the_share_of_surprisal_needs_something_that_is_told(tmp_path):
    tardos = 'name = "tardos"\nN = 9\nd = 4\nn = 3'
    with pytest.raises(InputError, match="`surprisal` needs side information"):
        load(
            tmp_path,
            world=tardos,
            relation='name = "member"',
            statement='name = "surprisal"\nshare = 0.5',
        )


def test_a_second_relation_is_refused_where_the_statement_has_one(tmp_path):
    second = '[looser]\nname = "prefix"\nlength = 1\n'
    for name in ("narcissus", "bayesian", "fixed-baseline"):
        with pytest.raises(InputError, match=f"the statement `{name}` has one relation"):
            load(tmp_path, side=second, statement=f'name = "{name}"')
    load(tmp_path, side=second, statement='name = "two-criteria"')


OWN_SIDE = """
def coins(data, rng):
    return bool(data[0, 0]) ^ bool(rng.random() < 0.25)


def everything(data):
    return data.tobytes()
"""


def test_side_information_of_ones_own_with_coins_and_a_cap(tmp_path):
    (tmp_path / "told.py").write_text(OWN_SIDE, encoding="utf-8")
    tardos = 'name = "tardos"\nN = 50\nd = 20\nn = 3'
    side = '[side-information]\nname = "told:{}"\ntries = {}\n'
    both = {
        "world": tardos,
        "relation": 'name = "member"',
        "attack": 'name = "released-row"',
        "statement": 'name = "side-information"\nepsilon = 1.0\n[run]\ntrials = 200',
    }
    audit = run(load(tmp_path, side=side.format("coins", 500), **both), rng=1)
    assert audit.status == "exceeded"
    capped = load(tmp_path, side=side.format("everything", 5), **both)
    with pytest.raises(InputError, match="none of 5 led to"):
        run(capped, rng=1)
    with pytest.raises((StudyError, InputError), match="has the options tries"):
        load(tmp_path, side=side.format("coins", 5).replace("tries =", "attempts ="), **both)


SMALL = """
kind = "game"
[world]
name = "bits"
n = 4
[mechanism]
name = "identity"
[success]
name = "prefix"
[[attack]]
name = "released-row"
row = "all"
[statement]
name = "narcissus"
epsilon = 1.0
delta = 0.1
"""


def test_the_json_schema_takes_shipped_studies_and_refuses_mistakes():
    from narcissus.cli.studies import study_schema

    schema = study_schema("game")
    validator = jsonschema.Draft202012Validator(schema)
    for shipped in (study for study in shipped_studies() if study.kind == "game"):
        assert validator.is_valid(tomllib.loads(shipped.path.read_text(encoding="utf-8")))
    good = tomllib.loads(SMALL)
    assert validator.is_valid(good)
    for section, key, value in (("world", "name", "bitz"), ("world", "m", 1), ("run", "trial", 5)):
        bad = {**good, section: {**good.get(section, {}), key: value}}
        assert not validator.is_valid(bad)


@pytest.mark.parametrize(
    ("old", "new", "match"),
    [
        ('name = "bits"', 'name = "bitz"', r"line 4: `world.name.*did you mean `bits`"),
        ("n = 4", "m = 4", r"line 5: unknown key `world.m`"),
        ("n = 4", "n = 0", r"line 5: `world.n`: `n` must be at least 1"),
        ("n = 4", 'n = "four"', r"line 5: `world.n`"),
        ("n = 4", "", r"the key `world.n` is missing"),
        (
            'name = "narcissus"',
            'name = "narcisus"',
            r"line 14: `statement.name`.*did you mean `narcissus`",
        ),
        ("epsilon = 1.0", "epsilon = -1", r"line 15: `statement.epsilon`"),
        ("delta = 0.1", "delta = 2", r"line 16: `statement.delta`"),
        (
            'row = "all"',
            "column = 3",
            r"unknown key `attack.1.column`: the attack `released-row` has the options row",
        ),
        ('name = "prefix"', 'name = "mine:nothing"', r"cannot import 'mine'"),
        ('name = "narcissus"', 'name = "pairs"', r"needs a world of pairs"),
        ('name = "narcissus"', 'name = "two-criteria"', r"needs a section \[looser\]"),
        ('name = "narcissus"', 'name = "side-information"', r"needs a section \[side-info"),
        ('name = "identity"', 'name = "parallel"\nparts = [{ name = "xor" }]', r"must be one of"),
        ('[success]\nname = "prefix"', "", r"`success` is missing"),
    ],
)
def test_mistakes_in_a_study_are_named_with_their_place(tmp_path, old, new, match):
    assert old in SMALL
    path = tmp_path / "study.toml"
    path.write_text(SMALL.replace(old, new, 1), encoding="utf-8")
    with pytest.raises((StudyError, InputError), match=match):
        load_study(path, allow_code=True)


def test_singling_out_needs_rows_of_one_law(tmp_path):
    singling = {
        "mechanism": 'name = "exact-average"',
        "relation": 'name = "isolates"',
        "attack": 'name = "bayes"',
        "statement": 'name = "singling-out"\nw_max = 1.0',
    }
    for world in (
        'name = "bits"\nn = 2\nrate = [0.1, 0.2]',
        'name = "tardos"\nN = 4\nd = 2\nn = 2',
        'name = "records"\nn = 2\nprobabilities = [[0.5, 0.5], [0.1, 0.9]]',
    ):
        with pytest.raises((InputError, StudyError), match="singling-out"):
            load(tmp_path, world=world, **singling)
    both = 'name = "family"\nparts = [{ name = "bits", n = 2 }, { name = "bits", n = 3 }]'
    with pytest.raises(InputError, match="same number of rows"):
        load(tmp_path, world=both, **singling)


@pytest.mark.states("Kaplan et al. 2025", "Remark 4.5")
def test_what_rows_must_keep_is_said_in_the_statement(tmp_path):
    """Variants change the game, and what its trials depend on; a share alone is as it was."""
    text = shipped_study("surprisal").path.read_text(encoding="utf-8")
    asked = {}
    for more in ("", "bits = 0", "bits = 9", "fresh_share = 0.25"):
        path = tmp_path / "s.toml"
        path.write_text(text.replace("share = 0.5", f"{more}\nshare = 0.5"))
        study = load_study(path).settings
        game = study.build().game
        asked[more] = game.surprisal, identity_of(study, tmp_path, 1)["surprisal"]
    assert asked[""] == asked["bits = 0"] == (0.5, 0.5)
    assert asked["bits = 9"][0] == KeptSurprisal(0.5, bits=9)
    assert asked["fresh_share = 0.25"] == (
        KeptSurprisal(0.5, fresh_share=0.25),
        {"share": 0.5, "bits": 0.0, "fresh_share": 0.25},
    )
    path.write_text(text.replace("share = 0.5", "bits = -1\nshare = 0.5"))
    with pytest.raises(StudyError, match=r"`statement\.bits`"):
        load_study(path).settings.build()


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


def of_family(tmp_path, family, world="", rest=REST, **options):
    (tmp_path / "mine.py").write_text(OWN, encoding="utf-8")
    path = tmp_path / "s.toml"
    path.write_text(f'kind = "game"\n{world}[family]\n{family}\n{rest}', encoding="utf-8")
    return load_study(path, **options)


def members_of(study):
    with study.code.in_use():
        return study.settings.build().game.world.members


def test_rates_are_those_of_the_interval_with_both_ends(tmp_path):
    study = of_family(tmp_path, 'kind = "rates"\nfrom = 0.1\nto = 0.4\npoints = 4', BITS)
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
    found = members_of(of_family(tmp_path, text, BITS))
    assert list(found.values()) == [Bits(n, r) for n in (2, 3, 4) for r in (0.25, 0.5)]
    assert list(found)[:2] == ["n = 2, rate = 0.25", "n = 2, rate = 0.5"]


def test_distributions_are_all_whole_shares(tmp_path):
    world = '[world]\nname = "records"\nn = 2\nvalues = [0, 1, 5]\n'
    found = members_of(of_family(tmp_path, 'kind = "distributions"\nsteps = 4', world))
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
    assert pairs_of(of_family(tmp_path, text)) == near
    listed = f'kind = "neighbours"\nuniverse = {rows}'
    assert pairs_of(of_family(tmp_path, listed)) == near
    alone = of_family(tmp_path, 'kind = "neighbours"\nuniverse = [[0, 0], [0, 1]]')
    assert len(members_of(alone)) == 1


def test_messages_are_all_pairs_each_with_its_bit(tmp_path):
    rest = REST.replace("prefix", "first-bit")
    found = members_of(of_family(tmp_path, 'kind = "messages"\nlength = 2', rest=rest))
    assert len(found) == 6
    pair = found["messages [0, 0] and [1, 1]"]
    assert isinstance(pair, Pairs)
    assert pair.sets.squeeze().tolist() == [[0, 0, 0], [1, 1, 1]]
    listed = of_family(
        tmp_path, 'kind = "messages"\nmessages = [[7, 8], [9, 9], [1, 1]]', rest=rest
    )
    assert "messages [7, 8] and [9, 9]" in members_of(listed)
    assert len(members_of(listed)) == 3


def test_an_own_generator_names_its_worlds_or_they_are_counted(tmp_path):
    text = 'kind = "own"\ngenerator = { name = "mine:named", n = 4 }'
    study = of_family(tmp_path, text, allow_code=True)
    assert members_of(study) == {"fair": Bits(4), "rare": Bits(4, 0.1)}
    listed = of_family(tmp_path, 'kind = "own"\ngenerator.name = "mine:listed"', allow_code=True)
    found = members_of(listed)
    assert list(found) == ["member 1", "member 2"]
    drawn = found["member 2"].draw(5, np.random.default_rng(1)).data
    assert drawn.shape == (5, 3)
    assert members_of(listed).keys() == found.keys()  # made anew each time
    with pytest.raises(NarcissusError, match="runs its own code: mine:named"):
        of_family(tmp_path, text)


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
        of_family(tmp_path, family, world, allow_code=True)


def test_a_study_needs_a_world_or_a_family(tmp_path):
    path = tmp_path / "s.toml"
    path.write_text(f'kind = "game"\n{REST}', encoding="utf-8")
    with pytest.raises(InputError, match="the key `world` is missing"):
        load_study(path)


def test_a_study_without_a_family_is_written_as_before(tmp_path):
    path = tmp_path / "s.toml"
    path.write_text(f'kind = "game"\n{BITS}{REST}', encoding="utf-8")
    assert "family" not in load_study(path).to_dict()
    study = of_family(tmp_path, 'kind = "rates"\nfrom = 0\nto = 1', BITS)
    assert study.to_dict()["family"]["from"] == 0
