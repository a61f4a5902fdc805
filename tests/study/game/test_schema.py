"""The study file of a game: mistakes are named, options that a part does not use are refused."""

from __future__ import annotations

import tomllib

import jsonschema
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
from narcissus.errors import InputError, StudyError
from narcissus.extraction import (
    CompressionVerifier,
    DensestAttack,
    KktAttack,
    LearnedVerifier,
    PosteriorGuess,
    StatisticalVerifier,
    trained_on_secret,
)
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
from narcissus.study.game.kind import identity_of
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
from narcissus.worlds import Bits, Pairs, Secret, Tardos, Uniform

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
        'name = "mine:World"\nn = "3"': "`world.n`: Input should be a valid integer, got '3'",
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
    assert audit.results["outcome"] == "violates"
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
