"""A study at many values: parameters, values that were played before or fail, formulas beyond."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from narcissus.errors import InputError, LongWorkError
from narcissus.game import Game
from narcissus.knowledge import Candidates
from narcissus.mechanisms import ExactAverage, Identity, NoisyAverage, Parity
from narcissus.observer import SILENT, SilentObserver
from narcissus.profiles import write_out
from narcissus.profiles.closed_forms.average import limit_given_rows
from narcissus.profiles.closed_forms.candidates import candidates_success
from narcissus.study import load_study
from narcissus.success.relations import Hamming, Member
from narcissus.worlds import Tardos, Uniform
from narcissus_papers.scale import Parameter, Sweep, scale, sweep
from narcissus_papers.scale import sweep as room
from narcissus_papers.scale.fit import EVERYBODY
from narcissus_papers.scale.sweep import (
    Variants,
    beyond,
    located,
    names_of,
    read_parameter,
    with_value,
)

OVER = Parameter("world.n", (2, 4, 6))
LENGTHS = Parameter("success.length", (1, 2, 3))


class Heard(SilentObserver):
    def __init__(self):
        self.notes, self.steps, self.total, self.done = [], 0, None, None

    def note(self, message):
        self.notes.append(message)

    def start(self, what, total, done=0):
        assert self.total is None, "one stage for all values"
        self.total, self.done = total, done

    def advance(self, steps=1):
        self.steps += steps


def gains(scaled):
    return [p.value for c in scaled.curves if c.whose == EVERYBODY for p in c.points
            if c.quantity == "gain"]  # fmt: skip


def test_every_attacker_is_covered_where_the_game_is_small(halves):
    scaled = scale(halves, Sweep(OVER, (LENGTHS,)))
    assert gains(scaled) == pytest.approx([0.5, 0.75, 0.875])
    assert (scaled.title, scaled.name) == ("Halves", "world.n")


def test_a_finished_value_is_not_played_again(rows, tmp_path, monkeypatch):
    sweep = Sweep(Parameter("success.k", (1, 2)), trials=200)
    first = scale(rows, sweep, folder=tmp_path, rng=3)
    played = []

    def counting(study, **keys):
        played.append(study)
        return run(study, **keys)

    run = room.run
    monkeypatch.setattr(room, "run", counting)
    heard = Heard()
    again = scale(rows, sweep, folder=tmp_path, rng=3, observer=heard)
    assert not played
    assert again.curves == first.curves
    assert heard.notes == ["all 2 values of success.k were played earlier"]
    assert heard.total == heard.done == 400
    # one that is damaged, of another seed, confidence or number of trials is played anew
    record = tmp_path / "values" / "2" / "record.json"
    record.write_text(record.read_text().replace('"title": "', '"title": "x'))
    assert scale(rows, sweep, folder=tmp_path, rng=3).curves == first.curves
    assert len(played) == 1
    other = scale(rows, sweep, folder=tmp_path, rng=4, restart=True)
    assert len(played) == 3
    assert other.curves != first.curves
    scale(rows, Sweep(sweep.over, (), 200, 0.9), folder=tmp_path, rng=4)
    assert len(played) == 5


def test_a_wider_sweep_plays_what_is_new_and_shares_the_level(rows, tmp_path):
    sweep = Sweep(Parameter("success.k", (1, 2)), trials=100)
    scale(rows, sweep, folder=tmp_path, rng=3)
    wider = scale(
        rows, Sweep(Parameter("success.k", (1, 2, 3)), trials=100), folder=tmp_path, rng=3
    )
    levels = {one.record.result.confidence for one in wider.each}
    assert levels == {1 - (1 - 0.95) / 6}


def test_seeds_repeat_a_sweep(rows):
    sweep = Sweep(Parameter("success.k", (1, 2)), trials=200)
    assert scale(rows, sweep, rng=7).curves == scale(rows, sweep, rng=7).curves
    assert scale(rows, sweep, rng=7).curves != scale(rows, sweep, rng=8).curves


def test_progress_is_one_stage(rows):
    heard = Heard()
    scale(rows, Sweep(Parameter("success.k", (1, 2, 3)), trials=100), rng=1, observer=heard)
    assert (heard.total, heard.done, heard.steps) == (300, 0, 300)
    assert heard.notes[0].startswith("about ")
    assert heard.notes[0].endswith("of trials: 3 values of success.k")


def test_what_takes_longer_than_was_agreed_to_is_refused(rows, tmp_path, monkeypatch):
    monkeypatch.setattr(room, "seconds_of", lambda _: 3600.0)
    sweep = Sweep(Parameter("success.k", (1, 2)))
    with pytest.raises(LongWorkError, match=r"2 hours of work: 2 values .* fewer --trials"):
        scale(rows, sweep, folder=tmp_path, hours=1.0)
    assert not list(tmp_path.iterdir())
    with pytest.raises(LongWorkError, match="about 60 minutes"):
        scale(rows, sweep, hours=0.9, workers=2)


def test_a_value_that_cannot_be_played_does_not_stop_the_others(halves):
    study = {**halves, "exact": {"when": "required", "limit": 20}}
    scaled = scale(study, Sweep(OVER, (LENGTHS,)))
    assert [one.record is not None for one in scaled.each] == [True, True, False]
    assert "20" in scaled.each[2].failed
    assert len(gains(scaled)) == 2
    with pytest.raises(InputError, match=r"no value of world\.n could be played: "):
        scale({**study, "exact": {"when": "required", "limit": 1}}, Sweep(OVER, (LENGTHS,)))


def test_records_are_whole(rows, tmp_path):
    scale(rows, Sweep(Parameter("success.k", (1, 2)), trials=50), folder=tmp_path, rng=1)
    record = json.loads((tmp_path / "values" / "2" / "record.json").read_text())
    assert record["study"]["success"]["k"] == 2
    assert (tmp_path / "values" / "2" / "report.html").exists()


@pytest.fixture
def clock(monkeypatch):
    """Give a clock that a played trial moves by a second, and preparing by ten."""
    now = [0.0]

    def play(game, attacks, statement, *, trials, **_):
        now[0] += 10 + trials

    monkeypatch.setattr(sweep, "play", play)
    monkeypatch.setattr(sweep, "time", SimpleNamespace(perf_counter=lambda: now[0]))
    return now


def test_trials_are_counted_and_preparing_once(clock, rows):
    assert sweep.seconds_of(load_study(rows)) == pytest.approx(10 + 400)
    assert clock[0] == 11 + 20  # one trial, then ten: enough to tell


def test_one_trial_is_what_it_took(clock, rows):
    assert sweep.seconds_of(load_study({**rows, "run": {"trials": 1}})) == 11


def test_without_an_attack_there_are_no_trials(halves):
    assert sweep.seconds_of(load_study(halves)) == 0


def test_a_game_that_cannot_be_played_takes_no_time(rows):
    study = {**rows, "attack": [{"name": "try-inputs"}], "world": {"name": "bits", "n": 3}}
    study["attack"] = [{"name": "seed-search"}]  # of another mechanism
    assert sweep.seconds_of(load_study(study)) == 0


def variants(study):
    return Variants(study, allow_code=False, observer=SILENT)


def test_parameters_move_together_and_one_value_is_for_all(halves):
    sweep = Sweep(
        Parameter("world.n", (2, 4)),
        (Parameter("success.length", (1, 2)), Parameter("statement.delta", (0.5,))),
    )
    made = [variants(halves).at(sweep, number).settings for number in (0, 1)]
    assert [one.world.options["n"] for one in made] == [2, 4]
    assert [one.success.options["length"] for one in made] == [1, 2]
    assert [one.statement.options["delta"] for one in made] == [0.5, 0.5]


def test_runs_are_not_stopped_and_share_the_level(rows):
    sweep = Sweep(Parameter("success.k", (1, 2, 3, 4)), trials=70, confidence=0.9)
    run = variants(rows).at(sweep, 2).settings.run
    assert (run.trials, run.stop) == (70, False)
    assert run.confidence == pytest.approx(1 - 0.1 / 8)
    plain = variants(rows).at(Sweep(Parameter("success.k", (1, 2))), 0).settings.run
    assert plain.trials == 400


def test_values_are_put_in_order_with_those_of_the_others():
    sweep = Sweep(Parameter("a", (3, 1, 2)), (Parameter("b", (30, 10, 20)), Parameter("c", (5,))))
    made = sweep.in_order()
    assert made.over.values == (1, 2, 3)
    assert [one.values for one in made.together] == [(10, 20, 30), (5,)]


@pytest.mark.parametrize(
    ("over", "together", "said"),
    [
        ((1,), (), "at least two values, all different; got 1"),
        ((1, 2, 1), (), "all different"),
        ((1, 2), ((1, 2, 3),), "has 3 values, and `--over world.n` 2"),
    ],
)
def test_what_does_not_go_together_is_refused(over, together, said):
    with pytest.raises(InputError, match=said):
        Sweep(Parameter("world.n", over), tuple(Parameter("x", one) for one in together))


def test_what_is_drawn_over_is_not_set_besides():
    with pytest.raises(InputError, match="is what is drawn over"):
        Sweep(Parameter("world.n", (1, 2)), (Parameter("world.n", (1,)),))


@pytest.mark.parametrize(
    "keys", [{"confidence": 1.0}, {"confidence": 0.0}, {"trials": 0}, {"trials": 1.5}]
)
def test_levels_and_trials_are_in_range(keys):
    with pytest.raises(InputError, match=next(iter(keys))):
        Sweep(Parameter("world.n", (1, 2)), **keys)


def test_a_value_that_the_study_refuses_is_named(halves):
    with pytest.raises(InputError, match=r"world\.n = 0 is refused: `world\.n`: `n` must be"):
        variants(halves).at(Sweep(Parameter("world.n", (0, 2))), 0)
    with pytest.raises(InputError, match=r"`--with success\.lenght`: the study has no such"):
        variants(halves).at(
            Sweep(Parameter("world.n", (2, 4)), (Parameter("success.lenght", (1,)),)), 0
        )


def test_trials_without_an_attack_are_refused(halves):
    with pytest.raises(InputError, match="`--trials` is not used"):
        variants(halves).at(Sweep(Parameter("world.n", (2, 4)), trials=10), 0)


def test_another_kind_of_study_is_refused():
    with pytest.raises(InputError, match="of the kind 'table'; only a game"):
        variants(Path(__file__).parents[4] / "examples" / "affairs.toml")


def test_the_older_spelling_of_a_section_is_taken():
    study = {
        "kind": "game",
        "world": {"name": "bits", "n": 4},
        "mechanism": {"name": "identity"},
        "side_information": {"name": "rows", "rows": 1},
        "success": {"name": "pinned", "k": 1},
        "statement": {"name": "side-information", "epsilon": 0.0, "delta": 0.0},
    }
    made = variants(study).at(Sweep(Parameter("side-information.rows", (2, 3))), 1)
    assert made.settings.side_information.options["rows"] == 3


STUDY = {
    "kind": "game",
    "world": {"name": "bits", "n": 4},
    "mechanism": {
        "name": "parallel",
        "parts": [
            {"name": "randomized-response", "epsilon": 0.2},
            {"name": "randomized-response", "epsilon": 0.3},
            {"name": "sha256", "bits": 3},
        ],
    },
    "success": {"name": "same-image", "function": {"name": "sha256", "bits": 3}},
    "attack": [{"name": "bayes"}, {"name": "fixed-guess", "guess": [0, 0, 0, 0]}],
    "statement": {"name": "narcissus", "epsilon": 0.0, "delta": 0.0},
}


@pytest.fixture(scope="module")
def settings():
    return load_study(STUDY).to_dict()


@pytest.mark.parametrize(
    ("text", "name", "values"),
    [
        ("world.n=2:6:2", "world.n", (2, 4, 6)),
        ("world.n=2:9:x2", "world.n", (2, 4, 8)),
        (" world.rate = 0.1,0.2", "world.rate", (0.1, 0.2)),
    ],
)
def test_values_are_steps_factors_or_a_list(text, name, values):
    found = read_parameter(text, "--over")
    assert (found.name, found.values) == (name, values)


@pytest.mark.parametrize("text", ["world.n", "world.n=", "=1:2:1", "", "world.n=a"])
def test_another_form_is_refused(text):
    with pytest.raises(InputError, match=r"`--over.* must be"):
        read_parameter(text, "--over")


def test_too_many_values_are_refused():
    with pytest.raises(InputError, match="1,001 values, at most 1,000"):
        read_parameter("world.n=0:1000:1", "--over")


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("world.n", ("world", "n")),
        ("success.function.bits", ("success", "function", "bits")),
        ("mechanism.parts.1.epsilon", ("mechanism", "parts", 1, "epsilon")),
        ("mechanism.parts.sha256.bits", ("mechanism", "parts", 2, "bits")),
        ("attack.bayes.epsilon", ("attack", 0, "epsilon")),
        ("attack.1.guess.0", ("attack", 1, "guess", 0)),
    ],
)
def test_a_parameter_is_found_at_any_depth(settings, name, place):
    assert located(settings, name, "--over") == place


def test_the_only_attack_needs_no_name(settings):
    one = {**settings, "attack": settings["attack"][:1]}
    assert located(one, "attack.epsilon", "--over") == ("attack", 0, "epsilon")


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("wrld.n", "`world.n`"),
        ("world.m", "`world.n`"),
        ("success.function.bit", "`success.function.bits`"),
        ("delta", "`statement.delta`"),
        ("attack.epsilon", "`attack.bayes.epsilon`"),
        ("mechanism.parts.randomized-response.epsilon", "`mechanism.parts.0.epsilon`"),
    ],
)
def test_a_typo_is_answered_with_the_nearest_names(settings, name, near):
    with pytest.raises(InputError, match="the study has no such number; did you mean") as found:
        located(settings, name, "--over")
    assert near in str(found.value)
    assert f"`--over {name}`" in str(found.value)


@pytest.mark.parametrize("name", ["zzzz", "mechanism.name", "world", "run.trials", "attack.9.x"])
def test_what_is_no_parameter_is_refused(settings, name):
    with pytest.raises(InputError, match="no such number"):
        located(settings, name, "--with")


def test_all_that_are_named_are_found(settings):
    names = names_of(settings)
    assert {"world.n", "mechanism.parts.sha256.bits", "attack.bayes.limit"} <= set(names)
    for name in names:
        assert located(settings, name, "--over")


def test_a_value_is_set_where_the_file_left_it_out(settings):
    place = located(settings, "world.rate", "--over")
    made = with_value(STUDY, settings, place, 0.25)
    assert made["world"] == {"name": "bits", "n": 4, "rate": 0.25}
    assert "rate" not in STUDY["world"]
    inner = with_value(STUDY, settings, ("mechanism", "parts", 1, "epsilon"), 0.9)
    assert [part.get("epsilon") for part in inner["mechanism"]["parts"]] == [0.2, 0.9, None]
    assert inner["mechanism"]["parts"][2] == {"name": "sha256", "bits": 3}


def test_a_lemma_goes_on_beyond_what_was_played():
    def game(d):
        return Game(Tardos(100, int(d), 5), ExactAverage(), Hamming(0.1))

    (found,) = beyond(game, ["majority"], [20, 40])
    assert [p.size for p in found.points] == [80, 160, 320]
    assert [p.value for p in found.points] == [limit_given_rows(5, d, 0.1) for d in (80, 160, 320)]
    assert (found.quantity, found.limits, found.grade) == ("bound", "success", "proved")


def test_the_way_up_ends_where_a_value_is_refused():
    def game(d):
        if d > 100:
            raise InputError("too large")
        return Game(Tardos(100, int(d), 5), ExactAverage(), Hamming(0.1))

    (found,) = beyond(game, [], [20, 40])
    assert [p.size for p in found.points] == [80]


def test_the_best_success_at_parities_is_that_of_the_game():
    def game(d):
        return Game(Uniform(2, int(d)), Parity(), Member())

    found = next(c for c in beyond(game, [], [2, 4]) if c.quantity == "closed form")
    assert [p.size for p in found.points] == [2, 4, 8, 16, 32]
    for point in found.points[:2]:
        exact = write_out(game(point.size)).best(float("-inf"))
        assert point.value == pytest.approx(sum(gain for *_, gain in exact))


def test_two_candidates_are_told_apart_by_the_formula():
    def game(d):
        return Game(Tardos(50, int(d), 5), NoisyAverage(1.0), Member(), side=Candidates())

    (found,) = beyond(game, ["two-candidates", "other"], [100, 200])
    assert found.whose == "two-candidates"
    assert found.grade == "approximate"
    for point in found.points:
        one = candidates_success(5, int(point.size), 1.0)
        assert point.value == pytest.approx(0.9 * one + 0.1)


def test_where_nothing_is_known_nothing_is_drawn():
    assert beyond(lambda d: Game(Uniform(2, int(d)), Identity(), Member()), [], [2, 4]) == []
