"""What disclosure control measures of a file: anonymity, diversity, uniqueness, risk."""

from narcissus.disclosure.classes import KeyClasses, key_classes
from narcissus.disclosure.measures import (
    FileMeasures,
    SecretMeasures,
    individual_risk,
    measure_disclosure,
    measure_table,
    population_uniques,
)

__all__ = [
    "FileMeasures", "KeyClasses", "SecretMeasures", "individual_risk", "key_classes",
    "measure_disclosure", "measure_table", "population_uniques",
]  # fmt: skip
