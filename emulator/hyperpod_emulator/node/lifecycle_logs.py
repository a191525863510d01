"""Writes what the lifecycle scripts of nodes and their agents say to CloudWatch, as HyperPod does.

The names of group and stream, and HyperPod's own lines, are those of awslabs/awsome-distributed-ai,
hyperpod-mental-model.md.
"""

import json
import re
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from types import TracebackType
from typing import Self

from hyperpod_emulator.aws.local_aws import AwsClients
from hyperpod_emulator.hardware import HardwareOf, unknown_hardware
from hyperpod_emulator.hyperpod import NodeView, Scripts
from hyperpod_emulator.node.node import NodeInstance, Run

_DOWNLOADS = "[SageMaker] Downloading lifecycle scripts"
_SUCCEEDED = "[SageMaker] The lifecycle scripts succeeded."
_ENTRIES = {"on_create.sh", "on_init_complete.sh"}
# Scripts that keep to a folder name this variable in one of their files: no other ones are run.
_KEEPS_TO = b"HYPERPOD_LIFECYCLE_ROOT"
_NOT_RUN = "#!/bin/sh\necho 'a simulated node does not run this script'\n"
_TIME = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ ")
_UNMOUNTED = "/dev/nvme1n1\tAmazon Elastic Block Store\t"
# By path, each file's content: hashable, since runs are remembered.
Files = tuple[tuple[str, bytes], ...]


@dataclass
class LifecycleLogs(Scripts):
    """Runs the scripts of each node that is launched, one after the other, and sends what they say.

    Nodes of one type say the same without Slurm, so the scripts run once for them.

    Attributes:
        clients: Clients of the AWS that has the scripts and gets the logs.
        hardware: What instance types have.
        not_run: Paths of scripts, below the folder, that others call and that are not run.
        environment: Further variables of the scripts.
    """

    clients: AwsClients
    hardware: HardwareOf = unknown_hardware
    not_run: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    _worker: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(1, thread_name_prefix="lifecycle-logs")
    )
    _begun: list[Future[None]] = field(default_factory=list)
    _downloaded: dict[tuple[str, ...], Files] = field(default_factory=dict)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        error: type[BaseException] | None,
        _value: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        self._worker.shutdown(cancel_futures=True)
        if error is None:
            for each in self._begun:
                if not each.cancelled():
                    each.result()

    def script_runs(self, node: NodeView, *, fails: bool) -> None:
        """See `hyperpod_emulator.hyperpod.Scripts`."""
        if node.lifecycle:
            self._begun.append(self._worker.submit(self._write, node, fails=fails))

    def wait(self) -> None:
        """Return when what has begun is written, or raise the ClientError that it was not."""
        for each in [*self._begun]:
            each.result()

    def fault_detected(self, node: NodeView, *, reason: str) -> None:
        """See `hyperpod_emulator.hyperpod.Scripts`."""
        record = {
            "level": "info",
            "msg": "NPD caught event: %v",
            "details: ": {"severity": "warn", "reason": "XidHardwareFailure", "message": reason},
            "HealthMonitoringAgentDetectionEvent": "HealthEvent",
        }
        put = partial(self._put, node, "SagemakerHealthMonitoringAgent", [json.dumps(record)])
        self._begun.append(self._worker.submit(put))

    def _write(self, node: NodeView, *, fails: bool) -> None:
        now = time.time()
        self._put(node, "LifecycleConfig", [_at(now, x) for x in self._lines(node, fails=fails)])

    def _put(self, node: NodeView, writer: str, lines: Sequence[str]) -> None:
        logs = self.clients("logs")
        stream = {
            "logGroupName": node.log_group,
            "logStreamName": f"{writer}/{node.instance_group}/{node.instance_id}",
        }
        with suppress(logs.exceptions.ResourceAlreadyExistsException):
            logs.create_log_group(logGroupName=stream["logGroupName"])
        with suppress(logs.exceptions.ResourceAlreadyExistsException):
            logs.create_log_stream(**stream)
        now = int(time.time() * 1000)
        events = [{"timestamp": now + place, "message": each} for place, each in enumerate(lines)]
        logs.put_log_events(**stream, logEvents=events)

    def _lines(self, node: NodeView, *, fails: bool) -> Iterator[str]:
        yield _DOWNLOADS
        scripts = self._scripts(node.lifecycle)
        succeeded = not fails
        if scripts is not None:
            run = _run(
                scripts,
                _entry(node.lifecycle),
                node.instance_type,
                self.hardware,
                mounts=node.mounts,
                address=node.private_ip if node.files else "",
                files=tuple(node.files.items()),
                not_run=self.not_run,
                environment=tuple(self.environment.items()),
                fails=fails,
            )
            succeeded = not fails and run.code == 0
            yield from run.output.splitlines()
        if succeeded:
            yield _SUCCEEDED

    def _scripts(self, lifecycle: Mapping[str, str]) -> Files | None:
        """Return the scripts; None if they are not there, or write into other folders too."""
        s3 = self.clients("s3")
        bucket, _, prefix = lifecycle["SourceS3Uri"].partition("://")[2].partition("/")
        folder = f"{prefix.rstrip('/')}/" if prefix.strip("/") else ""
        pages = s3.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=folder)
        try:
            found = [each for page in pages for each in page.get("Contents", ())]
        except s3.exceptions.NoSuchBucket:
            return None
        version = (bucket, *(f"{each['Key']} {each['ETag']}" for each in found))
        if version not in self._downloaded:
            self._downloaded[version] = tuple(
                (
                    each["Key"].removeprefix(folder),
                    s3.get_object(Bucket=bucket, Key=each["Key"])["Body"].read(),
                )
                for each in found
            )
        scripts = self._downloaded[version]
        kept = any(_KEEPS_TO in content for _, content in scripts)
        return scripts if kept and _entry(lifecycle) in _ENTRIES else None


def _entry(lifecycle: Mapping[str, str]) -> str:
    return lifecycle.get("OnCreate") or lifecycle["OnInitComplete"]


@cache
def _run(
    scripts: Files,
    entry: str,
    instance_type: str,
    hardware: HardwareOf,
    *,
    mounts: tuple[str, ...],
    address: str,
    files: tuple[tuple[str, str], ...],
    not_run: tuple[str, ...],
    environment: tuple[tuple[str, str], ...],
    fails: bool,
) -> Run:
    """Run the scripts on a node of its own, and return what they say."""
    with tempfile.TemporaryDirectory() as folder:
        downloaded = Path(folder, "downloaded")
        for path, content in scripts:
            target = downloaded / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        for path in not_run:
            if (downloaded / path).exists():
                (downloaded / path).write_text(_NOT_RUN)
        node = NodeInstance(Path(folder), scripts=downloaded, environment=dict(environment))
        node.set_instance_type(instance_type.removeprefix("ml."))
        facts = hardware(instance_type)
        if facts is not None:
            if facts.accelerator is not None and facts.accelerator.kind == "GPU":
                node.add_gpu()
            node.add_rdma(*(f"rdma{number}" for number in range(facts.efa_interfaces)))
        if files:
            node.join_slurm(address, dict(files))
        if fails:
            # A real fault that the scripts find: a volume that HyperPod has not mounted.
            node.state("disks", _UNMOUNTED)
        else:
            node.mount(*mounts)
        return node.run(entry)


def _at(moment: float, line: str) -> str:
    """Return a line as it would be written at another moment."""
    written = datetime.fromtimestamp(moment, tz=UTC).strftime("%Y-%m-%dT%H:%M:%SZ ")
    return _TIME.sub(written, line)
