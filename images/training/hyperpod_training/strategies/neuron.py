"""AWS Trainium, by Hugging Face's optimum-neuron: its trainer, with tensor parallelism and ZeRO-1.

Nothing here runs without a Neuron device. `neuron_parallel_compile torchrun … --max-steps 10`
compiles first, and trains nothing.
"""

import os
from pathlib import Path
from typing import Any

import torch

from hyperpod_training.data import open_samples
from hyperpod_training.loop import say
from hyperpod_training.options import Options, RefusalError

# What optimum-neuron 0.4.5 registers for training, in its models/training/auto_models.py:
# https://github.com/huggingface/optimum-neuron/tree/v0.4.5/optimum/neuron/models/training
FAMILIES = ("granite", "llama", "qwen3")


def check(options: Options, config: Any, folder: Path | None) -> Path:
    """Returns the folder of the model.

    Raises:
        RefusalError: The model is not of a family that trains on Trainium.
    """
    if folder is None or config.model_type not in FAMILIES:
        family = "made at start" if folder is None else f"of the family {config.model_type}"
        raise RefusalError(
            f"--strategy neuron: --model {options.model} is {family}; optimum-neuron 0.4.5 trains"
            f" models of Hugging Face or a folder, of {', '.join(FAMILIES)}"
        )
    return folder


def train(options: Options, config: Any, folder: Path | None) -> int:
    """Trains to `--max-steps`, from the last checkpoint of the trainer; returns 0."""
    model_folder = check(options, config, folder)
    try:
        from optimum.neuron import NeuronTrainer, NeuronTrainingArguments  # noqa: PLC0415
        from optimum.neuron.models.training import NeuronModelForCausalLM  # noqa: PLC0415
    except ImportError as error:
        raise RefusalError("--strategy neuron: this image has no optimum-neuron") from error
    from transformers import TrainerCallback  # noqa: PLC0415 - only where it is used

    class Told(TrainerCallback):  # type: ignore[misc] # its base has no types here
        def on_log(self, _: Any, state: Any, __: Any, logs: Any = None, **___: Any) -> None:
            if logs and "loss" in logs:
                processes = int(os.environ["WORLD_SIZE"])
                say("step", step=state.global_step, loss=logs["loss"], world_size=processes)

        def on_save(self, arguments: Any, state: Any, *_: Any, **__: Any) -> None:
            saved = Path(arguments.output_dir) / f"checkpoint-{state.global_step}"
            say("saved", step=state.global_step, checkpoint=str(saved))

    tensor_parallel = min(8, int(os.environ["LOCAL_WORLD_SIZE"]))
    groups = int(os.environ["WORLD_SIZE"]) // tensor_parallel
    arguments = NeuronTrainingArguments(
        output_dir=str(options.checkpoints),
        max_steps=options.max_steps,
        save_steps=options.checkpoint_every,
        save_total_limit=options.keep,
        per_device_train_batch_size=options.micro_batch_size,
        gradient_accumulation_steps=max(
            1, options.global_batch_size // groups // options.micro_batch_size
        ),
        learning_rate=options.learning_rate,
        seed=options.seed,
        bf16=True,
        logging_steps=1,
        tensor_parallel_size=tensor_parallel,
        gradient_checkpointing=options.activation_checkpointing,
    )
    model = NeuronModelForCausalLM.from_pretrained(
        model_folder, arguments.trn_config, torch_dtype=torch.bfloat16
    )
    trainer = NeuronTrainer(
        model,
        arguments,
        train_dataset=_Rows(options, config, folder),
        callbacks=[Told()],
    )
    last = sorted(options.checkpoints.glob("checkpoint-*"), key=lambda c: int(c.name[11:]))
    trainer.train(resume_from_checkpoint=str(last[-1]) if last else None)
    say("done", step=options.max_steps)
    return 0


class _Rows(torch.utils.data.Dataset):  # type: ignore[misc] # its base has no types here
    def __init__(self, options: Options, config: Any, folder: Path | None) -> None:
        self.samples = open_samples(options, vocabulary=config.vocab_size, model=folder)

    def __len__(self) -> int:
        return len(self.samples)

    def __getitem__(self, number: int) -> dict[str, torch.Tensor]:
        tokens = self.samples[number]
        return {"input_ids": tokens, "labels": tokens, "attention_mask": torch.ones_like(tokens)}
