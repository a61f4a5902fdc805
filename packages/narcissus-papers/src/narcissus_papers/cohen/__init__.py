"""Cohen et al. 2024, Data Reconstruction (003, first version 000): figures and statements."""

from narcissus_papers.base import Item
from narcissus_papers.cohen.baselines import BASELINES, PREDICATES
from narcissus_papers.cohen.complexity import COMPLEXITY
from narcissus_papers.cohen.cryptography import CRYPTOGRAPHY, PROTOCOLS, VERIFIERS, VERIFIERS_DRAWN
from narcissus_papers.cohen.privacy import COMPOSITION, PRIVACY
from narcissus_papers.cohen.scaling import COUNTING, COVERING, SCALING

ALL: tuple[Item, ...] = (
    *BASELINES,
    *PREDICATES,
    *PRIVACY,
    *CRYPTOGRAPHY,
    *PROTOCOLS,
    *COMPOSITION,
    *COMPLEXITY,
    *COUNTING,
    *SCALING,
    *COVERING,
    *VERIFIERS,
    *VERIFIERS_DRAWN,
)
"""What of this paper can be made again."""
