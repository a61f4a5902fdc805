"""Cohen et al. 2024, Data Reconstruction (003, first version 000): figures and statements."""

from narcissus.reproduce.base import Item
from narcissus.reproduce.cohen.baselines import BASELINES
from narcissus.reproduce.cohen.complexity import COMPLEXITY
from narcissus.reproduce.cohen.composition import COMPOSITION
from narcissus.reproduce.cohen.counting import COUNTING
from narcissus.reproduce.cohen.covering import COVERING
from narcissus.reproduce.cohen.cryptography import CRYPTOGRAPHY
from narcissus.reproduce.cohen.guessing import GUESSING
from narcissus.reproduce.cohen.predicates import PREDICATES
from narcissus.reproduce.cohen.privacy import PRIVACY
from narcissus.reproduce.cohen.protocols import PROTOCOLS
from narcissus.reproduce.cohen.scaling import SCALING
from narcissus.reproduce.cohen.verifiers import VERIFIERS

ALL: tuple[Item, ...] = (
    *BASELINES,
    *PREDICATES,
    *PRIVACY,
    *CRYPTOGRAPHY,
    *PROTOCOLS,
    *COMPOSITION,
    *COMPLEXITY,
    *GUESSING,
    *COUNTING,
    *SCALING,
    *COVERING,
    *VERIFIERS,
)
"""What of this paper can be made again."""
