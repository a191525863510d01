"""Sets up the processes of a run, and trains."""

import os

import torch
import torch.distributed as dist

from hyperpod_training.data import Order, open_samples
from hyperpod_training.loop import train
from hyperpod_training.model import config_of
from hyperpod_training.options import Options
from hyperpod_training.strategies.fsdp import Fsdp


def run(options: Options) -> int:
    """Trains with the strategy that was asked for; returns the exit code."""
    device = torch.device("cpu")
    backend = options.backend
    if torch.cuda.is_available():
        device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
        torch.cuda.set_device(device)
    if backend == "auto":
        backend = "nccl" if device.type == "cuda" else "gloo"
    dist.init_process_group(backend)
    try:
        samples = open_samples(options, vocabulary=config_of(options).vocab_size)
        order = Order(
            samples=samples, seed=options.seed, global_batch_size=options.global_batch_size
        )
        return train(options, strategy=Fsdp(options, device=device), order=order)
    finally:
        dist.destroy_process_group()
