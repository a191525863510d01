"""What this process is told by its parent, at its start and while it runs; its end with it."""

import json
import os
import shutil
import signal
import sys
import threading
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal, Self


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Where the rest of the rehearsal listens. An empty string means: not there.

    Attributes:
        hyperpod_api: Base URL that SageMaker calls are forwarded to.
        kubernetes_endpoint: What EKS DescribeCluster reports as the cluster's endpoint.
        kubernetes_ca: Base64 of the PEM certificate authority of that endpoint.
        kubernetes_token: Bearer token of EKS at that endpoint.
        source_account: Whether HyperPod names the account it acts for when it assumes a role.
        allowed_calls: File that gets which statements of roles allowed their calls.
        native_regions: Regions with AWS::SageMaker::Cluster, with commas between; "": all.
        instance_types: Those of EC2 and HyperPod, with commas between; "": those of the SDK.
        archives: Directory for what Lambda workers unpack.
        scratch: Directory to remove when the parent dies; this process then ends itself.
    """

    hyperpod_api: str
    kubernetes_endpoint: str
    kubernetes_ca: str
    kubernetes_token: str
    source_account: bool
    allowed_calls: str
    native_regions: str
    instance_types: str
    archives: str
    scratch: str

    @classmethod
    def from_environment(cls) -> "Settings":
        """Take the settings out of the environment, for Lambda workers inherit what stays in it."""
        os.environ.pop("PYTHONPATH", None)
        return cls(
            hyperpod_api=os.environ.pop("EMULATOR_HYPERPOD_API", ""),
            kubernetes_endpoint=os.environ.pop("EMULATOR_KUBERNETES_ENDPOINT", ""),
            kubernetes_ca=os.environ.pop("EMULATOR_KUBERNETES_CA", ""),
            kubernetes_token=os.environ.pop("EMULATOR_KUBERNETES_TOKEN", ""),
            source_account=os.environ.pop("EMULATOR_SOURCE_ACCOUNT", "") == "sent",
            allowed_calls=os.environ.pop("EMULATOR_ALLOWED_CALLS", ""),
            native_regions=os.environ.pop("EMULATOR_NATIVE_REGIONS", ""),
            instance_types=os.environ.pop("EMULATOR_INSTANCE_TYPES", ""),
            archives=os.environ.pop("EMULATOR_ARCHIVES", ""),
            scratch=os.environ.pop("EMULATOR_SCRATCH", ""),
        )


def follow_parent(*, scratch: str) -> None:
    """Watch standard input, a pipe whose other end only the parent holds, and end with it.

    A pipe rather than PR_SET_PDEATHSIG: that signal is sent when the parent's *thread* ends,
    reaches only this process and not its Lambda workers, and exists on Linux alone.

    Args:
        scratch: Directory that the parent can no longer remove.
    """

    def wait() -> None:
        while sys.stdin.buffer.read(1):
            pass
        shutil.rmtree(scratch, ignore_errors=True)
        os.killpg(os.getpgrp(), signal.SIGKILL)

    threading.Thread(target=wait, name="parent-watch", daemon=True).start()


KMS_KEY_ID = "emulator:key-id"
NETWORK_ID = "emulator:network-id"
"""Of a VPC, subnet, security group, route table, NAT gateway or internet gateway."""
FILE_SYSTEM_ID = "emulator:file-system-id"


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedSettings:
    """Values with a default each; a subclass is a dataclass that has them."""

    @classmethod
    def read(cls, directory: Path) -> Self:
        """Return what the rehearsal has written; the defaults if nothing."""
        path = directory / cls._file()
        return cls(**json.loads(path.read_text())) if path.exists() else cls()

    def write(self, directory: Path) -> None:
        """Write it for the local AWS to read."""
        unfinished = directory / f"{self._file()}.new"
        unfinished.write_text(json.dumps(asdict(self)))
        unfinished.replace(directory / self._file())

    @classmethod
    def _file(cls) -> str:
        return f"{cls.__name__}.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Readiness(SharedSettings):
    """How long things are not ready that no stack operation waits for.

    Attributes:
        descriptions: How often an EKS cluster or a file system is described as CREATING after its
            call has succeeded. No time: a rehearsal is as fast as the machine.
        file_system_failure: Why a file system is FAILED afterwards; "" if it becomes AVAILABLE.
        clusters_again: Unless 0, a number that was not given before has the EKS clusters that are
            there already do the same once more.
    """

    descriptions: int = 3
    file_system_failure: str = ""
    clusters_again: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class EksUnknowns(SharedSettings):
    """One of the possible answers to each question.

    Attributes:
        older_in_a_rollback: What becomes of a cluster whose former Kubernetes version a stack's
            rollback brings back. It "does not trigger a cluster version rollback" (EKS user guide,
            rollback-cluster): the resource may pass as it is, or fail as it did before EKS had
            such rollbacks (https://github.com/aws/containers-roadmap/issues/497).
        same: What becomes of an update to the Kubernetes version that a cluster has already, as
            after a rollback that kept it. EKS's own API refuses it
            (https://github.com/rancher/rancher/issues/21043); CloudFormation may not call it.
    """

    older_in_a_rollback: Literal["kept", "refused"] = "kept"
    same: Literal["kept", "refused"] = "kept"
