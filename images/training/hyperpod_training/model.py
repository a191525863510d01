"""The model of a run: by its name at Hugging Face, of a folder, or made at start."""

import os
from pathlib import Path
from typing import Any

import torch
from huggingface_hub import snapshot_download
from huggingface_hub.errors import GatedRepoError, HFValidationError, RepositoryNotFoundError
from safetensors import safe_open
from transformers import AutoConfig, AutoModelForCausalLM, LlamaConfig

from hyperpod_training.options import Options, RefusalError

BYTES = 256


def fetch(options: Options) -> Path | None:
    """Returns the folder of the model, which is downloaded if it is a name; None for `tiny`.

    Processes of one node that download the same file wait for each other.

    Raises:
        RefusalError: There is no such model, or it is gated.
    """
    if options.model == "tiny":
        return None
    if (folder := Path(options.model)).is_dir():
        return folder
    try:
        files = ["*.json", "*.safetensors", "tokenizer*"]
        return Path(snapshot_download(options.model, allow_patterns=files))
    except GatedRepoError as error:
        if os.environ.get("HF_TOKEN"):
            raise RefusalError(
                f"--model {options.model} is gated, and the account of HF_TOKEN has no access to"
                f" it: ask for it at https://huggingface.co/{options.model}"
            ) from error
        raise RefusalError(
            f"--model {options.model} is gated, and HF_TOKEN is not set: put a token into the"
            " job's Secret (kubectl create secret generic NAME --from-literal=token=…), whose name"
            " is the value `secret` of the chart"
        ) from error
    except (HFValidationError, RepositoryNotFoundError) as error:
        raise RefusalError(
            f"--model {options.model} is neither a folder, nor `tiny`, nor a model at Hugging Face"
            " that HF_TOKEN may read"
        ) from error
    except OSError as error:
        raise RefusalError(f"--model {options.model}: {str(error).splitlines()[0]}") from error


def config_of(options: Options, folder: Path | None) -> Any:
    """Returns the configuration of the model, as transformers has it."""
    if folder is None:
        return LlamaConfig(
            vocab_size=BYTES,
            hidden_size=64,
            intermediate_size=128,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=2,
            max_position_embeddings=max(128, options.sequence_length),
            use_cache=False,
        )
    if not (folder / "config.json").exists() or not list(folder.glob("*.safetensors")):
        raise RefusalError(f"--model {folder} has no config.json, or no *.safetensors")
    config = AutoConfig.from_pretrained(folder)
    config.use_cache = False
    return config


def build(options: Options, config: Any, folder: Path | None) -> Any:
    """Makes the model: `tiny` alike in every process, any other without memory for its weights."""
    if folder is None:
        torch.manual_seed(options.seed)
        return AutoModelForCausalLM.from_config(config).float()
    from accelerate import init_empty_weights  # noqa: PLC0415 - takes a second

    with init_empty_weights():
        model = AutoModelForCausalLM.from_config(config).float()
    model.tie_weights()
    return model


def fill(model: Any, folder: Path, *, device: torch.device, rank: int, processes: int) -> None:
    """Gives a sharded model its memory, and each process reads its own rows of each weight."""
    buffers = {name: buffer.clone() for name, buffer in model.named_buffers()}
    model.to_empty(device=device)
    model.tie_weights()  # which the line above undoes
    for name, buffer in model.named_buffers():
        buffer.copy_(buffers[name])
    files: dict[str, Path] = {}
    for file in folder.glob("*.safetensors"):
        with safe_open(file, "pt") as weights:
            files |= dict.fromkeys(weights.keys(), file)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name not in files:
                raise RefusalError(f"--model {folder} has no weight {name}")
            # fully_shard splits the first dimension as torch.chunk does.
            rows = -(-parameter.shape[0] // processes)
            with safe_open(files[name], "pt") as weights:
                mine = weights.get_slice(name)[rank * rows : (rank + 1) * rows]
            parameter.to_local().copy_(mine)
