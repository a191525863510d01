"""DeepSpeed's ZeRO-3: each process holds a part of each parameter, gradient and optimizer state."""

from concurrent.futures import Future
from pathlib import Path
from typing import Any

import deepspeed
import torch
import torch.distributed as dist
from transformers import AutoModelForCausalLM
from transformers.integrations import HfDeepSpeedConfig

from hyperpod_training.model import build
from hyperpod_training.options import Options


class Sharded:
    """A model under DeepSpeed's engine, with AdamW."""

    def __init__(
        self, options: Options, config: Any, folder: Path | None, *, device: torch.device
    ) -> None:
        self.device = device
        processes = dist.get_world_size()
        micro = options.micro_batch_size
        settings = {
            "train_batch_size": options.global_batch_size,
            "train_micro_batch_size_per_gpu": micro,
            "gradient_accumulation_steps": options.global_batch_size // processes // micro,
            "gradient_clipping": 1.0,
            "bf16": {"enabled": device.type == "cuda"},
            "zero_optimization": {"stage": 3},
        }
        deepspeed.init_distributed(dist_backend=dist.get_backend())
        self.partition = HfDeepSpeedConfig(settings)  # while it lives, weights are read in parts
        if folder is None:
            model = build(options, config, folder)
        else:
            model = AutoModelForCausalLM.from_pretrained(folder, config=config).float()
        if options.activation_checkpointing:
            model.gradient_checkpointing_enable()
        optimizer = torch.optim.AdamW(model.parameters(), lr=options.learning_rate)
        self.engine, *_ = deepspeed.initialize(model=model, optimizer=optimizer, config=settings)

    def step(self, batches: list[torch.Tensor], *, global_batch_size: int) -> torch.Tensor:
        """Takes one step, and returns this process's part of the loss of the global batch."""
        total = torch.zeros((), dtype=torch.float64, device=self.device)
        for batch in batches:
            tokens = batch.to(self.device)
            loss = self.engine(input_ids=tokens, labels=tokens).loss
            self.engine.backward(loss)
            self.engine.step()
            total += loss.detach() * len(batch) / global_batch_size
        return total

    def write(self, folder: Path, **_: object) -> "Future[Any]":
        """Writes a checkpoint, before it returns: DeepSpeed's is not of a copy."""
        self.engine.save_checkpoint(folder, tag="zero", save_latest=False)
        written: Future[Any] = Future()
        written.set_result(None)
        return written

    def read(self, folder: Path, **_: object) -> None:
        """Reads a checkpoint of as many processes as there are now."""
        self.engine.load_checkpoint(folder, tag="zero")
