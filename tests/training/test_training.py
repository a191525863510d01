"""Train for real, with PyTorch on CPUs, and kill what trains."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.support.configs import REPOSITORY
from tests.support.patience import PATIENCE_SECONDS

BIN = REPOSITORY / ".venv" / "training" / "bin"
CONTEXT = REPOSITORY / "images" / "training"
Event = dict[str, Any]
STEPS = 9

pytestmark = [pytest.mark.whole, pytest.mark.slow(seconds=100)]

ARGUMENTS = {
    "--model": "tiny",
    "--dataset": "synthetic",
    "--max-steps": str(STEPS),
    "--checkpoint-every": "3",
    "--keep": "2",
    "--global-batch-size": "6",
    "--sequence-length": "16",
    "--learning-rate": "1e-3",
}


@pytest.fixture(scope="module", autouse=True)
def torch_is_installed() -> None:
    if not (BIN / "torchrun").exists():
        pytest.fail("PyTorch is not installed: run `make setup-training`", pytrace=False)


class Run:
    """A job of one node: torchrun and its processes."""

    def __init__(self, checkpoints: Path, *, processes: int, **changes: str) -> None:
        arguments = ARGUMENTS | {f"--{k.replace('_', '-')}": v for k, v in changes.items()}
        pairs = [word for pair in arguments.items() for word in pair]
        self.errors = checkpoints.with_suffix(".stderr")
        with self.errors.open("w") as errors:
            self.agent = subprocess.Popen(
                [
                    *[str(BIN / "torchrun"), "--standalone", "--max-restarts", "2"],
                    *["--nproc-per-node", str(processes), "-m", "hyperpod_training"],
                    *["--checkpoints", str(checkpoints), *pairs],
                ],
                cwd=CONTEXT,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                env=os.environ
                | {"TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1", "OMP_NUM_THREADS": "1"}
                | {"HF_HUB_OFFLINE": "1", "PATH": f"{BIN}:{os.environ['PATH']}"},
            )

    def events(self) -> Iterator[Event]:
        assert self.agent.stdout
        for line in self.agent.stdout:
            if line.startswith("{"):  # DeepSpeed prints lines of its own
                yield json.loads(line)

    def kill_a_process(self) -> None:
        children = Path(f"/proc/{self.agent.pid}/task/{self.agent.pid}/children").read_text()
        os.kill(int(children.split()[-1]), signal.SIGKILL)


def train(
    checkpoints: Path,
    *,
    processes: int = 2,
    code: int = 0,
    at: tuple[str, int, Callable[[Run], None]] | None = None,
    **changes: str,
) -> list[Event]:
    """Train to the end; do something to the run after one of its events, once."""
    run = Run(checkpoints, processes=processes, **changes)
    events = []
    for event in run.events():
        events.append(event)
        if at and (event["event"], event.get("step")) == at[:2]:
            at[2](run)
            at = None
    assert run.agent.wait(timeout=PATIENCE_SECONDS) == code, run.errors.read_text()[-4000:]
    return events


def losses(events: list[Event]) -> list[tuple[int, float]]:
    return [(e["step"], e["loss"]) for e in events if e["event"] == "step"]


def told(events: list[Event], kind: str) -> list[Event]:
    return [event for event in events if event["event"] == kind]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> list[Event]:
    folder = tmp_path_factory.mktemp("undisturbed") / "checkpoints"
    events = train(folder)
    assert [e["step"] for e in told(events, "saved")] == [3, 6, 9]
    assert sorted(path.name for path in folder.glob("step-*")) == ["step-00000006", "step-00000009"]
    assert events[-1] == {"event": "done", "step": STEPS}
    assert losses(events)[-1][1] < losses(events)[0][1]
    return events


def test_a_run_that_is_killed_twice_has_the_losses_of_one_that_is_not(
    tmp_path: Path, undisturbed: list[Event]
) -> None:
    expected = dict(losses(undisturbed))
    checkpoints = tmp_path / "checkpoints"

    killed = train(checkpoints, at=("saved", 3, Run.kill_a_process), max_steps="5")
    # torchrun's own code, whatever its processes end with.
    stopped = train(checkpoints, at=("step", 7, lambda run: run.agent.terminate()), code=1)
    newest = checkpoints / f"step-{told(stopped, 'stopped')[0]['step']:08}"
    before = sorted(checkpoints.glob("step-*"))[-2]
    with next(newest.glob("*.distcp")).open("r+b") as file:
        file.seek(-9, os.SEEK_END)
        file.write(b"corrupted")
    (checkpoints / "step-00000099").mkdir()  # as when a node is lost while it writes
    resumed = train(checkpoints, processes=3)

    assert [e["step"] for e in told(killed, "resumed")] == [3]
    assert all(expected[step] == loss for step, loss in losses(killed) + losses(stopped))
    assert [e["step"] for e in told(stopped, "resumed")] == [5]
    assert [Path(e["checkpoint"]).name for e in told(resumed, "skipped")] == [
        "step-00000099",
        newest.name,
    ]
    assert "complete.json is missing" in told(resumed, "skipped")[0]["reason"]
    assert "not as it was written" in told(resumed, "skipped")[1]["reason"]
    assert [Path(e["checkpoint"]) for e in told(resumed, "resumed")] == [before]
    # Sums of three parts round otherwise than sums of two.
    assert {e["world_size"] for e in told(resumed, "step")} == {3}
    assert dict(losses(resumed)) == pytest.approx(
        {step: expected[step] for step, _ in losses(resumed)}, rel=1e-5
    )
    assert {step for step, _ in losses(killed) + losses(stopped) + losses(resumed)} == {
        *range(1, STEPS + 1)
    }


MAKE_FILES = """
import pathlib, sys
import numpy, torch, transformers
torch.manual_seed(3)
folder = pathlib.Path(sys.argv[1])
config = transformers.LlamaConfig(
    vocab_size=258, hidden_size=36, intermediate_size=50, num_hidden_layers=2,
    num_attention_heads=2, num_key_value_heads=1, tie_word_embeddings=True,
)
model = transformers.LlamaForCausalLM(config)
model.save_pretrained(folder / "model", max_shard_size="30KB")
tokens = numpy.random.default_rng(1).integers(0, 258, 16 * 6).astype("uint16")
tokens[0] = 257
(folder / "tokens").mkdir()
numpy.save(folder / "tokens" / "a.npy", tokens)
batch = torch.tensor(tokens.astype("int64")).view(6, 16)
print(model(input_ids=batch, labels=batch).loss.item())
"""


def test_it_reads_weights_in_parts_and_tokens_and_text_of_folders(tmp_path: Path) -> None:
    made = subprocess.run(
        [BIN / "python", "-c", MAKE_FILES, tmp_path], capture_output=True, text=True, check=True
    )
    (tmp_path / "text").mkdir()
    (tmp_path / "text" / "a.txt").write_text("To be or not to be.\n" * 20)

    # One epoch is one step, so its loss is that of all samples, whatever their order.
    loaded = train(
        tmp_path / "a",
        model=str(tmp_path / "model"),
        dataset=str(tmp_path / "tokens"),
        max_steps="1",
    )
    text = train(tmp_path / "b", dataset=str(tmp_path / "text"), processes=1, max_steps="2")
    refused = train(
        tmp_path / "c", dataset=str(tmp_path / "tokens"), processes=1, max_steps="1", code=1
    )

    assert losses(loaded)[0][1] == pytest.approx(float(made.stdout.split()[-1]), rel=1e-5)
    assert len(losses(text)) == 2
    assert losses(refused) == []
    assert "tokenize it for this model" in (tmp_path / "c.stderr").read_text()


def test_deepspeed_resumes_with_the_losses_of_a_run_that_was_not_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A build that is interrupted leaves a lock, for which each later one would wait for ever.
    monkeypatch.setenv("TORCH_EXTENSIONS_DIR", str(tmp_path / "extensions"))
    # DeepSpeed compiles a part of its CPU backend; processes that do so together wait for ever.
    program = (
        "from deepspeed.accelerator import get_accelerator\n"
        "get_accelerator().create_op_builder('ShareMemCommBuilder').load()"
    )
    path = f"{BIN}:{os.environ['PATH']}"
    subprocess.run(
        [BIN / "python", "-c", program],
        env=os.environ | {"PATH": path},
        timeout=PATIENCE_SECONDS,
        check=True,
    )

    whole = train(tmp_path / "a", strategy="deepspeed", max_steps="4")
    first = train(tmp_path / "b", strategy="deepspeed", max_steps="2")
    second = train(tmp_path / "b", strategy="deepspeed", max_steps="4")

    assert [e["step"] for e in told(second, "resumed")] == [2]
    assert losses(first) + losses(second) == losses(whole)


PROCESS = {"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": "4"}


@pytest.mark.parametrize(
    ("changes", "environment"),
    [
        ({"--max-steps": "0"}, PROCESS),
        ({"--strategy": "ddp"}, PROCESS),
        ({"--sequence-length": "1"}, PROCESS),
        ({"--learning-rate": "-1"}, PROCESS),
        ({}, {}),
        ({}, PROCESS),
        (
            {},
            PROCESS | {"TORCHELASTIC_USE_AGENT_STORE": "True", "TORCHELASTIC_MAX_RESTARTS": "3"},
        ),
        ({"--checkpoints": "/proc/here"}, PROCESS | {"WORLD_SIZE": "1"}),
    ],
)
def test_bad_arguments_are_refused_in_one_line_without_pytorch(
    tmp_path: Path,
    changes: dict[str, str],
    environment: dict[str, str],
    snapshot: SnapshotAssertion,
) -> None:
    arguments = ARGUMENTS | {"--checkpoints": str(tmp_path)} | changes
    run = subprocess.run(
        [sys.executable, "-m", "hyperpod_training"]
        + [word for pair in arguments.items() for word in pair],
        cwd=CONTEXT,
        env={"PATH": os.environ["PATH"]} | environment,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (run.returncode, run.stdout) == (2, "")
    # Versions of Python write the choices of an option differently.
    lines = [line.partition(" (choose")[0] for line in run.stderr.splitlines()]
    assert lines == snapshot
