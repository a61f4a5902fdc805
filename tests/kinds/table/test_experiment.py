"""A study ready to play: one family of games, whose attacks take part as the study says."""

from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import narcissus
from narcissus.attacks.table import OwnLearner, PriorGuess, TableAttack, factored_attack
from narcissus.errors import InputError, StudyError
from narcissus.kinds.table import experiment as experiments
from narcissus.kinds.table.experiment import ShownGroups, shown, simulations, trained
from narcissus.kinds.table.kind import KIND, prepare
from narcissus.knowledge import FactoredTargets
from narcissus.observer import SILENT
from narcissus.priors import IndependentColumns
from narcissus.study import load_study
from narcissus.study.merging import SMALLER


def ready(path):
    loaded = load_study(path, allow_code=True)
    with loaded.code.in_use():
        return prepare(loaded.settings, loaded.folder, 7)


def test_the_settings_are_games_that_differ_in_the_noise_alone(study):
    experiment = ready(study(mechanism={"epsilon": [1.0, 4.0]}))
    low, high = (scenario.game for scenario in experiment.scenarios)
    assert (low.world, low.relation, low.side) == (high.world, high.relation, high.side)
    assert low.mechanism.queries == high.mechanism.queries
    assert low.mechanism.noise.scale > high.mechanism.noise.scale
    one, other = experiment.round(2, 0), experiment.round(2, 1)
    np.testing.assert_array_equal(one.draw.data, other.draw.data)
    np.testing.assert_array_equal(experiment.known(2).codes, one.known[0].codes)
    assert experiment.keys()[:4] == ["0/0", "0/1", "1/0", "1/1"]


def test_what_is_kept_does_not_depend_on_which_others_play(study):
    path = study(attacks={"prior": {}, "rap": {"steps": 20, "trials": 2}, "ceiling": {}})
    experiment = ready(path)
    alone = replace(experiment, attacks=experiment.attacks[1:2])
    for trial in range(3):
        every, one = experiment.play(f"{trial}/0"), alone.play(f"{trial}/0")
        assert ("rap/share" in every) == ("rap/share" in one) == (trial < 2)
        for name, array in one.items():
            np.testing.assert_array_equal(array, every[name])


def test_an_error_in_an_attack_of_ours_is_not_taken_for_a_failure(study):
    class Broken:
        informed = False
        title = uses = "broken"

        def attempt(self, release, known, rng):
            raise ZeroDivisionError

    experiment = replace(ready(study()), attacks=(("broken", Broken(), 6),))
    with pytest.raises(ZeroDivisionError):
        experiment.play("0/0")


def test_a_prior_that_cannot_draw_is_one_error(study):
    experiment = ready(study())

    class Prior:
        sizes = experiment.prior.sizes

        def sample(self, n, *, rng=None):
            raise KeyError("lost")

    with pytest.raises(InputError, match="the world People raised KeyError"):
        replace(experiment, prior=Prior()).play("0/0")


@pytest.mark.parametrize(
    "threat",
    [
        {"unknown": ["ill", "job"]},
        {"unknown": ["ill", "job", "income"], "at_least": 2},
        {"unknown": ["ill", "age"], "within": {"age": 1}},
    ],
)
def test_without_a_list_of_joint_values_a_study_says_the_same(study, monkeypatch, threat):
    """The same people; everything that is exact in both ways is equal."""
    path = study(threat={"targets": 15, **threat}, groups={"columns": ["sex", "ill"]})
    listed = ready(path)
    one = listed.play("0/0")
    assert listed.knows_chances
    monkeypatch.setattr(experiments, "MAX_JOINT", 1)
    factored = ready(path)
    other = factored.play("0/0")
    assert factored.factored
    assert not factored.knows_chances
    for name in ("groups", "prior/group_fresh"):
        assert other[name].shape == one[name].shape
    np.testing.assert_array_equal(other["groups"], one["groups"])
    if listed.success.exact:
        np.testing.assert_allclose(other["guess"], one["guess"])
        np.testing.assert_allclose(other["group_guess"], one["group_guess"])
        np.testing.assert_allclose(other["bound"], one["bound"], atol=1e-4)
        np.testing.assert_allclose(other["gain_bound"], one["gain_bound"], atol=1e-4)
        np.testing.assert_allclose(other["prior/fresh"], one["prior/fresh"])
    assert other["guess"][0] <= one["guess"][0] + 1e-9
    assert other["guess"][0] > one["guess"][0] - 0.3
    assert other["bound"][0] >= one["bound"][0] - 1e-4


