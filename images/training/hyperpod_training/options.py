"""What a run is asked for, and the one line that refuses it."""

import argparse
import os
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn


class RefusalError(Exception):
    """What a user can put right, as one line; ends the run with code 2."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """The arguments of a run; `python -m hyperpod_training --help` says what each is."""

    model: str
    dataset: str
    checkpoints: Path
    max_steps: int
    checkpoint_every: int
    keep: int
    global_batch_size: int
    micro_batch_size: int
    sequence_length: int
    learning_rate: float
    seed: int
    strategy: str
    backend: str
    activation_checkpointing: bool
    checkpoint_key: Path | None
    trust: str

    def identity(self) -> dict[str, str | int]:
        """What a checkpoint's run and the run that resumes it have in common."""
        return {
            "--model": self.model,
            "--dataset": self.dataset,
            "--global-batch-size": self.global_batch_size,
            "--sequence-length": self.sequence_length,
            "--seed": self.seed,
            "--strategy": self.strategy,
        }


def check_user(path: Path, there: os.stat_result) -> None:
    """Refuses a checkpoint, or a folder of them, that another user may have written.

    Raises:
        RefusalError: It belongs to another user than that of this process.
    """
    mine = os.getuid()
    if there.st_uid != mine:
        raise RefusalError(
            f"{path} belongs to user {there.st_uid}, and this job is user {mine}: a checkpoint can"
            " run code, so name another folder by --checkpoints; if you trust all that is in it,"
            f" run chown -R {mine} on it"
        )


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise RefusalError(f"{message}; see python -m hyperpod_training --help")


def _count(text: str) -> int:
    if (number := int(text)) < 1:
        raise argparse.ArgumentTypeError(f"{text} is not 1 or more")
    return number


def _join_step() -> None:
    """Lets a task of a step of Slurm be what a process of torchrun is."""
    if "SLURM_STEP_ID" in os.environ and "RANK" not in os.environ:
        ours = {"RANK": "PROCID", "LOCAL_RANK": "LOCALID", "WORLD_SIZE": "STEP_NUM_TASKS"}
        os.environ |= {name: os.environ[f"SLURM_{slurms}"] for name, slurms in ours.items()}


def read_options(arguments: list[str] | None = None) -> Options:
    """Reads the command line.

    Raises:
        RefusalError: An argument is unknown or wrong, alone or with the number of processes, or
            the folder of the checkpoints cannot be written.
    """
    parser = _Parser(prog="hyperpod_training", description=__doc__, allow_abbrev=False)
    add = parser.add_argument
    add("--model", required=True, help="a Hugging Face name, a folder, or `tiny`")
    add("--dataset", required=True, help="a Hugging Face name, a folder, or `synthetic`")
    add("--checkpoints", required=True, type=Path, metavar="DIR", help="shared by all nodes")
    add("--max-steps", type=_count, default=1000, metavar="N")
    add("--checkpoint-every", type=_count, default=100, metavar="N", help="steps")
    add("--keep", type=_count, default=3, metavar="N", help="how many checkpoints stay")
    add("--global-batch-size", type=_count, default=64, metavar="N", help="samples a step")
    add("--micro-batch-size", type=_count, default=1, metavar="N", help="samples at once")
    add("--sequence-length", type=_count, default=2048, metavar="N", help="tokens of a sample")
    add("--learning-rate", type=float, default=2e-5, metavar="X")
    add("--seed", type=int, default=1, metavar="N")
    add("--strategy", choices=["fsdp", "deepspeed", "neuron"], default="fsdp")
    add("--backend", choices=["auto", "nccl", "gloo", "smddp"], default="auto")
    add("--activation-checkpointing", action="store_true", help="less memory, more time")
    key = os.environ.get("HYPERPOD_CHECKPOINT_KEY")  # of the chart: older images pass over it
    add(
        "--checkpoint-key",
        type=Path,
        default=key,
        metavar="FILE",
        help="of a secret that signs them",
    )
    add(
        "--trust",
        default="",
        metavar="sha256:HEX",
        help="a checkpoint of another key, all the same",
    )
    options = Options(**vars(parser.parse_args(arguments)))
    if options.sequence_length < 2:  # noqa: PLR2004 - the second token is the first to be learned
        raise RefusalError("--sequence-length 1: a sample needs 2 tokens or more")
    if options.learning_rate <= 0:
        raise RefusalError(f"--learning-rate {options.learning_rate} is not above 0")
    _join_step()
    if "RANK" not in os.environ:
        raise RefusalError(
            "start it with torchrun: torchrun --nproc-per-node N -m hyperpod_training …; or by"
            " srun, in a job of Slurm"
        )
    shared = os.environ.get("TORCHELASTIC_USE_AGENT_STORE") == "True"
    if shared and int(os.environ.get("TORCHELASTIC_MAX_RESTARTS", "0")):
        # The new processes read the old ones' keys: https://github.com/pytorch/pytorch/issues/135712
        raise RefusalError(
            "set TORCH_DISABLE_SHARE_RDZV_TCP_STORE=1 in the environment of torchrun: without it,"
            " what --max-restarts starts again waits for processes that are dead"
        )
    processes, size = int(os.environ["WORLD_SIZE"]), options.global_batch_size
    if size % (processes * options.micro_batch_size):
        raise RefusalError(
            f"--global-batch-size {size} is not a multiple of {processes} processes x"
            f" --micro-batch-size {options.micro_batch_size}"
        )
    try:
        options.checkpoints.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RefusalError(f"--checkpoints {options.checkpoints}: {error.strerror}") from error
    check_user(options.checkpoints, options.checkpoints.stat())
    if not os.access(options.checkpoints, os.W_OK | os.X_OK):
        raise RefusalError(
            f"--checkpoints {options.checkpoints} cannot be written by user {os.getuid()}:"
            " mount the claim there, or let that user write"
        )
    return options
