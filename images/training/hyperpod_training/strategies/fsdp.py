"""Fully sharded data parallel: each process holds a part of each parameter."""

from concurrent.futures import Future
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard

from hyperpod_training.model import build, fill
from hyperpod_training.options import Options


class Sharded:
    """A model under `fully_shard`, with AdamW.

    Gradients are reduced after each micro-batch, not once a step: what is kept until then would
    be a whole gradient in each process, which a 7B model has no room for on 24 GB.
    """

    def __init__(
        self, options: Options, config: Any, folder: Path | None, *, device: torch.device
    ) -> None:
        self.device = device
        rank, processes = dist.get_rank(), dist.get_world_size()
        mesh = init_device_mesh(device.type, (processes,))
        policy = MixedPrecisionPolicy()
        if device.type == "cuda":
            policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
        self.model = build(options, config, folder)
        if folder is None:
            self.model.to(device)
        if options.activation_checkpointing:
            self.model.gradient_checkpointing_enable()
        layers = [m for m in self.model.modules() if type(m).__name__ in _layers(self.model)]
        for layer in [*layers, self.model]:
            fully_shard(layer, mesh=mesh, mp_policy=policy)
        if folder is not None:
            fill(self.model, folder, device=device, rank=rank, processes=processes)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=options.learning_rate)
        self.model.train()

    def step(self, batches: list[torch.Tensor], *, global_batch_size: int) -> torch.Tensor:
        """Takes one step, and returns this process's part of the loss of the global batch."""
        total = torch.zeros((), dtype=torch.float64, device=self.device)
        for batch in batches:
            tokens = batch.to(self.device)
            loss = self.model(input_ids=tokens, labels=tokens).loss
            part = loss * len(batch) / global_batch_size
            (part * dist.get_world_size()).backward()  # which FSDP divides by
            total += part.detach()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.optimizer.zero_grad()
        return total

    def _state(self) -> dict[str, Any]:
        model, optimizer = get_state_dict(self.model, self.optimizer)
        return {"model": model, "optimizer": optimizer}

    def write(self, folder: Path, *, group: dist.ProcessGroup) -> "Future[Any]":
        """Begins to write a checkpoint, of a copy of what is there now."""
        begun: Future[Any] = dcp.async_save(
            self._state(), checkpoint_id=folder, process_group=group
        )
        return begun

    def read(self, folder: Path, *, group: dist.ProcessGroup) -> None:
        """Reads a checkpoint of any number of processes."""
        state = self._state()
        dcp.load(state, checkpoint_id=folder, process_group=group)
        set_state_dict(
            self.model,
            self.optimizer,
            model_state_dict=state["model"],
            optim_state_dict=state["optimizer"],
        )


def _layers(model: Any) -> set[str]:
    """Returns the classes that transformers keeps in one piece: a model's layers."""
    return set(model._no_split_modules)