def test_real_rows_of_many_columns_are_shown_decoys(study, monkeypatch):
    """A decoy has the secrets of others: what is scored there owes nothing to the release."""
    monkeypatch.setattr(experiments, "MAX_JOINT", 1)
    path = study(
        threat={"unknown": ["ill", "job"], "people": "rows"}, mechanism={"epsilon": "=inf"}
    )
    experiment = ready(path)
    assert not experiment.prior_is_exact
    trials = [experiment.play(f"{t}/0") for t in range(6)]
    shares = np.mean([t["posterior/share"] for t in trials])
    decoys = np.mean([t["posterior/decoy"] for t in trials], axis=0)
    assert shares > decoys[0] + 0.1
    assert abs(decoys[0] - decoys[1]) < 0.25  # 90 people: nearly five standard errors


OWN = """
import numpy as np

class Modes:
    title, uses, informed = "likeliest values", "prior", False
    def guess(self, view, *, rng):
        return np.stack([m.argmax(axis=1) for m in view.targets.marginals], axis=1)
"""


def test_an_own_attack_on_many_columns_guesses_each(study, monkeypatch):
    """The likeliest values of columns are right as often as the prior says of each."""
    monkeypatch.setattr(experiments, "MAX_JOINT", 1)
    Path("own.py").write_text(OWN)
    path = study(threat={"unknown": ["ill", "job"]}, attacks={"own": {"name": "own:Modes"}})
    loaded = load_study(path, allow_code=True)
    with loaded.code.in_use():
        found = prepare(loaded.settings, loaded.folder, entropy=1).play("0/0")
    np.testing.assert_allclose(found["own/columns_fresh"], found["guess_columns"])
    assert found["own/columns"].shape == (2,)


ALARM = 1e-6


def played(path, trials, setting=0):
    loaded = load_study(path, allow_code=True)
    with loaded.code.in_use():
        experiment = prepare(loaded.settings, loaded.folder, entropy=11)
    return experiment, [experiment.play(f"{t}/{setting}") for t in range(trials)]


@pytest.mark.parametrize("epsilon", [1.0, 6.0, "=inf"])
def test_the_exact_score_has_the_mean_of_the_hits_and_less_noise(study, epsilon):
    """144 trials; z-test of the paired difference at 1e-6 for every attack, and the control."""
    path = study(
        mechanism={"epsilon": epsilon},
        attacks={"prior": {}, "posterior": {}, "rap": {"steps": 20}, "ceiling": {}},
        run={"trials": 144},
    )
    experiment, trials = played(path, 144)
    for name in ("prior", "posterior", "rap", "ceiling"):
        hits = np.array([t[f"{name}/hits"] for t in trials]) / experiment.targets
        share = np.array([t[f"{name}/share"] for t in trials])
        gap = hits - share
        assert abs(gap.mean()) <= 4.9 * gap.std() / 12 + 1e-12
        assert share.var() <= hits.var() + 1e-12
        # of one unknown column nothing else is asked than of the whole
        assert [t[f"{name}/columns"] for t in trials] == pytest.approx(share[:, None])
    control = np.array([t["control"] for t in trials])
    assert abs(control.mean()) <= 4.9 * control.std() / 12


def test_each_columns_chance_has_the_mean_of_its_hits_and_less_noise(study):
    """50 trials; z-test of the paired difference at 1e-6 for each column."""
    path = study(
        threat={"unknown": ["ill", "town"], "at_least": 1},
        attacks={"posterior": {}},
        mechanism={"epsilon": 4.0},
        run={"trials": 50},
    )
    experiment, trials = played(path, 50)
    right = []
    for t in range(50):
        once = experiment.round(t, 0)
        [attempt] = once.outcomes["posterior"].attempts.values
        secrets = once.known[0].secrets(once.draw.data[0])
        right.append(experiment.success.columns_right(secrets, attempt).mean(axis=0))
    chance = np.array([t["posterior/columns"] for t in trials])
    gap = np.array(right) - chance
    assert (np.abs(gap.mean(axis=0)) <= 4.9 * gap.std(axis=0) / 50**0.5).all()
    assert (chance.var(axis=0) < np.var(right, axis=0)).all()


