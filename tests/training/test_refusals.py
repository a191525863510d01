"""What the training script refuses when it has begun: two processes of PyTorch tell all."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.support.configs import REPOSITORY

PYTHON = REPOSITORY / ".venv" / "training" / "bin" / "python"

pytestmark = [pytest.mark.whole, pytest.mark.slow(seconds=20)]

PROGRAM = """
import json, os, pathlib, sys
from concurrent.futures import Future
from contextlib import nullcontext
from types import SimpleNamespace
from unittest.mock import patch

import httpx
import torch.distributed as dist
from huggingface_hub.errors import GatedRepoError, RepositoryNotFoundError

from hyperpod_training import checkpoints, loop, model, options, trust
from hyperpod_training.strategies import neuron

folder = pathlib.Path(sys.argv[1])
told = {}
os.environ |= {"RANK": "0", "WORLD_SIZE": "1"}


def tell(name, begin):
    try:
        begin()
    except options.RefusalError as refusal:
        told[name] = str(refusal)


def read(**changes):
    given = {"model": "meta/gated", "dataset": "synthetic", "checkpoints": folder / "run"} | changes
    return options.read_options([f"--{name}={value}" for name, value in given.items()])


def fetch(error):
    answer = httpx.Response(403, request=httpx.Request("GET", "https://huggingface.invalid"))
    with patch.object(model, "snapshot_download", side_effect=error("refused", response=answer)):
        model.fetch(read())


def run(seed):
    asked = read(seed=seed)
    same = {"identity": asked.identity(), "trust": trust.Trust(asked), "say": lambda *_, **__: None}
    return checkpoints.Checkpoints(folder / "run", keep=1, **same)


def write(checkpoint, group):
    (checkpoint / f"part{rank}").write_text("weights")
    done = Future()
    done.set_result(None)
    return done


tell("gated, no token", lambda: fetch(GatedRepoError))
os.environ["HF_TOKEN"] = "hf_secret"
tell("gated, token", lambda: fetch(GatedRepoError))
tell("no model", lambda: fetch(RepositoryNotFoundError))
with patch.object(os, "access", return_value=False):
    tell("unwritable", read)
for name, place in (("made", None), ("gpt2", folder)):
    family = SimpleNamespace(model_type=name)
    tell(name, lambda: neuron.check(read(strategy="neuron"), family, place))
neuron.check(read(strategy="neuron"), SimpleNamespace(model_type="llama"), folder)
rank = 0 if os.fork() else 1
dist.init_process_group("gloo", init_method=f"file://{folder}/store", rank=rank, world_size=2)
first, second = run(1), run(1)
first.resume(None)
first.save(1, write)
first.wait()
tell("other seed", lambda: run(2).resume(lambda *_, **__: None))
assert run(1).resume(lambda *_, **__: None) == 1
second.resume(lambda *_, **__: None)
tell("other run", lambda: first.save(1, write))
assert (folder / "run" / "step-00000001" / "complete.json").exists()


def fail(step, place, name, process):
    begun = run(1)
    begun.resume(lambda *_, **__: None)
    full = patch.object(place, name, side_effect=OSError(28, "No space left on device"))
    with full if rank == process else nullcontext():
        tell(name, lambda: begun.save(step, write) or begun.wait())


fail(2, pathlib.Path, "mkdir", 0)
fail(3, checkpoints, "_digest", 1)
fail(4, pathlib.Path, "replace", 0)
fail(5, os, "fsync", 1)
assert run(1).resume(lambda *_, **__: None) == 1
for os.environ["RANK"], os.environ["LOCAL_RANK"] in ((f"{rank}", "0"), ("3", "1")):
    loop.say("step", step=1)
    loop.say("done", step=1)
both = [None, None]
dist.all_gather_object(both, told)
if rank == 0:
    assert both[0] == both[1], both
    print(json.dumps(told))
"""


def test_each_is_one_line_that_says_what_to_do(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    done = subprocess.run(
        [PYTHON, "-c", PROGRAM, tmp_path],
        cwd=REPOSITORY / "images" / "training",
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    *events, last = done.stdout.splitlines()
    told: dict[str, str] = json.loads(last)
    assert sorted(events) == [
        '{"event": "done", "step": 1}',
        '{"event": "step", "step": 1}',
        '{"rank": 1, "event": "step", "step": 1}',
    ]

    own = {f"{tmp_path}": "TMP", f"by user {os.getuid()}": "by user ID"}
    for place, word in own.items():
        told = {name: line.replace(place, word) for name, line in told.items()}
    assert told == snapshot
    assert not [line for line in told.values() if "\n" in line or "hf_secret" in line]
