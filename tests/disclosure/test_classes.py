"""Classes of equal known values: against printed numbers of sdcMicro, and against enumeration."""

import numpy as np
import pytest

from narcissus.disclosure import individual_risk, key_classes
from narcissus.disclosure import measures as of_classes
from narcissus.errors import TooLargeError

# The data and the output that sdcMicro 5.1.1 prints for `freqCalc`, `indivRisk` (help pages).
FRANCDAT = np.array([[1, 2, 5, 1], [1, 2, 1, 1], [1, 2, 1, 1], [3, 3, 1, 5], [4, 3, 1, 4],
                     [4, 3, 1, 1], [6, 2, 1, 5], [1, 2, 5, 1]])  # fmt: skip
WEIGHTS = np.array([18, 45.5, 39, 17, 541, 8, 5, 92])


def gaps_at(*cells, shape=(8, 4)):
    found = np.zeros(shape, bool)
    for cell in cells:
        found[cell] = True
    return found


def test_sdcmicro_prints_these_frequencies_and_risks_of_francdat():
    found = key_classes(FRANCDAT, weights=WEIGHTS)
    assert found.people[found.of_row].tolist() == [2, 2, 2, 1, 1, 1, 1, 2]
    assert found.population[found.of_row].tolist() == [110, 84.5, 84.5, 17, 541, 8, 5, 110]
    risk = individual_risk(found.people, found.population)[found.of_row]
    printed = [0.01714426, 0.02204233, 0.02204233, 0.17707583, 0.01165448, 0.29706308, 0.40235948,
               0.01714426]  # fmt: skip
    assert risk.round(8).tolist() == printed
    assert found.count(found.people < 2) == 4
    assert found.count(found.people < 3) == 8  # "4 obs. violate 2-anonymity, 8 violate 3-anonymity"


def test_sdcmicro_prints_these_frequencies_with_missing_values():
    missing = gaps_at((2, 2), (3, 0), (3, 1), (4, 3), (5, 0))
    found = key_classes(FRANCDAT, missing, weights=WEIGHTS)
    assert found.people[found.of_row].tolist() == [3, 2, 4, 3, 3, 2, 2, 3]
    assert found.population[found.of_row].tolist() == [149, 84.5, 194.5, 563, 566, 549, 22, 149]


@pytest.mark.parametrize(
    ("missing", "printed"),
    [
        ([], [0.01369863, 0.08579129, 0.01369863, 0.17707583, 0.01877883, 0.01877883, 0.03931625,
              0.01369863]),
        ([(7, 0), (2, 2), (6, 2)], [0.01369863, 0.085791288, 0.01055409, 0.032466112, 0.009836066,
                                    0.009836066, 0.039316254, 0.005973716]),
    ],
)  # fmt: skip
def test_sdcmicro_tests_its_individual_risk_by_these_numbers(missing, printed):
    codes = np.array([[2, 3, 2, 2, 3, 3, 1, 2], [3, 3, 3, 3, 3, 3, 4, 3], [1, 3, 1, 2, 1, 1, 1, 1]])
    weights = np.array([18, 45.5, 39, 17, 92, 8, 123.5, 51])
    found = key_classes(codes.T, gaps_at(*missing, shape=(8, 3)), weights=weights)
    risk = individual_risk(found.people, found.population)[found.of_row]
    assert risk == pytest.approx(printed, abs=6e-9)


def enumerated(codes, missing, units, weights):
    """Return for each row who may have its key, by comparing every two rows."""
    for one in range(len(codes)):
        may = [
            other
            for other in range(len(codes))
            if (missing[one] | missing[other] | (codes[one] == codes[other])).all()
            and (not missing[other].all() or missing[one].all())
        ]
        each = {units[other]: [] for other in may}
        for other in may:
            each[units[other]].append(weights[other])
        yield len(each), sum(np.mean(own) for own in each.values())


@pytest.mark.parametrize("seed", range(12))
def test_counts_of_people_are_those_of_comparing_every_two_rows(seed):
    g = np.random.default_rng(seed)
    shape = g.integers(2, 40), g.integers(1, 5)
    codes, missing = g.integers(0, 3, shape), g.random(shape) < g.choice([0, 0.2, 0.6])
    units = g.integers(0, max(2, shape[0] // 2), shape[0]) if seed % 2 else np.arange(shape[0])
    weights = g.choice([1.0, 2.5, 4.0], shape[0])
    found = key_classes(codes, missing, units=units, weights=weights)
    people, population = zip(*enumerated(codes, missing, units, weights), strict=True)
    assert found.people[found.of_row].tolist() == list(people)
    assert found.population[found.of_row] == pytest.approx(population)
    assert int(found.units.max()) + 1 == len(np.unique(units))


def test_rows_of_one_person_are_one_person():
    people = np.array([[0, 1], [1, 1], [2, 1]])
    once, thrice = key_classes(people), key_classes(
        np.repeat(people, 3, axis=0), units=np.repeat([7, 8, 9], 3)
    )  # fmt: skip
    assert thrice.people.tolist() == once.people.tolist()
    assert thrice.count(thrice.people < 2) == once.count(once.people < 2) == 3


def test_too_many_gaps_are_refused(monkeypatch):
    monkeypatch.setattr(of_classes, "MOST_PAIRS", 200)
    codes = np.arange(60).reshape(30, 2)
    with pytest.raises(TooLargeError, match="--missing value"):
        key_classes(codes, gaps_at(*[(i, i % 2) for i in range(30)], shape=(30, 2)))
