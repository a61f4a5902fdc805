"""A secret's prior from a language model in a local folder: the likelihood in a context.

Source: Swanberg et al. 2025, section 5.1.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import numpy as np

from narcissus._options import BesideStudy, FilledIn
from narcissus.errors import InputError
from narcissus.extraction.huggingface import HuggingFaceGenerator
from narcissus.extraction.ngram import model_prior
from narcissus.priors.secrets import MOST, SecretPrior, read_values


def language_model_secret(
    model: Annotated[str, BesideStudy()],
    candidates: Annotated[str, BesideStudy()],
    text: str = "{}",
    weight: Literal["likelihood", "perplexity"] = "likelihood",
    n: int | None = None,
    folder: Annotated[str, FilledIn()] = ".",
) -> SecretPrior:
    """Build the prior of a language model for candidates in a given text (extra `language`).

    Parameters
    ----------
    model
        Folder with `config.json`, `*.safetensors` and a tokenizer; nothing is downloaded, and
        pickled weights are refused.
    candidates
        File with a value a line.
    text
        Text around the secret; `{}` is its place.
    weight
        `likelihood`: the probability of the whole text, which the model implies; `perplexity`: its
        reciprocal perplexity, as published, which is flatter.
    n
        Keep only this many of the likeliest, scaled up to 1; all if left out.

    Raises
    ------
    InputError
        The folder holds no model in safetensors, or the file not 2 to 10,000 different values.
    MissingExtraError
        torch or transformers is not installed.
    """
    place = Path(folder)
    known = list(dict.fromkeys(value for value, _ in read_values(place / candidates)))
    if not 2 <= len(known) <= MOST:
        raise InputError(
            f"`candidates` must be a file of 2 to {MOST:,} different values, got {len(known):,}"
        )
    chances = model_prior(HuggingFaceGenerator(place / model), known, template=text, weight=weight)
    order = np.argsort(-chances, kind="stable")[: n or len(known)]
    said = f"{len(order)} values as the model {Path(model).name} expects them"
    return SecretPrior.weighed(chances[order], [known[i] for i in order], said)
