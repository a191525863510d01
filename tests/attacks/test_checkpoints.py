"""Another's checkpoint on the shared file system: it must run nothing in the job that resumes.

PyTorch's format has pickles, so that to read a checkpoint is to run what is in it.
"""

import json
import os
import subprocess
from typing import Any

import pytest

from tests.support.configs import REPOSITORY

PYTHON = REPOSITORY / ".venv" / "training" / "bin" / "python"

pytestmark = [pytest.mark.whole, pytest.mark.slow(seconds=20)]

# Each case begins with a checkpoint that the job itself has written, and a program in a pickle.
PROGRAM = """
import hashlib, json, os, pathlib, pickle, shutil, sys
from unittest.mock import patch

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch.distributed.checkpoint.api import CheckpointException

from hyperpod_training import checkpoints, options, trust

root = pathlib.Path(sys.argv[1])
os.environ |= {"RANK": "0", "WORLD_SIZE": "1", "LOCAL_RANK": "0"}
dist.init_process_group("gloo", init_method=f"file://{root}/store", rank=0, world_size=1)
for name in ("mine", "theirs"):
    (root / name).write_text(name * 20)


class Code:
    def __init__(self, place):
        self.place = place

    def __reduce__(self):
        return pathlib.Path.touch, (self.place,)


def job(folder, key="mine", trusted=""):
    given = {"model": "tiny", "dataset": "synthetic", "checkpoints": folder}
    given |= {"checkpoint-key": root / key} if key else {}
    given |= {"trust": trusted} if trusted else {}
    asked = options.read_options([f"--{name}={value}" for name, value in given.items()])
    said = []
    say = lambda event, **fields: said.append((event, *map(str, fields.values())))
    held = {"keep": 3, "identity": asked.identity(), "trust": trust.Trust(asked), "say": say}
    return checkpoints.Checkpoints(folder, **held), said


def write(checkpoint, group):
    return dcp.async_save({"x": torch.ones(2)}, checkpoint_id=checkpoint, process_group=group)


def read(checkpoint, group):
    dcp.load({"x": torch.zeros(2)}, checkpoint_id=checkpoint, process_group=group)


def save(folder, step, key="mine"):
    one, _ = job(folder, key)
    one.resume(read)
    one.save(step, write)
    one.wait()


def resume(folder, **with_):
    try:
        one, said = job(folder, **with_)
        step = one.resume(read)
    except options.RefusalError as refusal:
        return {"step": None, "said": str(refusal)}
    except (Exception, CheckpointException) as error:  # of the reader
        return {"step": None, "said": repr(error)}
    return {"step": step, "said": " ".join(map(" ".join, said))}


def put_code(checkpoint, folder):
    (checkpoint / ".metadata").write_bytes(pickle.dumps(Code(folder / "ran")))


def fitting(checkpoint, **changes):
    marker = json.loads((checkpoint / "complete.json").read_text())
    digest = hashlib.sha256((checkpoint / ".metadata").read_bytes()).hexdigest()
    marker["sha256"][".metadata"] = digest
    marker |= changes
    (checkpoint / "complete.json").write_text(json.dumps(marker))


def unsigned(checkpoint):
    marker = json.loads((checkpoint / "complete.json").read_text())
    del marker["hmac"]
    (checkpoint / "complete.json").write_text(json.dumps(marker))


def of(checkpoint):
    return "sha256:" + hashlib.sha256((checkpoint / "complete.json").read_bytes()).hexdigest()


told = {}


def case(name):
    def run(attack):
        folder = root / name.replace(" ", "-")
        folder.mkdir()
        (folder / "run").mkdir()
        save(folder / "run", 1)
        own = folder / "run" / "step-00000001"
        told[name] = attack(folder, own) or resume(folder / "run")
        told[name]["ran"] = (folder / "ran").exists()
    return run


@case("no guard")
def _(folder, own):
    put_code(own, folder)
    try:
        read(own, None)
    except (Exception, CheckpointException) as error:
        return {"said": repr(error)}


@case("no attack")
def _(folder, own):
    pass


@case("no key, own user")
def _(folder, own):
    return resume(folder / "run", key="")


@case("forged")
def _(folder, own):
    newest = own.with_name("step-99999999")
    shutil.copytree(own, newest)
    put_code(newest, folder)
    unsigned(newest)
    fitting(newest)


@case("of another job")
def _(folder, own):
    shutil.rmtree(own)
    save(folder / "run", 2, key="theirs")


@case("pickle replaced")
def _(folder, own):
    put_code(own, folder)


@case("pickle and digest replaced")
def _(folder, own):
    put_code(own, folder)
    fitting(own)


@case("file added")
def _(folder, own):
    (own / "zero_pp_rank_0.pt").write_bytes(pickle.dumps(Code(folder / "ran")))


@case("link")
def _(folder, own):
    (own / ".metadata").rename(folder / "elsewhere")
    (own / ".metadata").symlink_to(folder / "elsewhere")


@case("pipe")
def _(folder, own):
    (own / ".metadata").unlink()
    os.mkfifo(own / ".metadata")


@case("folder of another user")
def _(folder, own):
    with patch.object(os, "getuid", return_value=os.getuid() + 1):
        return resume(folder / "run")


@case("file of another user")
def _(folder, own):
    mine = os.getuid()
    with patch.object(os, "getuid", side_effect=[mine, *[mine + 1] * 9]):
        return resume(folder / "run")


@case("former form")
def _(folder, own):
    unsigned(own)


@case("former form, by consent")
def _(folder, own):
    unsigned(own)
    first = resume(folder / "run", trusted=of(own))
    return first | {"again": resume(folder / "run")}


@case("changed after consent")
def _(folder, own):
    unsigned(own)
    consented = of(own)
    put_code(own, folder)
    fitting(own)
    return resume(folder / "run", trusted=consented)


@case("short key")
def _(folder, own):
    (root / "short").write_text("secret")
    return resume(folder / "run", key="short")


print(json.dumps(told))
"""

