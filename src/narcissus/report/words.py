"""Words that need a definition, and where a text has one."""

from __future__ import annotations

import re
from collections.abc import Iterator

from narcissus.report.format import GRADES

TERMS: dict[str, str] = {
    "attack": "a procedure that looks at the release and names what it takes to be true of a "
    "target",
    "baseline": "what the very same attempts score on people or data that had no part in the "
    "release",
    "ceiling": "what an attacker recovers who is also told everybody else's secrets",
    "group": "people of one value of a column, or documents of one number of copies",
    "prior": "how likely each value is, without the release",
    "proved limit": "what a theorem shows that no attacker exceeds, if its conditions hold",
    "release": "what is given away: tables, a synthetic file, a trained model, an output",
    "target": "a person, document or image that the attacker is after",
    "threshold": "the most that the person who approves the release accepts, set beforehand",
    "trial": "one run of the whole game: draw the people, make the release, attack it",
}
"""The ten terms, one word for one thing; a report links each where it is first used."""
MEANINGS: dict[str, str] = TERMS | {
    "advantage": "the part that is recovered of what could not be guessed without the release: "
    "(success - guess) / (1 - guess)",
    "Bayes risk": "how often the best attacker, who sees the output, is wrong",
    "Bayes security": "1 if nothing leaks, 0 if some two secrets are told apart for sure: twice "
    "the error in telling the two that are easiest to tell apart",
    "Bonferroni": "all claims share the error that is allowed, so that they hold together",
    "canary": "an invented record, put among the training data to see whether it comes out",
    "channel": "for each secret, how likely each output is",
    "control": "people of the same population whose records had no part in the release",
    "decoy": "a release of other secrets by the same mechanism; what an attack gets right from it, "
    "it does not owe to the release",
    "delta": "a probability that is allowed beyond the factor e^epsilon; 0 is strictest",
    "DP": "differential privacy: one record more, less or replaced changes how likely an outcome "
    "is by a factor of at most e^epsilon, but for delta",
    "epsilon": "the factor e^epsilon is how many times likelier the release may make something; "
    "0 is strictest",
    "excess": "how much more often people of the data are hit than people of the control",
    "fresh": "drawn as the data were, with no part in the release",
    "gain": "success less what the very same attempts score on people or data that had no part in "
    "the release; where an epsilon is named, less e^epsilon times that",
    "leakage": "what the output tells about the secret: how many times likelier the right guess "
    "becomes with it, where no other measure is named",
    "limits": "between them the true number lies, with the confidence that is named",
    "marginals": "tables that count people by a few columns",
    "mechanism": "the procedure that makes the release from the data",
    "mu": "a privacy level: two data sets that differ in one record are as hard to tell apart as "
    "two bell curves mu standard deviations apart; 0 is strictest",
    "p-value": "how likely such a result, or a stronger one, would be if there were nothing to see",
    "points": "percentage points: from 50% to 53% is 3 points",
    "posterior": "how likely each value is, given the release",
    "quality": "1 less the length of the program over that of the shortest one that needs no "
    "release; near 1, the data come from the release",
    "resilient": "whatever an attacker names, it fits the data not much more often than fresh data",
    "shadow": "trained, or drawn, in the same way by the attacker, to learn from",
}
_FORMS = {
    **{form: word for word in MEANINGS for form in (word.lower(), f"{word.lower()}s")},
    **{"ε": "epsilon", "μ": "mu", "canaries": "canary", "resiliency": "resilient"},
}
_OTHER = {  # the same letters, meaning something else: a verb, points of a curve, ...
    "limits": r"(?<=% )|(?<=confidence )|(?<=within )|(?<=its )|^",
    "points": r"(?<=\d )|(?<=, )(?=points$)",
    "attacks": r"(?<!whoever )",
    "channel": r"(?<!side )",
    "channels": r"(?<!side )",
    "gain": r"(?<!non-negative )",
    "control": r"(?<!access )",
    "controls": r"(?!)",
}
_WORD = re.compile(
    r"(?<![\w`^-])(?:"
    + "|".join(
        f"(?:{_OTHER.get(form, '')}){re.escape(form)}"
        for form in sorted(_FORMS, key=len, reverse=True)
    )
    + r")(?![\w`^-])",
    re.IGNORECASE,
)


def words_in(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the words that need a definition: where each begins and ends, and its entry.

    An entry is a key of `MEANINGS`, or a grade as `meaning_of` takes it.
    """
    for match in _WORD.finditer(text):
        yield match.start(), match.end(), _FORMS[match[0].lower()]


def meaning_of(entry: str) -> str:
    """Describe what a word, or a grade, means."""
    return (MEANINGS | {**GRADES})[entry]
