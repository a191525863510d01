"""Checkpoints that count only when they are whole, and are read only if this job wrote them.

A checkpoint is a folder `step-00000100`. The last file written into it, `complete.json`, has the
SHA-256 digest of each other file: a folder without it, or with a file that does not fit, is
skipped, and the one before is taken. Who may have written it is looked at first (`trust.py`).
"""

import contextlib
import hashlib
import json
import os
import shutil
import uuid
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import torch.distributed as dist
from torch.distributed.checkpoint.api import CheckpointException

from hyperpod_training.options import RefusalError
from hyperpod_training.trust import Trust, check_files

MARKER = "complete.json"
OWNER = "owner"
T = TypeVar("T")


def _digest(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _sync(path: Path) -> None:
    """Waits until a file's content, or a folder's list of names, outlives the node."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class Checkpoints:
    """The checkpoints of a run; every process calls each method.

    One is written at a time, beside the training: `save` returns when the state is copied.
    """

    def __init__(
        self,
        folder: Path,
        *,
        keep: int,
        identity: Mapping[str, str | int],
        trust: Trust,
        say: Callable[..., None],
    ) -> None:
        self.folder, self.keep, self.identity, self.say = folder, keep, dict(identity), say
        self.trust = trust
        # Its own, since two threads must not mix their messages in one group; and of the CPU.
        self.group = dist.new_group(backend="gloo")
        self._thread = ThreadPoolExecutor(1)
        self._pending: Future[None] | None = None
        self._skipped: set[Path] = set()
        self._start = uuid.uuid4().hex

    def resume(self, read: Callable[..., None]) -> int:
        """Reads the newest whole checkpoint, and returns its step; 0 if there is none.

        Raises:
            RefusalError: The checkpoint is of a run with other arguments, or not this job's.
        """
        found = [sorted(self.folder.glob("step-*"), reverse=True)]
        dist.broadcast_object_list(found, src=0, group=self.group)
        for checkpoint in found[0]:
            text = [self._marker(checkpoint) if dist.get_rank() == 0 else b""]
            dist.broadcast_object_list(text, src=0, group=self.group)
            if reason := self._fault(checkpoint, text[0]):
                self._skipped.add(checkpoint)
                self.say("skipped", checkpoint=str(checkpoint), reason=reason)
                continue
            marker = json.loads(text[0])
            for argument, wanted in self.identity.items():
                if (had := marker["arguments"].get(argument)) != wanted:
                    raise RefusalError(
                        f"{checkpoint} is of a run with {argument} {had}, and this one has"
                        f" {wanted}: name another folder by --checkpoints, or take {had}"
                    )
            if not self.trust.check(checkpoint, text[0]):
                self._together(partial(self._write_marker, checkpoint, marker))
            self._together(self._own)
            read(checkpoint, group=self.group)
            self.say("resumed", step=marker["step"], checkpoint=str(checkpoint))
            return int(marker["step"])
        self._together(self._own)
        return 0

    def _own(self) -> None:
        """Takes the folder: the last to start has it, so a job that starts again never waits."""
        if dist.get_rank() == 0:
            (self.folder / OWNER).write_text(self._start)

    def _check_owner(self) -> None:
        if (self.folder / OWNER).read_text() != self._start:
            raise RefusalError(
                f"another run has begun in {self.folder}: give each job its own --checkpoints"
            )

    def _marker(self, checkpoint: Path) -> bytes:
        """Returns the marker, which one process reads for all; empty if there is none."""
        marker = checkpoint / MARKER
        try:
            return marker.read_bytes() if marker.is_file() and not marker.is_symlink() else b""
        except OSError:
            return b""

    def _fault(self, checkpoint: Path, marker: bytes) -> str | None:
        """Returns why a checkpoint is not whole; each process reads a part of the files.

        Raises:
            RefusalError: It may be of someone else, in all processes.
        """
        if not marker:
            return f"{MARKER} is missing, so it was not written to its end"
        mine: tuple[str | None, str | None]
        try:
            mine = self._fault_of_part(checkpoint, marker), None
        except RefusalError as refusal:
            mine = None, str(refusal)
        every: list[Any] = [None] * dist.get_world_size()
        dist.all_gather_object(every, mine, group=self.group)
        if refusals := [refusal for _, refusal in every if refusal]:
            raise RefusalError(refusals[0])
        return next((fault for fault, _ in every if fault), None)

    def _fault_of_part(self, checkpoint: Path, marker: bytes) -> str | None:
        try:
            digests = json.loads(marker)["sha256"]
            names = sorted(str(path.relative_to(checkpoint)) for path in checkpoint.rglob("*"))
            check_files(checkpoint, names)
            self.trust.check(checkpoint, marker)
            files = {name for name in names if not (checkpoint / name).is_dir()}
            # Readers take what is there by patterns.
            if added := sorted(files - {MARKER, *digests}):
                return f"{added[0]} was added to it"
            for name in sorted(digests)[dist.get_rank() :: dist.get_world_size()]:
                if _digest(checkpoint / name) != digests[name]:
                    return f"{name} is not as it was written"
        except FileNotFoundError as error:
            return f"{Path(error.filename).name} is missing"
        except (OSError, ValueError, KeyError, TypeError) as error:
            return f"{type(error).__name__}: {error}"
        return None

    def save(self, step: int, write: Callable[..., "Future[Any]"]) -> None:
        """Begins to write the checkpoint of a step; waits for the one before.

        Raises:
            RefusalError: That one could not be written, or this one could not be begun.
        """
        self.wait()
        checkpoint = self.folder / f"step-{step:08}"

        def begin() -> None:
            if dist.get_rank() == 0:
                self._check_owner()
                # Of a run that was stopped in the middle, or one that was skipped.
                if checkpoint.exists():
                    shutil.rmtree(checkpoint)
                checkpoint.mkdir()

        self._together(begin)
        self._pending = self._thread.submit(
            self._finish, step, checkpoint, write(checkpoint, group=self.group)
        )

    def wait(self) -> None:
        """Waits until the checkpoint that was begun is whole.

        Raises:
            RefusalError: It could not be written, by this process or another one.
        """
        if self._pending:
            self._pending.result()
            self._pending = None

    def _together(self, part: Callable[[], T]) -> list[T]:
        """Does the part of each process; returns all results, or raises in all processes.

        One that fails alone would leave the others waiting, or ending with 0 without the
        checkpoint: of an elastic PyTorchJob, one worker's 0 is the success of the job.
        """
        mine: tuple[T | None, str | None]
        try:
            mine = part(), None
        except (OSError, CheckpointException, RefusalError) as error:
            mine = None, " ".join(str(error).split())
        every: list[Any] = [None] * dist.get_world_size()
        dist.all_gather_object(every, mine, group=self.group)
        for rank, (_, fault) in enumerate(every):
            if fault is not None:
                raise RefusalError(f"a checkpoint was not written, in process {rank}: {fault}")
        return [result for result, _ in every]

    def _finish(self, step: int, checkpoint: Path, written: "Future[Any]") -> None:
        rank = dist.get_rank()

        def end() -> None:
            written.result()

        self._together(end)  # in all processes, before one lists what is there

        def names() -> list[str]:
            if rank:
                return []
            return [str(f.relative_to(checkpoint)) for f in checkpoint.rglob("*") if f.is_file()]

        # One list for all: a folder that is read over the network may look different elsewhere.
        files = sorted(self._together(names)[0])
        share = files[rank :: dist.get_world_size()]

        def digest() -> dict[str, str]:
            for name in share:
                _sync(checkpoint / name)  # DeepSpeed does not
            return {name: _digest(checkpoint / name) for name in share}

        digests = self._together(digest)

        def complete() -> None:
            if rank == 0:
                self._check_owner()
                merged = {name: digest for part in digests for name, digest in part.items()}
                marker = {"step": step, "arguments": self.identity, "sha256": merged}
                self._write_marker(checkpoint, marker)
                _sync(self.folder)
                self.say("saved", step=step, checkpoint=str(checkpoint))
                self._remove_old(checkpoint)

        self._together(complete)

    def _write_marker(self, checkpoint: Path, marker: Mapping[str, Any]) -> None:
        """Makes a checkpoint whole, and this job's."""
        if dist.get_rank():
            return
        unfinished = self.folder / f".{checkpoint.name}"
        unfinished.write_text(self.trust.signed(marker))
        for path in (unfinished, *(f for f in checkpoint.rglob("*") if f.is_dir())):
            _sync(path)
        unfinished.replace(checkpoint / MARKER)
        _sync(checkpoint)

    def _remove_old(self, newest: Path) -> None:
        """Removes all but the last; what is after the newest is of a future that was lost."""
        before = [c for c in sorted(self.folder.glob("step-*")) if c <= newest]
        whole = [c for c in before if (c / MARKER).exists() and c not in self._skipped]
        for checkpoint in set(before) - set(whole[-self.keep :]):
            with contextlib.suppress(FileNotFoundError):
                (checkpoint / MARKER).unlink()  # first: it is no longer whole
            shutil.rmtree(checkpoint, ignore_errors=True)