def test_no_attack_is_above_the_ceiling_in_any_trial(study):
    _, trials = played(study(mechanism={"epsilon": 5.0}, run={"trials": 30}), 30)
    for trial in trials:
        for name in ("prior", "posterior"):
            assert trial[f"{name}/share"] <= trial["ceiling/share"] + 1e-12


OWN_SCORED = """
class Copy:
    title, uses, informed = "says what town says", "release", False
    def guess(self, view, *, rng):
        return (view.targets.codes[:, 3] % 2).astype("int64")
"""


def test_a_decoy_tells_nothing_and_a_right_prior_passes(study):
    """An attack that ignores the release scores the same on it; gains are due to the release."""
    Path("own.py").write_text(OWN_SCORED)
    path = study(
        threat={"people": "rows"},
        mechanism={"epsilon": "=inf"},
        attacks={"prior": {}, "posterior": {}, "copy": {"name": "own:Copy"}},
        run={"trials": 60},
    )
    experiment, trials = played(path, 60)
    assert not experiment.prior_is_exact
    for trial in trials:
        assert trial["copy/decoy"][0] == trial["copy/share"]
        assert trial["prior/decoy"][0] == trial["prior/share"]
    shares = np.array([t["posterior/share"] for t in trials])
    decoys = np.array([t["posterior/decoy"] for t in trials])
    assert shares.mean() > 0.8  # exact counts give nearly everything away
    assert decoys[:, 0].mean() < 0.75  # and those of others nothing
    off = decoys[:, 0] - decoys[:, 1]
    assert abs(off.mean()) < 0.06


def test_groups_by_secrets_count_hits(study):
    path = study(groups={"columns": ["ill", "sex"], "singled_out": True})
    experiment, trials = played(path, 3)
    told = experiment.groups.by_secret(experiment.queries.unknown)
    names = [by for by, _ in experiment.groups.names]
    assert {n for n, t in zip(names, told, strict=True) if t} == {
        "ill",
        "how unusual the secret is",
    }
    for trial in trials:
        by_hits = trial["posterior/group_share"][told]
        np.testing.assert_array_equal(by_hits, np.round(by_hits))
        # everybody is in one group of each kind: their exact scores add up to the whole
        sex = [i for i, n in enumerate(names) if n == "sex"]
        whole = trial["posterior/share"] * experiment.targets
        assert trial["posterior/group_share"][sex].sum() == pytest.approx(whole)


RARE = """
class Rare:
    title, uses, informed = "names the rarest value of some", "nothing", False
    def guess(self, view, *, rng):
        prior = view.targets.prior
        return np.where(rng.random(len(prior)) < 0.6, prior.argmin(axis=1), prior.argmax(axis=1))
"""


@pytest.mark.parametrize("people", ["prior", "rows"])
def test_who_ignores_the_release_gets_as_much_of_strangers_in_every_group(study, people):
    """300 trials; z-test at 1e-6 for each group that is told by the secrets, on hits per member."""
    Path("own.py").write_text("import numpy as np\n" + RARE)
    path = study(
        threat={"people": people},
        mechanism={"epsilon": "=inf"},
        attacks={"prior": {}, "posterior": {}, "rare": {"name": "own:Rare"}},
        groups={"columns": ["ill"]},
        run={"trials": 300},
    )
    experiment, trials = played(path, 300)
    found = []
    for g in np.flatnonzero(experiment.groups.by_secret(experiment.queries.unknown)):
        members = np.array([[t["groups"][g], t["strangers"][g]] for t in trials])
        some = (members > 0).all(axis=1)
        if some.sum() < 50:
            continue
        gains = {}
        for name in ("prior", "rare", "posterior"):
            keys = (f"{name}/group_share", f"{name}/group_decoy")
            hits = np.array([[t[key][g] for key in keys] for t in trials])
            gains[name] = -np.diff(hits[some] / members[some], axis=1)
        for name in ("prior", "rare"):
            one = gains[name]
            assert abs(one.mean()) <= 4.9 * one.std() / np.sqrt(one.size) + 1e-12
        found.append(gains["posterior"].mean())
    assert len(found) >= 3
    assert max(found) > 0.4  # exact counts: what rare values are recovered is not chance


