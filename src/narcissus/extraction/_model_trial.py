"""The inside of the sandbox for a stranger's model: lay it out without memory, read its tokenizer.

It gets the staged folder without weights as ``release`` and prints, as JSON, how many parameters
the model has, how many bytes of buffers, and its tokenizers as ``tokenizer.json`` with settings.
Whatever a configuration makes a library do is done here first, under the limits on memory and
time, and without network and files of others. The files of a tokenizer are read here alone.
"""

import importlib
import json
import os
import tempfile
from pathlib import Path
from typing import Any

LOCAL = {"local_files_only": True, "trust_remote_code": False}


TOKENIZER = ("tokenizer.json", "tokenizer_config.json")


def saved(tokenizer: Any) -> dict[str, Any]:
    """Return a tokenizer as the files of a folder, parsed."""
    with tempfile.TemporaryDirectory() as place:
        tokenizer.save_pretrained(place)
        paths = [Path(place, name) for name in TOKENIZER]
        return {path.name: json.loads(path.read_bytes()) for path in paths if path.exists()}


def language(folder: Path, torch: Any, transformers: Any) -> tuple[list[Any], dict[str, Any]]:
    config = transformers.AutoConfig.from_pretrained(folder, **LOCAL)
    if type(config) not in transformers.AutoModelForCausalLM._model_mapping:
        raise SystemExit(
            f"refused: is no causal language model: transformers {transformers.__version__} knows "
            f"none of the type `{config.model_type}`, which writes a text token after token"
        )
    with torch.device("meta"):
        model = transformers.AutoModelForCausalLM.from_config(config, trust_remote_code=False)
    return [model], {"": saved(read_tokenizer(folder, transformers))}


def read_tokenizer(folder: Path, transformers: Any) -> Any:
    try:
        return transformers.AutoTokenizer.from_pretrained(folder, **LOCAL)
    except Exception as error:
        if type(error) is Exception:  # as the library in Rust says whatever it meets
            raise SystemExit(
                f"refused: has a tokenizer that cannot be read, tokenizer.json: {error}"
            ) from error
        if "tiktoken" not in str(error):
            raise
        # which the library asks for, whatever is wrong with the files
        names = sorted(path.name for path in folder.glob("*.model"))
        if names and not (folder / "tokenizer.json").exists():
            raise SystemExit(
                f"refused: has a tokenizer that cannot be read: {names[0]} is damaged, or of "
                "another format than SentencePiece; save a tokenizer.json next to the model, with "
                "`tokenizer.save_pretrained(folder)`"
            ) from error
        raise SystemExit(
            "refused: has no tokenizer that can be read: save a tokenizer.json next to the model, "
            "with `tokenizer.save_pretrained(folder)`"
        ) from error


def images(folder: Path, torch: Any, transformers: Any) -> tuple[list[Any], dict[str, Any]]:
    diffusers: Any = importlib.import_module("diffusers")
    models: list[Any] = []
    tokenizers: dict[str, Any] = {}
    for name, entry in json.loads((folder / "model_index.json").read_text()).items():
        if not isinstance(entry, list) or entry[0] is None or not (folder / name).is_dir():
            continue
        part: Any = getattr(diffusers if entry[0] == "diffusers" else transformers, entry[1], None)
        if isinstance(part, type) and issubclass(part, diffusers.ModelMixin):
            with torch.device("meta"):
                models.append(part.from_config(part.load_config(folder / name)))
        elif isinstance(part, type) and issubclass(part, transformers.PreTrainedModel):
            config = part.config_class.from_pretrained(folder / name, **LOCAL)
            with torch.device("meta"):
                models.append(part(config))
        elif part is not None:
            made = part.from_pretrained(folder / name)
            if isinstance(made, transformers.PreTrainedTokenizerBase):
                tokenizers[name] = saved(made)
    return models, tokenizers


def main() -> None:
    os.environ |= {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_VERBOSITY": "error"}
    torch: Any = importlib.import_module("torch")
    transformers: Any = importlib.import_module("transformers")
    here = Path("release")
    lay_out = images if (here / "model_index.json").exists() else language
    models, tokenizers = lay_out(here, torch, transformers)
    parameters = [part.numel() for model in models for part in model.parameters()]
    buffers = [part.numel() * part.element_size() for model in models for part in model.buffers()]
    sizes = {"parameters": sum(parameters), "buffers": sum(buffers)}
    print(json.dumps({**sizes, "tokenizers": tokenizers}))


if __name__ == "__main__":
    main()
