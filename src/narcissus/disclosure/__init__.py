"""What disclosure control measures of a file: anonymity, diversity, uniqueness, risk."""

from narcissus.disclosure.classes import KeyClasses, key_classes
from narcissus.disclosure.diversity import SecretMeasures
from narcissus.disclosure.measures import FileMeasures, measure_disclosure, measure_table
from narcissus.disclosure.uniques import individual_risk, population_uniques

__all__ = [
    "FileMeasures", "KeyClasses", "SecretMeasures", "individual_risk", "key_classes",
    "measure_disclosure", "measure_table", "population_uniques",
]  # fmt: skip