@dataclass(frozen=True)
class Pupil:
    """Keeps what it was taught, and a coin; guesses what the prior says."""

    taught: list = field(default_factory=list)
    coin: float | None = None
    title, uses, informed, reads, learns_from = "learns", "prior", False, (object,), (object,)

    def train(self, simulated, rng):
        return replace(self, taught=simulated, coin=rng.random())

    def attempt(self, release, known, rng):
        return PriorGuess().attempt(release, known, rng)


@dataclass(frozen=True)
class Says:
    """Guesses what it was told."""

    values: np.ndarray
    title, uses, informed = "says", "prior", False

    def guess(self, view, *, rng):
        return self.values


def with_pupils(experiment, *names, training=3):
    attacks = tuple((name, Pupil(), experiment.trials) for name in names)
    return replace(experiment, attacks=(*experiment.attacks, *attacks), training=training)


def everything(simulated):
    """Give all numbers of a simulated release of counts."""
    parts = (simulated.targets.codes, simulated.targets.prior, simulated.secrets)
    return np.concatenate([np.ravel(part) for part in (*parts, simulated.release.cells)])


def all_columns(simulated):
    """Give the people with their secrets, shape (n, d)."""
    codes = simulated.targets.codes.copy()
    queries = simulated.targets.queries
    codes[:, list(queries.unknown)] = queries.split(simulated.secrets)
    return codes


@pytest.mark.parametrize("people", ["prior", "rows"])
def test_people_are_drawn_from_the_prior_also_where_those_played_are_real(ready, people):
    """The prior here knows of men alone, who are half of the table."""
    experiment = with_pupils(ready(threat={"people": people}), "pupil", training=20)
    table = experiment.table
    shares = [np.full(size, 1 / size) for size in table.sizes]
    shares[table.index("sex")] = np.array([0.0, 1.0])
    experiment = replace(experiment, prior=IndependentColumns(table.names, tuple(shares)))
    found = np.concatenate([all_columns(one) for one in simulations(experiment, 0)])
    assert found.shape == (20 * experiment.targets, table.columns)
    for column, share in enumerate(shares):
        seen = np.bincount(found[:, column], minlength=len(share)) / len(found)
        np.testing.assert_allclose(seen, share, atol=0.14)  # four sigma for the widest
        assert (seen[share == 0] == 0).all()
    played = np.concatenate([experiment.round(t, 0).draw.data[0] for t in range(5)])
    sexes = set(played[:, table.index("sex")])
    assert sexes == ({1} if people == "prior" else {0, 1})


def test_the_release_is_about_the_people_whose_secrets_are_told(ready):
    experiment = with_pupils(ready(mechanism={"epsilon": None, "scale": 0}), "pupil")
    for one in simulations(experiment, 0):
        [again] = experiment.settings[0].mechanism.release(
            all_columns(one)[None], np.random.default_rng(0)
        )
        np.testing.assert_array_equal(one.release.cells, again.cells)
        assert not one.targets.codes[:, list(experiment.queries.unknown)].any()


def test_each_is_another_and_none_is_played(ready):
    experiment = with_pupils(ready(), "pupil", training=4)
    found = [all_columns(one).tolist() for one in simulations(experiment, 0)]
    played = [experiment.round(t, 0).draw.data[0].tolist() for t in range(experiment.trials)]
    every = found + played
    assert len(every) == 4 + 6
    assert all(one != other for i, one in enumerate(every) for other in every[:i])
    noise = [
        one.release.cells - experiment.queries.counts(all_columns(one))
        for one in simulations(experiment, 0)
    ]
    assert len({float(one[0]) for one in noise}) == 4


