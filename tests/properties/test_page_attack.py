"""An attacker with the page: knows all but the secrets, and wants those of the small groups.

The attacker has every number of the record as it may be shown, everybody's other columns, the best
guess by the prior for everybody (or what the published file says), and who is in which group. All
sums of hits over groups are taken, differences and unions of nested and disjoint ones added, and
whoever is in a set that the guess mostly gets wrong is guessed otherwise.

Where the page says nothing of the small groups, a guess that is changed is right no more often
than the one that it takes the place of, person by person: a sign test, exact. It is asked at
`LEVEL`, so that a fast run fails by chance in at most one of a thousand, and so does the nightly.
"""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest

import narcissus
from narcissus.kinds.synthetic.kind import read_given, threat_of
from narcissus.kinds.table.kind import KIND, prepare
from narcissus.study.shareable import shareable
from narcissus.synthetic import assess_file

LEVEL = 1e-3
ROUNDS, MOST = 2, 150


def closure(known):
    """Add what follows from sums over sets of people: differences and unions."""
    for _ in range(ROUNDS):
        for (a, x), (b, y) in combinations(list(known.items()), 2):
            if len(known) > MOST:
                break
            if a < b:
                known.setdefault(b - a, y - x)
            elif b < a:
                known.setdefault(a - b, x - y)
            elif not a & b:
                known.setdefault(a | b, x + y)
    return known


def changed_guesses(hits, second, known, targets):
    """For each target whose guess the attacker changes: whether that was right, and is."""
    known = closure({s: c for s, c in known.items() if s})
    found = []
    for person in targets:
        among = [(len(s), s) for s in known if person in s]
        if not among:
            continue
        size, smallest = min(among, key=lambda one: one[0])
        if known[smallest] < size / 2 - 1e-6:
            found.append((bool(hits[person]), bool(second[person])))
    return found


def people_of(rng, divisions, values=2):
    """People by columns of groups, with a secret that the prior mostly guesses."""
    n = len(next(iter(divisions.values())))
    age = rng.integers(0, 3, n)
    chances = {2: [0.76, 0.24], 3: [0.7, 0.2, 0.1]}[values]
    ill = rng.choice(values, n, p=chances)
    return pd.DataFrame({**divisions, "age": age, "ill": ill})


def sized(*sizes):
    return np.repeat([f"g{k:02}" for k in range(len(sizes))], sizes)


def villages(rng):
    return people_of(rng, {"village": sized(24, 15, 3, 2, 2, 1, 1, 1, 1, 1)}), {}


def one_between_two_schools(rng):
    # every group is large; but the few who are in one district and go to school in the other are
    # what is left of their school without their district
    district, school = sized(30, 25), sized(31, 24)
    return people_of(rng, {"district": district, "school": school}), {}


def three_states(rng):
    return people_of(rng, {"village": sized(30, 12, 2, 2, 1, 1, 1, 1, 1)}, values=3), {
        "prior": {"name": "independent"}
    }


def two_columns(rng):
    village = sized(20, 16, 4, 3, 2, 1, 1)
    work = np.concatenate([sized(18, 12), np.repeat(["w1", "w2", "w3", "w4"], [10, 4, 2, 1])])
    return people_of(rng, {"village": village, "work": work}), {
        "mechanism": {"k": 1, "epsilon": 0.5}
    }


def of_table(make, rng, least):
    """Hits, second guesses, sums that the page shows, and who is in a small group."""
    rows, more = make(rng)
    columns = [c for c in rows.columns if c not in {"age", "ill"}]
    study = narcissus.load_study({
        "data": {"frame": rows},
        "threat": {"unknown": ["ill"], "people": "all"},
        "mechanism": {"k": 2, "epsilon": 1.0},
        "attacks": {"prior": {}},
        "groups": {"columns": columns, "least_group": least},
        "run": {"trials": 1, "workers": 1, "seed": 1},
        **more,
    })  # fmt: skip
    shown = KIND.judged(shareable(narcissus.run(study).record)).each[0]
    with study.code.in_use():
        experiment = prepare(study.settings, study.folder, 1)
    population = experiment.population(0)
    table, order = experiment.table, population.targets
    ranked = np.argsort(-order.chances[:, : order.chances.shape[1]], axis=1, kind="stable")
    secret = np.asarray(population.secrets).ravel()
    hits, guess = secret == order.best_guess.ravel(), order.best_guess.ravel()
    second = secret == np.where(ranked[:, 0] == guess, ranked[:, 1], ranked[:, 0])
    n = len(secret)
    known = {frozenset(range(n)): round(shown.result.guess.share * n)}
    named = {(by, label): k for k, (by, label) in enumerate(experiment.groups.names)}
    masks = population.members.masks()
    for by in {group.by for group in shown.result.groups if not group.by_secret}:
        own = [group for group in shown.result.groups if group.by == by]
        left = set(range(n))
        for group in own:
            if (by, group.group) in named:  # else the merged one, which is who is left
                members = frozenset(np.flatnonzero(masks[named[by, group.group]]).tolist())
                known[members] = round(group.guess.share * len(members))
                left -= members
        for group in own:
            if (by, group.group) not in named:
                known[frozenset(left)] = round(group.guess.share * len(left))
    few = np.zeros(n, dtype=bool)
    for name in columns:
        codes = table.codes[:, table.index(name)]
        few |= np.bincount(codes)[codes] < 10
    if {"district", "school"} <= set(columns):
        few |= np.array([r.district != r.school for r in rows.itertuples()])
    return hits, second, known, np.flatnonzero(few).tolist()


