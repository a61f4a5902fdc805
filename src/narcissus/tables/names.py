"""What a column's name reveals: identifiers, secrets, common knowledge, codes of places.

Only English words and some codes of census files are known.
"""

from __future__ import annotations

import re

_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_a-zA-Z]+")


def _listed(text: str) -> frozenset[str]:
    return frozenset(text.split())


IDENTIFIES = _listed(
    "id ids uid uuid guid pid eid key rowid index unnamed ssn nino nhs mrn passport licence "
    "license iban account card email mail phone telephone tel mobile fax name surname firstname "
    "lastname fullname username login nickname address street url ip mac token hash serial number"
)
"""Words of columns that name a person, or a row."""

SECRET = _listed(
    "income incomes salary salaries wage wages wagp pincp pay earnings wealth assets debt debts "
    "loan credit savings balance tax welfare benefit benefits poverty bankrupt bankruptcy fraud "
    "esr employed unemployed diagnosis diagnoses disease illness ill sick condition symptom hiv "
    "aids std cancer tumor tumour diabetes diabetic stroke hypertension asthma covid depression "
    "depressed anxiety mental psychiatric suicide disability disabled pregnant pregnancy abortion "
    "medication medicine drug drugs alcohol smoker smoking smokes addiction treatment therapy "
    "genotype mutation religion religious faith politics political party vote voted votes union "
    "orientation gay lesbian sexual affair affairs divorce crime criminal conviction convicted "
    "arrest arrested prison offence offense recidivism recid victim violence abuse asylum"
)
"""Words of columns that people keep to themselves, or that the law calls sensitive."""

OUTCOME = _listed("outcome target label class result status default churn score grade y")
"""Words of columns that a study was made for."""

PUBLIC = _listed(
    "age agep sex gender male female race rac1p ethnicity ethnic birth born birthday birthdate dob "
    "zip zipcode postcode postal city town county state region country province district ward "
    "neighborhood neighbourhood area tract fips nationality nativity native citizenship cit "
    "language marital married mar marriage spouse husband wife children child kids household "
    "family relationship relp education educ schl school degree occupation job profession employer "
    "industry vehicle car housing tenure home height"
)
"""Words of columns that neighbours, colleagues or registers know."""

GROUPS = _listed("sex gender race rac1p ethnicity ethnic age agep nationality")
"""Words of columns whose values are groups that fairness asks about."""

CODES = _listed(
    "zip zipcode postcode postal fips tract code codes station area district ward plz ags"
)
"""Words of columns whose numbers are names of something: their distances mean nothing."""

MISSING_LIKE = _listed(
    "? - -- . unknown missing refused none_given not_stated not_available not_known dont_know dk "
    "n.a. n.d. unspecified -1 -7 -8 -9 -77 -88 -99 -777 -888 -999 -9999 77 88 97 98 99 777 888 997 "
    "998 999 7777 8888 9997 9998 9999 99999 999999 9999999"
)
"""Values that say that there is none; blanks as underscores, without apostrophes."""


def words(name: str) -> list[str]:
    """Split a column name into lower-case words: "HomeZipcode_2" is home, zipcode, 2."""
    whole = name.strip().lower()
    return [whole, *(word.lower() for word in _WORD.findall(name))]


def says(name: str, meaning: frozenset[str]) -> bool:
    return not meaning.isdisjoint(words(name))