def test_they_depend_on_the_seed_and_the_setting_alone(ready):
    """Not on how many trials are played, by which attacks, or what else is in the sweep."""
    both = with_pupils(ready(mechanism={"epsilon": [1.0, 4.0]}), "pupil")
    other = ready(mechanism={"epsilon": 4.0}, run={"trials": 2}, attacks={"prior": {}})
    other = with_pupils(other, "someone", "else", training=5)
    for one, same in zip(simulations(both, 1), simulations(other, 0), strict=False):
        np.testing.assert_array_equal(everything(one), everything(same))
    [first, *_], [low, *_] = simulations(other, 0), simulations(both, 0)
    np.testing.assert_array_equal(all_columns(first), all_columns(low))
    assert (first.release.cells != low.release.cells).all()
    [reseeded, *_] = simulations(replace(other, entropy=4), 0)
    assert (all_columns(first) != all_columns(reseeded)).any()


def test_noise_has_a_generator_of_its_own(ready):
    """Whatever was drawn to have the people, it is the same."""
    experiment = with_pupils(ready(), "pupil")
    noises = [
        [one.release.cells - one.targets.queries.counts(all_columns(one)) for one in found]
        for found in (simulations(replace(experiment, targets=n), 0) for n in (7, 15))
    ]
    np.testing.assert_allclose(*noises, atol=1e-9)


def test_who_learns_is_taught_at_each_setting_and_the_others_stay(ready, hears):
    experiment = ready(mechanism={"epsilon": [1.0, 4.0]}, attacks={"prior": {}})
    experiment = with_pupils(experiment, "ann", "bob")
    done = trained(experiment, hears)
    assert hears.notes == ["6 simulated releases, from which ann, bob learn"]
    for place in (0, 1):
        attacks = done.attacks_at(place)
        assert list(attacks) == ["prior", "ann", "bob"]
        assert attacks["prior"] is experiment.attacks[0][1]
        for name in ("ann", "bob"):
            expected = simulations(experiment, place)
            for one, same in zip(attacks[name].taught, expected, strict=True):
                np.testing.assert_array_equal(everything(one), everything(same))
        assert done.scenarios[place].attacks["ann"] is attacks["ann"]
    assert [attack for _, attack, _ in done.attacks][1].taught == []  # only what is played knows
    assert set(done.play("0/1")) == set(experiment.play("0/1"))


def test_an_attack_learns_by_coins_of_its_own(ready, hears):
    """They depend on its name and the setting, not on who else learns."""
    sweep = {"mechanism": {"epsilon": [1.0, 4.0]}, "attacks": {"prior": {}}}
    every = trained(with_pupils(ready(**sweep), "ann", "bob"), hears)
    alone = trained(with_pupils(ready(**sweep), "bob"), hears)
    assert every.attacks_at(1)["bob"].coin == alone.attacks_at(1)["bob"].coin
    coins = [every.attacks_at(place)[name].coin for place in (0, 1) for name in ("ann", "bob")]
    assert len(set(coins)) == 4


def test_where_nobody_learns_nothing_is_simulated(ready, hears):
    experiment = ready(attacks={"prior": {}, "ceiling": {}})
    assert trained(experiment, hears) is experiment
    assert hears.notes == []


def test_a_learned_attack_can_be_played_once_it_has_learned(ready, hears):
    experiment = ready(attacks={"learned": {}}, run={"training": 5})
    learned = trained(experiment, hears)
    before, after = experiment.attacks_at(0)["learned"], learned.attacks_at(0)["learned"]
    assert isinstance(after, TableAttack)
    assert before.logit is None
    assert after.logit is not None
    assert learned.play("0/0")["learned/hits"] >= 0


MINE = """
from dataclasses import dataclass, replace

@dataclass(frozen=True)
class Plain:
    lessons: int = 0
    title, uses, informed = "mine", "prior", False

    def guess(self, view, *, rng):
        return view.targets.success.decide(view.targets.prior)

class Learning(Plain):
    def train(self, simulated, rng):
        return replace(self, lessons=len(simulated))
"""