def of_file(rng, least):
    """The same of a given file: what the chosen attack guesses, of the people who are scored."""
    real = people_of(rng, {"village": rng.permutation(sized(60, 50, 4, 4, 3, 3, 2, 2, 2, 2))})
    control = people_of(rng, {"village": rng.permutation(sized(60, 60, 2, 2, 2, 2, 1, 1, 1, 1))})
    file = people_of(rng, {"village": rng.permutation(sized(60, 60, 2, 2, 2, 2, 1, 1, 1, 1))})
    study = narcissus.load_study({
        "kind": "synthetic",
        "data": {"real": real, "synthetic": file, "control": control},
        "threat": {"unknown": ["ill"]},
        "groups": {"columns": ["village"], "least_group": least},
        "run": {"seed": 1},
    })  # fmt: skip
    rows = shareable(narcissus.run(study).record).rows
    with study.code.in_use():
        files = read_given(study.settings, study.folder)
    found = assess_file(files, threat_of(study.settings), entropy=1)
    risk = found.risks[0]
    shown = {
        str(row.at["group"]).removeprefix("village "): row.quantity.counted[0]
        for row in rows
        if (row.role, row.name) == ("attack", "inference of ill")
    }
    scored, village = found.halves.scored, files.table.index("village")
    codes = files.coarse[scored, village]
    labels = [files.label("village", int(code)) for code in codes]
    hits, left = np.asarray(risk.real), set(range(len(scored)))
    known = {frozenset(left): shown.pop("")}
    for group, successes in shown.items():
        members = frozenset(k for k, label in enumerate(labels) if label == group)
        if members:
            known[members] = successes
            left -= members
    for group, successes in shown.items():
        if group not in labels:
            known[frozenset(left)] = successes
    few = [k for k, label in enumerate(labels) if labels.count(label) < 10]
    return hits, ~hits, known, few


STUDIES = [villages, one_between_two_schools, three_states, two_columns]


def attack(repeats, least):
    """Changed guesses and targets over all five studies."""
    pairs, targets, wrong = [], 0, 0
    for repeat in range(repeats):
        for place in range(len(STUDIES) + 1):
            rng = np.random.default_rng([repeat, place])
            case = of_file(rng, least) if place == 4 else of_table(STUDIES[place], rng, least)
            hits, second, known, few = case
            pairs += changed_guesses(hits, second, known, few)
            targets += len(few)
            wrong += sum(not hits[person] for person in few)
    return pairs, targets, wrong


def better(pairs):
    """P-value of the sign test that changed guesses are right more often than before."""
    gained = sum(now and not before for before, now in pairs)
    lost = sum(before and not now for before, now in pairs)
    return gained, lost, binomtest(gained, gained + lost, 0.5, alternative="greater").pvalue if (
        gained + lost) else 1.0  # fmt: skip


@pytest.mark.repeats(2, 40)
def test_with_the_page_nobody_in_a_small_group_is_guessed_better(repeats):
    gained, lost, p = better(attack(repeats, 10)[0])
    assert p > LEVEL, (gained, lost)


def test_the_same_attacker_reads_small_groups_off_where_they_are_shown():
    pairs, targets, wrong = attack(3, 1)
    gained, lost, p = better(pairs)
    assert p < LEVEL, (gained, lost)
    assert gained > 0.5 * wrong, (gained, wrong, targets)  # of those whom the guess gets wrong


def test_two_pages_of_the_same_people_are_subtracted():
    """What is not promised, as `docs/operate/security.md` says: no page knows of another one."""
    pairs, wrong = [], 0
    for repeat in range(8):
        rows, _ = one_between_two_schools(np.random.default_rng([repeat, 77]))
        known = {}
        for column in ("district", "school"):
            divided = {"groups": {"columns": [column], "least_group": 10}}
            hits, second, shown, _ = of_table(lambda _, more=divided: (rows, more), None, 10)
            known |= shown
        few = np.flatnonzero((rows.district != rows.school).to_numpy()).tolist()
        pairs += changed_guesses(hits, second, known, few)
        wrong += sum(not hits[person] for person in few)
    gained, lost, _ = better(pairs)
    assert lost == 0
    assert gained >= 0.9 * wrong > 0
