"""The steps of a run, from the last checkpoint to the last step."""

import json
import os
import signal
import sys
import time
from concurrent.futures import Future
from pathlib import Path
from typing import Any, Protocol

import torch
import torch.distributed as dist

from hyperpod_training.checkpoints import Checkpoints
from hyperpod_training.data import Order
from hyperpod_training.options import Options
from hyperpod_training.trust import Trust

# As a shell says it of SIGTERM; not 0, since the job is not done.
STOPPED = 128 + signal.SIGTERM


class Strategy(Protocol):
    """A model spread over the processes."""

    device: torch.device

    def step(self, batches: list[torch.Tensor], *, global_batch_size: int) -> torch.Tensor:
        """Takes one step; returns this process's part of the loss."""

    def write(self, folder: Path, *, group: dist.ProcessGroup) -> "Future[Any]":
        """Begins to write a checkpoint into an empty folder."""

    def read(self, folder: Path, *, group: dist.ProcessGroup) -> None:
        """Reads what `write` has written."""


def say(event: str, **fields: object) -> None:
    """Prints one event as a line of JSON, from the first process; a step on each node.

    HyperPod's operator looks for steps in the logs, maybe of each pod. Lines of nodes but the
    first begin with the rank: who reads the logs of all pods tells them from the job's own.
    """
    rank = os.environ["RANK"]
    line = {"event": event, **fields}
    if rank != "0":
        if event != "step" or os.environ["LOCAL_RANK"] != "0":
            return
        line = {"rank": int(rank), **line}
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def train(options: Options, *, strategy: Strategy, order: Order) -> int:
    """Trains to `--max-steps`; returns 0, or `STOPPED` after a SIGTERM to any process."""
    asked: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: asked.append(number))
    rank, processes = dist.get_rank(), dist.get_world_size()
    checkpoints = Checkpoints(
        options.checkpoints,
        keep=options.keep,
        identity=options.identity(),
        trust=Trust(options),
        say=say,
    )
    step = saved = checkpoints.resume(strategy.read)
    stop = False
    while step < options.max_steps and not stop:
        begun = time.monotonic()
        step += 1
        batches = order.batches(step=step, rank=rank, processes=processes)
        loss = strategy.step(batches, global_batch_size=options.global_batch_size)
        # One process alone may have got the signal, and all must stop at the same step.
        both = torch.stack([loss, torch.tensor(float(bool(asked))).to(loss)])
        dist.all_reduce(both)
        stop = bool(both[1] > 0)
        seconds = round(time.monotonic() - begun, 3)
        say("step", step=step, loss=float(both[0]), world_size=processes, seconds=seconds)
        if stop or step == options.max_steps or step % options.checkpoint_every == 0:
            checkpoints.save(step, strategy.write)
            saved = step
    checkpoints.wait()
    if stop and step < options.max_steps:
        say("stopped", step=saved)
        return STOPPED
    say("done", step=step)
    return 0