def test_a_class_of_ones_own_learns_if_it_can(ready, hears, tmp_path):
    (tmp_path / "mine.py").write_text(MINE, encoding="utf-8")
    attacks = {name.lower(): {"name": f"mine:{name}"} for name in ("Plain", "Learning")}
    experiment = trained(ready(attacks=attacks, run={"training": 4}), hears)
    assert {n: attack.own.lessons for n, attack in experiment.attacks_at(0).items()} == {
        "plain": 0,
        "learning": 4,
    }
    assert hears.notes == ["4 simulated releases, from which learning learn"]


def test_without_a_list_of_joint_values_secrets_are_those_of_columns(ready, monkeypatch):
    """The same people either way, and what was learned is played."""
    study = {"threat": {"unknown": ["ill", "job"]}}
    listed = list(simulations(with_pupils(ready(**study)), 0))
    monkeypatch.setattr(experiments, "MAX_JOINT", 1)
    experiment = with_pupils(ready(**study))
    found = list(simulations(experiment, 0))
    for one, other in zip(listed, found, strict=True):
        assert isinstance(other.targets, FactoredTargets)
        secrets = other.targets.queries.split(one.secrets)
        np.testing.assert_array_equal(other.secrets, secrets)
        np.testing.assert_array_equal(other.release.cells, one.release.cells)

    class Copies:
        """Says of everybody what the first made-up people were."""

        title, uses, informed = "copies", "prior", False

        def train(self, simulated, rng):
            return Says(simulated[0].secrets)

    attacks = (("own", factored_attack(OwnLearner("own", Copies())), 1),)
    learned = trained(replace(experiment, attacks=attacks), SILENT)
    played = learned.round(0, 0).outcomes["own"].attempts.values
    np.testing.assert_array_equal(played, found[0].secrets[None])


SIZES = {"a": 30, "b": 12, "c": 4, "d": 2, "e": 1}


def people(sizes=SIZES, seed=4):
    rng = np.random.default_rng(seed)
    place = np.repeat([*sizes], [*sizes.values()])
    n = len(place)
    columns = {"place": place, "age": rng.integers(0, 3, n), "ill": rng.integers(0, 2, n)}
    return pd.DataFrame(columns).sample(frac=1, random_state=1, ignore_index=True)


def study(rows, *, who="all", groups=None, **more):
    return narcissus.load_study({
        "data": {"frame": rows},
        "threat": {"unknown": ["ill"], "people": who,
                   **({} if who == "all" else {"targets": 20})},
        "mechanism": {"k": 2, "epsilon": 1.0},
        "groups": {"columns": ["place"], **(groups or {})},
        "run": {"trials": 4, "seed": 3, "workers": 1},
        **more,
    })  # fmt: skip


def setting_in(record):
    [found] = KIND.judged(record).each
    return found


def audited(loaded):
    return setting_in(narcissus.run(loaded).record)


@cache
def record_of(least=None):
    """Play the study of all people once for each least size of a group."""
    groups = {} if least is None else {"least_group": least}
    return narcissus.run(study(people(), groups=groups)).record


def of(setting, by="place"):
    return {group.group: group for group in setting.result.groups if group.by == by}


def test_of_all_people_small_groups_are_one_and_it_is_said():
    one = setting_in(record_of())
    # 4 + 2 + 1 are fewer than 10: the next smallest is merged with them
    assert [*of(one)] == ["a", SMALLER]
    assert of(one)[SMALLER].share_of_people == pytest.approx(19 / 49)
    assert one.result.merged.least == 10
    assert one.result.merged.merged["place"] == 4
    assert one.result.merged.people == 49
    text = " ".join(narcissus.report.render_text(record_of()).split())
    assert "4 groups by “place” are one" in text
    assert "fewer than 10 people" in text


def test_a_merged_group_has_the_numbers_of_its_members_together():
    fine, one = setting_in(record_of(1)), setting_in(record_of())
    small = [of(fine)[label] for label in "bcde"]
    parts = [group.share_of_people for group in small]
    merged = of(one)[SMALLER]

    def together(number):
        return sum(p * number(g) for p, g in zip(parts, small, strict=True)) / sum(parts)

    assert merged.share_of_people == pytest.approx(sum(parts))
    assert merged.guess.share == pytest.approx(together(lambda g: g.guess.share))
    for name, attack in merged.attacks.items():
        assert attack.share == pytest.approx(together(lambda g, n=name: g.attacks[n].share))
        assert attack.people == sum(g.attacks[name].people for g in small)
    assert merged.ceiling.share == pytest.approx(together(lambda g: g.ceiling.share))


