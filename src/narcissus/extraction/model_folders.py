"""Folders of models that others made, read by an allow-list.

A library never gets a stranger's folder. It gets a private one, in which are the files that this
module knows and nothing else: configurations that were parsed, checked and written anew, the
tokenizer's tables, and links to the weights, which are safetensors. What a configuration may name
is checked before: no code, no kernel, no address and no file outside. No library opens what is not
on the list. Whoever gets the folder could, so the folder is refused where that is more than texts
and pictures (`narcissus.extraction.model_contents`), unless the user declares that it is not
published.
"""

from __future__ import annotations

import json
import math
import re
import shutil
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from narcissus._files import OF_MISTAKES, file_size, read_bytes
from narcissus._scratch import scratch_folder
from narcissus.errors import InputError
from narcissus.extraction.files import (
    Header,
    headers_of,
    metadata_of,
    refuse_links,
    refuse_pickle,
)
from narcissus.extraction.model_contents import (
    LARGEST_NOTE,
    LARGEST_TEXT,
    NONE_DECLARED,
    TABLES,
    Unpublished,
    is_table,
    other_files,
)
from narcissus.extraction.model_weights import (
    index_of,
    map_of,
    require_one_place,
    settings_of,
    weights_of,
)
from narcissus.extraction.tokenizer_files import require_table_sizes

CONFIGURATIONS = frozenset(
    {
        *("config.json", "generation_config.json", "tokenizer_config.json"),
        *("preprocessor_config.json", "scheduler_config.json", "model_index.json"),
    }
)
"""Parsed, checked, and written anew."""
LONGEST_NUMBER = 2**24
"""Largest whole number that a configuration may hold: sizes and numbers of tokens are below."""
_ADAPTER = "adapter_config.json"
_CODE = frozenset({"auto_map", "custom_pipelines", "custom_pipeline", "custom_generate"})
_OTHER_FILES = frozenset(
    {
        *("transformers_weights", "configuration_files", "fast_tokenizer_files", "gguf_file"),
        *("variant", "subfolder", "weight_name", "safetensors_file", "checkpoint_file"),
        *("adapter_name_or_path", "peft_config", "_adapter_model_path", "weights_name"),
    }
)
"""By which a library reads another file than the usual one, or one more."""
_LEFT_OUT = frozenset(
    {
        *("_name_or_path", "name_or_path", "base_model_name_or_path"),
        *("chat_template", "trust_remote_code", "use_kernels"),
    }
)
"""Not handed on: where a model once was, and what is not asked of it here."""
_KERNELS = frozenset({"eager", "sdpa", "batched_mm", "grouped_mm"})
"""What computes attention and experts by PyTorch as it is: others are compiled or fetched."""
_FREE_TEXT = frozenset(
    {
        *("added_tokens_decoder", "additional_special_tokens", "extra_special_tokens"),
        *("id2label", "label2id", "task_specific_params"),
    }
)
_UNBOUNDED = re.compile(r"max_length|theta")
"""Numbers that nothing is laid out by, and that are huge in good models."""
_TOKEN = re.compile(r"\w+_token$")
_PLACE = re.compile(r"[/\\~]|[A-Za-z]:[\\/]|(?:.*[/\\])?\.\.(?:[/\\]|$)|.*://", re.DOTALL)
_LAYERS = re.compile(
    r"n_layers?|num_(?:hidden_|encoder_|decoder_)?layers|(?:encoder|decoder)_layers|n_blocks"
    r"|num_blocks|layers_per_block|num_hidden_groups"
)
_EMBEDDED = frozenset({"vocab_size", "n_positions", "n_embd", "hidden_size", "d_model", "n_inner"})
"""Sizes of arrays that every model with the key has."""

_COUNTS = _EMBEDDED | {
    *("n_layer", "n_layers", "num_layers", "num_hidden_layers", "n_head", "n_heads", "num_heads"),
    *("num_attention_heads", "num_key_value_heads", "head_dim"),
}
"""Numbers of which a language model has at least one."""


def checked_settings(path: Path) -> dict[str, Any]:
    """Read a configuration without what is not handed on.

    Raises InputError: it names code, a kernel, an address, a file outside of the folder, weights
        that are packed by another library, or a number above `LONGEST_NUMBER`.
    """
    settings = settings_of(path)
    _require_short(path, {key: part for key, part in settings.items() if key not in _FREE_TEXT})
    return checked_values(path, settings)


def _require_short(path: Path, content: Any, of: str = "settings") -> None:
    """Refuse what is as long as weights in letters."""
    if (size := len(json.dumps(content))) > LARGEST_NOTE:
        raise InputError(
            f"{path} holds {of} of {size:,} bytes besides its tokens, and at most "
            f"{LARGEST_NOTE:,} are read: more may be weights in letters, which whoever gets the "
            "folder would have; take them out"
        )