REFUSED = {
    "forged": "step-99999999 was not written with this job's key",
    "of another job": "step-00000002 was not written with this job's key",
    "pickle and digest replaced": "step-00000001 was not written with this job's key",
    "link": ".metadata is neither a file nor a folder",
    "pipe": ".metadata is neither a file nor a folder",
    "folder of another user": f"/run belongs to user {os.getuid()}, and this job is user",
    "file of another user": f"/step-00000001 belongs to user {os.getuid()}, and this job is user",
    "former form": "take it over with --trust sha256:",
    "changed after consent": "was not written with this job's key",
    "short key": "is shorter than 32 bytes",
}
SKIPPED = {
    "pickle replaced": ".metadata is not as it was written",
    "file added": "zero_pp_rank_0.pt was added to it",
}
RESUMED = ("no attack", "no key, own user", "former form, by consent")


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    done = subprocess.run(
        [PYTHON, "-c", PROGRAM, tmp_path_factory.mktemp("attacks")],
        cwd=REPOSITORY / "images" / "training",
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_without_the_guard_the_code_runs(told: dict[str, Any]) -> None:
    assert told["no guard"]["ran"]


@pytest.mark.parametrize("case", REFUSED)
def test_what_this_job_did_not_write_is_refused_and_not_read(
    case: str, told: dict[str, Any]
) -> None:
    assert (told[case]["step"], told[case]["ran"]) == (None, False)
    assert REFUSED[case] in told[case]["said"]
    assert "\n" not in told[case]["said"]


@pytest.mark.parametrize("case", SKIPPED)
def test_what_was_changed_is_passed_over_and_not_read(case: str, told: dict[str, Any]) -> None:
    assert (told[case]["step"], told[case]["ran"]) == (0, False)
    assert SKIPPED[case] in told[case]["said"]


@pytest.mark.parametrize("case", RESUMED)
def test_what_it_wrote_is_resumed(case: str, told: dict[str, Any]) -> None:
    assert told[case]["step"] == 1, told[case]["said"]


def test_what_was_taken_over_is_the_jobs_from_then_on(told: dict[str, Any]) -> None:
    assert told["former form, by consent"]["again"]["step"] == 1
