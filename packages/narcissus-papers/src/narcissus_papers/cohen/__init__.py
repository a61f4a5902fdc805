"""Cohen et al. 2024, Data Reconstruction (003, first version 000): figures and statements."""

from narcissus_papers.base import Item
from narcissus_papers.cohen.baselines import BASELINES
from narcissus_papers.cohen.complexity import COMPLEXITY
from narcissus_papers.cohen.composition import COMPOSITION
from narcissus_papers.cohen.counting import COUNTING
from narcissus_papers.cohen.covering import COVERING
from narcissus_papers.cohen.cryptography import CRYPTOGRAPHY
from narcissus_papers.cohen.guessing import GUESSING
from narcissus_papers.cohen.predicates import PREDICATES
from narcissus_papers.cohen.privacy import PRIVACY
from narcissus_papers.cohen.protocols import PROTOCOLS
from narcissus_papers.cohen.scaling import SCALING
from narcissus_papers.cohen.verifiers import VERIFIERS, VERIFIERS_DRAWN

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
    *VERIFIERS_DRAWN,
)
"""What of this paper can be made again."""
