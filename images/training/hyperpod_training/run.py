"""Sets up the processes of a run, and trains."""

import importlib
import os

import torch
import torch.distributed as dist

from hyperpod_training.data import Order, open_samples
from hyperpod_training.loop import Strategy, train
from hyperpod_training.model import config_of, fetch
from hyperpod_training.options import Options, RefusalError


def run(options: Options) -> int:
    """Trains with the strategy that was asked for; returns the exit code.

    Raises:
        RefusalError: Something that was asked for is not here.
    """
    backend, device = _backend(options.backend)
    folder = fetch(options)
    config = config_of(options, folder)
    if options.strategy == "neuron":
        strategies = importlib.import_module("hyperpod_training.strategies.neuron")
        return int(strategies.train(options, config, folder))
    strategy_class = _strategy(options.strategy)
    dist.init_process_group(backend)
    try:
        samples = open_samples(options, vocabulary=config.vocab_size, model=folder)
        order = Order(samples=samples, options=options, vocabulary=config.vocab_size)
        strategy: Strategy = strategy_class(options, config, folder, device=device)
        return train(options, strategy=strategy, order=order)
    finally:
        dist.destroy_process_group()


def _backend(asked: str) -> tuple[str, torch.device]:
    if asked in ("nccl", "smddp") and not torch.cuda.is_available():
        raise RefusalError(f"--backend {asked} needs a GPU, and there is none; gloo needs none")
    if asked == "smddp":
        try:
            importlib.import_module("smdistributed.dataparallel.torch.torch_smddp")
        except ImportError as error:
            raise RefusalError(
                "--backend smddp: this image has no smdistributed, which AWS supports on"
                " ml.p4d.24xlarge and ml.p4de.24xlarge alone; take --backend nccl"
            ) from error
    if asked == "gloo" or not torch.cuda.is_available():
        return "gloo", torch.device("cpu")
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    return ("nccl" if asked == "auto" else asked), device


def _strategy(name: str) -> type:
    try:
        module = importlib.import_module(f"hyperpod_training.strategies.{name}")
    except ModuleNotFoundError as error:
        raise RefusalError(f"--strategy {name}: this image has no package {error.name}") from error
    strategy_class: type = module.Sharded
    return strategy_class
