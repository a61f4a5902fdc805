"""What values say of a column whose name is in no English word list, and what is asked for."""

import numpy as np
import pandas as pd
import pytest

from narcissus.errors import InputError
from narcissus.kinds.table.meanings import meaning_of
from narcissus.kinds.table.propose import UnsureError, propose
from narcissus.tables.parts import sketch_table

PEOPLE = 600
RNG = np.random.default_rng(45)
AGES = RNG.integers(18, 90, PEOPLE)
SEXES = RNG.choice(["m", "w"], PEOPLE)
WEIGHTS = np.exp(RNG.normal(0, 0.4, PEOPLE))
WEIGHTS = (WEIGHTS / WEIGHTS.mean()).round(6)
HOUSEHOLDS = np.sort(RNG.integers(0, 300, PEOPLE)) * 7 + 1_000
CODES = RNG.choice(["E11.9", "I10", "F32.1", "J45.0", "M54.5", "C50.9", "K21.0", "G43.1"], PEOPLE)
WORDS = ["alt", "neu", "rot", "kalt", "warm", "leise", "laut", "gut"]
NOTES = [" ".join(RNG.choice(WORDS, 6)) for _ in range(PEOPLE)]
AMOUNTS = RNG.gamma(2, 900, PEOPLE).round(2)
SCHOOLS = RNG.integers(1, 12, PEOPLE)
ANSWERS = RNG.integers(1, 6, PEOPLE)
NUMBERS = RNG.permutation(10**5)[:PEOPLE] + 10**5

TABLES = {
    "german": (
        {"Fallnummer": NUMBERS, "Alter": AGES, "Geschlecht": SEXES, "Gewichtung": WEIGHTS,
         "Schule": SCHOOLS, "Nettoeinkommen": AMOUNTS, "Einkommen": AMOUNTS},
        "Nettoeinkommen",
    ),
    "german clinic": ({"Alter": AGES, "Geschlecht": SEXES, "Schluessel": CODES}, "Schluessel"),
    "german notes": ({"Alter": AGES, "Krankheit": ANSWERS, "Bemerkung": NOTES}, "Krankheit"),
    "german survey": ({"Alter": AGES, "Frage1": ANSWERS, "Hochrechnung": WEIGHTS}, None),
    "french": (
        {"âge": AGES, "sexe": SEXES, "salaire": AMOUNTS, "pondération": WEIGHTS}, "salaire"
    ),
    "french clinic": ({"âge": AGES, "sexe": SEXES, "motif": CODES}, "motif"),
    "french school": ({"âge": AGES, "école": SCHOOLS, "réponse": ANSWERS}, None),
    "spanish": (
        {"edad": AGES, "sexo": SEXES, "hogar_num": HOUSEHOLDS, "enfermedad": ANSWERS},
        "enfermedad",
    ),
    "spanish survey": ({"edad": AGES, "factor": WEIGHTS, "pregunta": ANSWERS}, None),
    "turkish": ({"yaş": AGES, "cinsiyet": SEXES, "gelir": AMOUNTS, "hane": HOUSEHOLDS}, "gelir"),
    "turkish clinic": ({"yaş": AGES, "kod": CODES, "açıklama": NOTES}, "kod"),
    "japanese": ({"年齢": AGES, "性別": SEXES, "年収": AMOUNTS, "ウェイト": WEIGHTS}, "年収"),
    "japanese survey": ({"年齢": AGES, "問1": ANSWERS, "重み": WEIGHTS}, None),
    "cigarettes": ({"state": SCHOOLS, "price": AMOUNTS, "tax": AMOUNTS + 1, "packs": AGES}, None),
}  # fmt: skip


def sketched(columns):
    return sketch_table(pd.DataFrame(columns))


@pytest.mark.parametrize("name", TABLES)
def test_a_secret_is_proposed_where_it_is_sure_and_asked_for_elsewhere(name):
    columns, secret = TABLES[name]
    if secret is None:
        with pytest.raises(UnsureError, match=r"--unknown COLUMN, with COLUMN of "):
            propose(sketched(columns), stand_in=False)
        return
    found = propose(sketched(columns), stand_in=False)
    assert found.unknown[0] == secret


@pytest.mark.parametrize("name", TABLES)
def test_no_weight_code_of_people_or_text_is_proposed_or_known(name):
    columns, _ = TABLES[name]
    found = propose(sketched(columns))
    kept = {column.name for column in found.columns}
    for column, values in columns.items():
        if values is WEIGHTS or values is NOTES or values is HOUSEHOLDS or values is NUMBERS:
            assert column in found.drop, column
            assert column not in kept


def column(values):
    [found] = sketched({"c": values}).head
    return meaning_of(found)


def test_values_tell_what_a_column_is():
    population = np.exp(RNG.normal(0, 0.3, PEOPLE)) * 1500
    population = (population / population.sum() * 900_000).round(4)
    population[0] += 900_000 - population.sum()
    assert column(WEIGHTS) == "weight"
    assert column(population.round(4)) == "weight"
    assert column([f"{weight:.4f}".replace(".", ",") for weight in WEIGHTS]) == "weight"
    assert column(CODES) == "diagnosis"
    assert column(NOTES) == "free text"
    assert column(["眠れない日が続いている" + str(i) for i in range(PEOPLE)]) == "free text"
    assert column(HOUSEHOLDS) == "group"


@pytest.mark.parametrize(
    "values",
    [
        AGES,
        AMOUNTS,
        ANSWERS,
        SEXES,
        RNG.normal(1.0, 0.3, PEOPLE).round(2),  # a laboratory's, with a mean of 1
        RNG.normal(0, 1, PEOPLE),
        np.sort(AGES),
        RNG.choice(["New York City", "Los Angeles County", "San Jose Area"], PEOPLE),
        RNG.permutation(HOUSEHOLDS),
        RNG.choice(["A1", "B2", "C3", "D4", "E5", "F6"], PEOPLE),
    ],
)
def test_ordinary_columns_are_none_of_these(values):
    assert column(values) == ""


def test_the_error_names_the_option_and_the_candidates():
    with pytest.raises(InputError, match="--unknown COLUMN, with COLUMN of Frage1, Frage2"):
        propose(sketched({"Frage1": ANSWERS, "Frage2": ANSWERS[::-1].copy()}), stand_in=False)