def checked_values(path: Path, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Check a configuration as `checked_settings` does; its path is for messages."""
    return cast("dict[str, Any]", _checked(path, dict(settings)))


def _checked(path: Path, value: Any, key: str = "") -> Any:
    if key in _FREE_TEXT or _TOKEN.search(key):
        return value
    if isinstance(value, dict):
        entries = cast("dict[str, Any]", value)
        for name in entries:
            _refuse_key(path, name, entries[name])
        return {
            name: _checked(path, part, name)
            for name, part in entries.items()
            if name not in _LEFT_OUT and not name.endswith("_file")
        }
    if isinstance(value, list):
        return [_checked(path, part, key) for part in cast("list[Any]", value)]
    if isinstance(value, str) and _PLACE.match(value):
        raise InputError(
            f"{path}: `{key}` names a place, {value[:80]!r}: a model may name nothing outside of "
            "its folder"
        )
    if isinstance(value, float) and math.isnan(value):
        raise InputError(f"{path}: `{key}` is NaN, which is no number")
    if isinstance(value, int) and abs(value) > LONGEST_NUMBER and not _UNBOUNDED.search(key):
        raise InputError(
            f"{path}: `{key}` is {value:,}, and no size of a model may be above {LONGEST_NUMBER:,}"
        )
    return value


def _refuse_key(path: Path, key: str, value: Any) -> None:
    if key in _CODE:
        raise InputError(
            f"the model in {path.parent} brings its own code (`{key}` in {path.name}), which is "
            "never run here: use a model of an architecture that transformers knows"
        )
    if key in _OTHER_FILES and value is not None:
        raise InputError(
            f"{path}: `{key}` names other files than the usual ones, {str(value)[:80]!r}, and some "
            "programs read them: give the files their usual names, and remove the key"
        )
    if "attn_implementation" in key or "experts_implementation" in key or "kernel_config" in key:
        names = cast("dict[str, Any]", value).values() if isinstance(value, dict) else [value]
        for name in names:
            if name is not None and not (isinstance(name, str) and name in _KERNELS):
                raise InputError(
                    f"{path}: `{key}` asks for a kernel, {str(name)[:80]!r}, and only "
                    f"{', '.join(sorted(_KERNELS))} are run here: remove the key"
                )
    if key == "quantization_config" and value is not None:
        if not isinstance(value, dict) or not value:
            raise InputError(
                f"{path}: `{key}` is {str(value)[:80]!r}, which names no way of packing weights: "
                "remove the key"
            )
        raise InputError(
            f"{path}: the weights are packed by another library (`{key}`): save the model unpacked"
        )


def require_sizes(path: Path, settings: Mapping[str, Any], headers: list[Header]) -> None:
    """Refuse a configuration that asks for more than the weights hold, before a model is made."""
    values = sum(header.count for header in headers)
    for key, number in _numbers(settings):
        if _LAYERS.fullmatch(key) and number > len(headers):
            raise InputError(
                f"{path} asks for {number:,} layers (`{key}`), and the weights are "
                f"{len(headers):,} arrays: it is not the configuration of these weights"
            )
        if key in _EMBEDDED and number > values:
            raise InputError(
                f"{path} has `{key}` {number:,}, and the weights hold {values:,} values in all: it "
                "is not the configuration of these weights"
            )


def _numbers(value: Any, key: str = "") -> Iterator[tuple[str, int]]:
    if isinstance(value, dict):
        for name, part in cast("dict[str, Any]", value).items():
            yield from _numbers(part, name)
    elif isinstance(value, list):
        for part in cast("list[Any]", value):
            yield from _numbers(part, key)
    elif isinstance(value, int) and not isinstance(value, bool):
        yield key, value


@dataclass(frozen=True)
class ModelFiles:
    """What a library may read of one folder, checked."""

    settings: Mapping[str, dict[str, Any]]
    """Configurations by the names of their files."""
    tables: tuple[Path, ...]
    weights: tuple[Path, ...]
    values: int
    """Numbers in the weights."""
    others: tuple[str, ...] = ()
    """Texts and pictures next to the model, which nobody reads."""

    @property
    def size(self) -> int:
        """Bytes of the weights."""
        return sum(path.stat().st_size for path in self.weights)

    def read_from(self, folder: Path) -> list[Path]:
        """Return the files that were read, of the folder that they were read from."""
        return [*(folder / name for name in self.settings), *self.tables, *self.weights]

    def names(self, folder: Path) -> set[str]:
        """Return the names of what was read, and of what is harmless next to it."""
        return {
            *(path.relative_to(folder).as_posix() for path in self.read_from(folder)),
            *self.others,
        }

    def write(self, target: Path) -> None:
        target.mkdir(parents=True, exist_ok=True)
        for name, settings in self.settings.items():
            (target / name).write_text(json.dumps(settings), encoding="utf-8")
        for path in self.tables:
            shutil.copyfile(path, target / path.name)
        for path in self.weights:
            (target / path.name).symlink_to(path.resolve())


def read_model_files(folder: Path, unpublished: Unpublished = NONE_DECLARED) -> ModelFiles:
    """Read what is on the list of a folder, and check it.

    unpublished: what is declared of this folder.
    Raises InputError: as `checked_settings`, `weights_of` and `require_sizes` say, or the folder
        changes another model.
    """
    if (folder / _ADAPTER).exists() and not unpublished.holds(_ADAPTER):
        raise InputError(
            f"{folder} holds an adapter ({_ADAPTER}), which changes another model: merge both, and "
            "save the result; or declare it in [model] as `unpublished`"
        )
    names = [name for name in sorted(CONFIGURATIONS) if (folder / name).exists()]
    settings = {name: checked_settings(folder / name) for name in names}
    tables = tuple(folder / name for name in sorted(TABLES) if (folder / name).exists())
    for path in tables:
        if file_size(path, largest=LARGEST_TEXT) == 0:
            raise InputError(f"{path} is empty: it should hold a part of the tokenizer")
        require_table_sizes(path)
        if not is_table(path, read_bytes(path, largest=LARGEST_TEXT)):
            raise InputError(
                f"{path} is no part of a tokenizer, which is a text, or a model of SentencePiece"
            )
    weights = weights_of(folder, unpublished)
    for path in weights:
        refuse_pickle(path)
    by_file = {path: headers_of(path) for path in weights}
    for path in weights:
        if path.suffix == ".safetensors":
            _require_short(path, metadata_of(path), "metadata")
    index = index_of(folder, unpublished)
    require_one_place(by_file, index)
    headers = [header for arrays in by_file.values() for header in arrays]
    if weights:
        require_sizes(folder / "config.json", settings.get("config.json", {}), headers)
    if index is not None:
        rest = {key: part for key, part in settings_of(index).items() if key != "weight_map"}
        _require_short(index, rest, "metadata")
        settings[index.name] = {"metadata": {}, "weight_map": map_of(index)}
    values = sum(header.count for header in headers)
    return ModelFiles(settings, tables, tuple(weights), values)


_MISTAKES = {error.__name__ for kind in OF_MISTAKES for error in (kind, *kind.__subclasses__())}


def reason_of_crash(error: str, otherwise: str) -> str:
    """Return why a library ended that read or ran a model, in words about the model.

    error: what it wrote on standard error. otherwise: where it wrote nothing.
    """
    lines = error.strip().splitlines()
    if not lines:
        return otherwise
    if "not recognize this architecture" in error:
        return "its `model_type` is none that the installed transformers knows"
    if "tiktoken" in lines[-1] or "pip install" in lines[-1]:
        return "its tokenizer is damaged, or is of a kind that needs another package"
    if lines[-1].partition(":")[0].strip() in _MISTAKES:
        return "a file of it is damaged, or holds something that its reader does not expect"
    return lines[-1][:300]


def check_model_folder(path: Path) -> int:
    """Refuse a folder without a model that can be read safely; return the bytes of the weights.

    Raises InputError: it is missing, has no ``config.json`` or no weights in safetensors, holds
        more than one model, or asks for code, a kernel, an address or a file outside of it.
    """
    return language_model_files(path).size


def language_model_files(
    path: Path, unpublished: Sequence[str] = (), *, is_published: bool = True
) -> ModelFiles:
    """Read what is on the list of a language model's folder, as `check_model_folder` does.

    unpublished: files and folders in it that are not published; they are not opened.
    is_published: whether the others are, so that whoever gets them has all of them.
    """
    if not path.is_dir():
        raise InputError(f"no such model folder: {path}")
    if not (path / "config.json").is_file():
        raise InputError(f"the folder {path} is no model: it has no config.json")
    declared = Unpublished(tuple(unpublished))
    refuse_links(path, declared.holds)
    files = read_model_files(path, declared)
    if not files.weights:
        raise InputError(
            f"the model folder {path} has no weights: model.safetensors is needed, or its index "
            "(a .bin file is a pickle and is not read; save the model with "
            "`save_pretrained(folder, safe_serialization=True)`)"
        )
    _require_language_model(path / "config.json", files.settings["config.json"])
    if not is_published:
        return files
    return replace(files, others=other_files(path, files.read_from(path), declared))


def _require_language_model(path: Path, settings: Mapping[str, Any]) -> None:
    """Refuse what no causal language model says of itself, in words rather than a library's.

    path: of the configuration, for messages.
    """
    if settings.get("is_encoder_decoder") is True:
        raise InputError(
            f"the model in {path.parent} is no causal language model: its encoder reads a whole "
            "text before its decoder writes (`is_encoder_decoder`)"
        )
    texts = settings.get("text_config")
    if isinstance(texts, dict):
        _require_language_model(path, cast("dict[str, Any]", texts))
    for key, value in settings.items():
        layers, smallest = bool(_LAYERS.fullmatch(key)), int(key in _COUNTS)
        if not layers and key not in _COUNTS:
            continue
        if value is None or (isinstance(value, list) and not layers and key not in _EMBEDDED):
            continue
        if type(value) is not int or value < smallest:
            raise InputError(
                f"{path}: `{key}` is {str(value)[:80]!r}, and must be a whole number, "
                f"{smallest} or more"
            )


@contextmanager
def staged(parts: Mapping[str, ModelFiles]) -> Generator[Path]:
    """Yield a private folder with what a library may read of a model.

    parts: the checked files of each folder in it; "" is the folder itself.
    """
    with scratch_folder() as place:
        for name, files in parts.items():
            files.write(place / name)
        yield place
