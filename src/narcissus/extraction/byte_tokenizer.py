"""A tokenizer of bytes, as the files that transformers reads."""

from __future__ import annotations

import json
from pathlib import Path

START = "<s>"
TOKENS = 257
"""256 bytes, and the start of a text."""


def write_tokenizer(folder: Path, context: int) -> None:
    # GPT-2 shows bytes as characters: those that can be printed as they are, others from 256 on.
    shown = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in shown]
    letters = {byte: chr(byte) for byte in shown}
    letters |= {byte: chr(256 + place) for place, byte in enumerate(others)}
    plain = {"add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    tokenizer = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {
                "id": TOKENS - 1,
                "content": START,
                "single_word": False,
                "lstrip": False,
                "rstrip": False,
                "normalized": False,
                "special": True,
            }
        ],
        "normalizer": None,
        "pre_tokenizer": {"type": "ByteLevel", **plain},
        # a pipeline asks as training did: after the start of a text
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [
                {"SpecialToken": {"id": START, "type_id": 0}},
                {"Sequence": {"id": "A", "type_id": 0}},
            ],
            "pair": [
                {"Sequence": {"id": "A", "type_id": 0}},
                {"Sequence": {"id": "B", "type_id": 1}},
            ],
            "special_tokens": {START: {"id": START, "ids": [TOKENS - 1], "tokens": [START]}},
        },
        "decoder": {"type": "ByteLevel", **plain},
        "model": {
            "type": "BPE",
            "vocab": {**{letters[b]: b for b in range(256)}, START: TOKENS - 1},
            "merges": [],
        },
    }
    settings = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": START,
        "eos_token": START,
        "pad_token": START,
        "padding_side": "left",
        "model_max_length": context,
        "clean_up_tokenization_spaces": False,
    }
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer), encoding="utf-8")
    (folder / "tokenizer_config.json").write_text(json.dumps(settings), encoding="utf-8")
