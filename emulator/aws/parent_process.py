"""The settings that the parent process passes, and the end of this process with its parent."""

import os
import shutil
import signal
import sys
import threading
from dataclasses import dataclass


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