def test_nothing_else_changes():
    """Numbers about everybody, and about groups that are large, stay to the last digit."""
    fine, one = setting_in(record_of(1)), setting_in(record_of())
    everybody = [
        found.result.model_copy(update={"groups": (), "merged": None}).model_dump()
        for found in (fine, one)
    ]
    assert everybody[0] == everybody[1]
    assert of(fine)["a"].guess == of(one)["a"].guess


def test_drawn_people_are_in_groups_of_any_size():
    one = audited(study(people(), who="prior"))
    assert one.result.merged is None
    assert len(of(one)) == 5


def test_of_drawn_rows_the_different_people_count_who_were_played():
    loaded = study(people(), who="rows")
    record = audited(loaded)
    with loaded.code.in_use():
        experiment = prepare(loaded.settings, loaded.folder, 3)
    # the same by the worlds themselves: rows are told apart by numbers that stand in place of age
    numbered = people().assign(age=np.arange(49).astype(str))
    other = study(numbered, who="rows")
    with other.code.in_use():
        apart = prepare(other.settings, other.folder, 3)
    place = apart.table.index("age")
    seen = {int(row[place]) for t in range(4) for row in apart.population(t).inputs.draw.data[0]}
    assert record.result.merged.people == len(seen)
    assert experiment.targets * 4 > len(seen) > 20
    for label, group in of(record).items():
        assert label == SMALLER or group.share_of_people * 80 >= 10


def test_two_divisions_that_differ_by_one_person_are_not_both_shown():
    rows = people({"a": 30, "b": 20})
    rows["school"] = rows["place"]
    rows.loc[rows.index[rows["place"] == "b"][0], "school"] = "a"
    groups = {"columns": ["place", "school"], "unusual": False, "singled_out": False}
    one = audited(study(rows, groups=groups))
    assert {group.by for group in one.result.groups} == {"place"}
    assert one.result.merged.left_out == ("school",)
    shown_all = narcissus.run(study(rows, groups={**groups, "least_group": 1}))
    every = setting_in(shown_all.record)
    assert {group.by for group in every.result.groups} == {"place", "school"}


def test_where_all_are_few_no_group_is_shown():
    groups = {"unusual": False, "singled_out": False}
    record = narcissus.run(study(people({"a": 12, "b": 8}), groups=groups)).record
    [one] = KIND.judged(record).each
    assert one.result.groups == ()
    assert one.result.merged.left_out == ("place",)
    assert "the groups are too small to show" in " ".join(
        narcissus.report.render_text(record).split()
    )


def test_the_worst_group_is_one_that_may_be_shown():
    more = {"threshold": {"share": 0.9, "worst_group": 0.9}}
    one = audited(study(people(), **more))
    groups = {excess.group for excess in one.result.excesses if excess.group.startswith("place")}
    assert groups == {"place: a", f"place: {SMALLER}"}


def test_trials_are_kept_whole_so_that_another_least_size_needs_no_new_ones(tmp_path):
    narcissus.run(study(people()), folder=tmp_path)
    fine = study(people(), groups={"least_group": 1})
    again = narcissus.run(fine, folder=tmp_path)  # another study would be refused
    assert len(of(KIND.judged(again.record).each[0])) == 5
    assert again.record.rows == narcissus.run(fine).record.rows


def test_a_least_size_is_one_or_more():
    with pytest.raises(StudyError, match="least_group"):
        study(people(), groups={"least_group": 0})


def test_groups_are_merged_once():
    loaded = study(people())
    with loaded.code.in_use():
        experiment = prepare(loaded.settings, loaded.folder, 3)
    trials = {f"{t}/0": experiment.play(f"{t}/0") for t in range(4)}
    merged, kept = shown(experiment, trials)
    assert isinstance(merged.groups, ShownGroups)
    assert shown(merged, kept) == (merged, kept)
    assert len(merged.groups.names) == len(merged.groups.parts_of) == len(kept["0/0"]["groups"])
    assert merged.groups.asked == experiment.groups.asked > len(merged.groups.names)
