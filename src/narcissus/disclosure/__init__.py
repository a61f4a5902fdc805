"""What disclosure control measures of a file: anonymity, diversity, uniqueness, risk."""

from narcissus.disclosure.measures import (
    FileMeasures,
    KeyClasses,
    SecretMeasures,
    individual_risk,
    key_classes,
    measure_disclosure,
    measure_table,
    population_uniques,
)

__all__ = [
    "FileMeasures",
    "KeyClasses",
    "SecretMeasures",
    "individual_risk",
    "key_classes",
    "measure_disclosure",
    "measure_table",
    "population_uniques",
]
