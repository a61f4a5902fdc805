"""Tokenizers of others, as JSON: known parts are read, and nothing else."""

import copy
import json

import pytest

from narcissus.errors import InputError
from narcissus.extraction.tokenizer_files import (
    LARGEST_ID,
    checked_tokenizer,
    require_table_sizes,
)

GPT_4 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
GPT_2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
PUNCTUATION = (
    r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"""
)
TITLE_CASE = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}"
)
PUBLISHED = [
    *(GPT_2, GPT_4, PUNCTUATION, TITLE_CASE, "[0-9][0-9][0-9]", "[一-龥぀-ゟ゠-ヿ]+", "▁"),
    *(
        r"\p{N}{1,3}",
        r"(?=(\d{3})+(?!\d))",
        r"\d{1,3}(?=(?:\d{3})*\b)",
        " {2,}",
        r"(?<=[^ ])▁",
        r"\p{Han}|[^\p{Han}]+",
    ),
]
BYTES = {"add_prefix_space": False, "trim_offsets": True, "use_regex": False}
TOKENIZER = {
    "version": "1.0",
    "truncation": None,
    "padding": None,
    "added_tokens": [{"id": 0, "content": "<s>", "special": True, "normalized": False}],
    "normalizer": {"type": "Sequence", "normalizers": [{"type": "NFC"}]},
    "pre_tokenizer": {
        "type": "Sequence",
        "pretokenizers": [
            {"type": "Split", "pattern": {"Regex": GPT_4}, "behavior": "Isolated", "invert": False},
            {"type": "ByteLevel", **BYTES},
        ],
    },
    "post_processor": None,
    "decoder": {"type": "ByteLevel", **BYTES},
    "model": {"type": "BPE", "vocab": {"type": 1, "Regex": 2}, "merges": ["a b", ["a", "b"]]},
}


def changed(place, value):
    made = copy.deepcopy(TOKENIZER)
    inside = made
    for key in place[:-1]:
        inside = inside[key]
    inside[place[-1]] = value
    return made


def test_a_usual_tokenizer_is_read_as_it_is():
    assert checked_tokenizer(TOKENIZER, "m") == TOKENIZER


PATTERN = ("pre_tokenizer", "pretokenizers", 0, "pattern", "Regex")


@pytest.mark.parametrize("pattern", PUBLISHED)
def test_patterns_of_published_tokenizers_are_read(pattern):
    made = changed(PATTERN, pattern)
    assert checked_tokenizer(made, "m") == made


@pytest.mark.parametrize(
    "pattern",
    [r"(a)\1", r"\g<0>", r"\k<name>", "(?R)", "(?<name>a)", "(?{code})", "(*FAIL)a", "(?(1)a|b)",
     *(r"(\w+\s?)+~", "(?:a|a)*b", "(?:a?a?)*b", "(?:(?:a{1000}){1000}){1000}", "((a|b)c)+"),
     *(".?" * 16 + "~", "(?:.|[^~])" * 16 + "~"),
     *("a{5000}", r"(?<!\w)(\w+)+(?= )", "(?:a{1,99}){1,99}", "(?:a{99}){99}"),
     "(?~a)", r"\K", r"\Ra", "(?>a" + r"\y)", "a" * 20_000, "", None, ["a"], "[a[b]]", "\\"],
)  # fmt: skip
def test_a_pattern_that_refers_calls_or_never_ends_is_refused(pattern):
    with pytest.raises(InputError, match=r"in m has the pattern .* not read of others' models"):
        checked_tokenizer(changed(PATTERN, pattern), "m")


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (("code",), {"type": "Python"}, "has the part `code`"),
        (("normalizer", "type"), "Custom", "has a part of the kind `Custom`"),
        (("normalizer", "normalizers", 0, "type"), "Custom", "has a part of the kind `Custom`"),
        (("model", "type"), "Script", "has a part of the kind `Script`"),
        (("model",), None, "has no model"),
        (("model", "vocab", "a"), LARGEST_ID, "has the number 16,777,216"),
        (("added_tokens", 0, "id"), -LARGEST_ID, "has the number -16,777,216"),
        (("model", "dropout"), 0.1, "randomly"),
        (("model", "max_input_chars_per_word"), 16_000_000, "words of more than 1,000"),
        (("normalizer", "normalizers"), [{"type": "ByteLevel"}] * 4, "grow at each step"),
        (("padding",), {"strategy": {"Fixed": 2**40}}, "has the number"),
    ],
)
def test_an_unknown_part_and_a_giant_number_are_refused(place, value, message):
    with pytest.raises(InputError, match=message):
        checked_tokenizer(changed(place, value), "m")


@pytest.mark.models
@pytest.mark.parametrize("pattern", PUBLISHED)
def test_the_library_reads_what_is_let_through(pattern):
    import tokenizers

    made = changed(PATTERN, pattern) | {"model": {"type": "BPE", "vocab": {}, "merges": []}}
    made["added_tokens"] = []
    tokenizers.Tokenizer.from_str(json.dumps(checked_tokenizer(made, "m")))


def replacing(*pairs):
    made = [{"type": "Replace", "pattern": p, "content": c} for p, c in pairs]
    return changed(("normalizer", "normalizers"), made)


def test_texts_that_grow_at_each_replacement_are_refused():
    """Three replacements of a letter by thousands made gigabytes of a sentence."""
    bombs = [
        replacing(({"String": "e"}, "q" * 5000)),
        replacing(*[({"String": "e"}, "e" * 5)] * 3),
        replacing(({"Regex": "e?"}, "x" * 64)),
        replacing(({"String": ""}, "x" * 64)),
        changed(("decoder",), {"type": "Replace", "pattern": {"String": "e"}, "content": "q" * 99}),
    ]
    for bomb in bombs:
        with pytest.raises(InputError, match="grow at each step"):
            checked_tokenizer(bomb, "m")


def test_replacements_of_published_tokenizers_are_read():
    made = replacing(
        *[
            ({"String": "``"}, '"'),
            ({"String": "''"}, '"'),
            ({"String": " "}, "\N{LOWER ONE EIGHTH BLOCK}"),
        ]
        * 5,
        ({"Regex": " {2,}"}, " "),
        ({"String": "\n"}, "<|n|>"),
    )
    assert checked_tokenizer(made, "m") == made


def test_a_part_that_no_tokenizer_has_is_named_with_its_file(tmp_path):
    """The library said "expected `,` or `}`", and the study that the model crashed."""
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(TOKENIZER))
    require_table_sizes(path)
    path.write_text(json.dumps(TOKENIZER | {"notes": ["a letter"]}))
    with pytest.raises(InputError, match=r"tokenizer\.json holds `notes`"):
        require_table_sizes(path)
