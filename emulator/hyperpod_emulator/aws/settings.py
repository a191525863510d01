"""What this process is told by its parent, at its start and while it runs; its end with it."""

import json
import os
import shutil
import signal
import sys
import threading
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Self

_VARIABLE = "EMULATOR_SETTINGS"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What the local AWS is started with.

    Attributes:
        hyperpod_api: Base URL of the HyperPod API that SageMaker calls go to, a secret, or "".
        kubernetes_endpoint: Endpoint EKS reports for a cluster, or "" for MiniStack's own.
        kubernetes_ca: Base64 of the PEM certificate authority of that endpoint.
        kubernetes_token: Bearer token of EKS at that endpoint, to install add-ons; "" for
            add-ons that have no objects in Kubernetes.
        source_account: Whether HyperPod sends aws:SourceAccount when it assumes the roles of nodes
            and of scaling, as the services do that
            https://docs.aws.amazon.com/IAM/latest/UserGuide/confused-deputy.html is about; AWS does
            not say whether HyperPod does.
        regional_types: Regions whose CloudFormation has a type, by the types that not all have.
        ended_versions: Kubernetes versions of which EKS makes no cluster any more.
        instance_types: Names without `ml.` of the instances EC2 offers; none given: those of
            HyperPod in MiniStack's SDK, which is older than others.
        allowed_calls: File that gets which statements of roles allowed their calls, a JSON object a
            line; "" for none.
        messages: File that gets what SNS topics are told, a JSON object a line; "" for none.
        archives: Directory for what Lambda workers unpack.
        scratch: Directory to remove when the parent dies; this process then ends itself.
    """

    hyperpod_api: str = field(default="", repr=False)
    kubernetes_endpoint: str = ""
    kubernetes_ca: str = ""
    kubernetes_token: str = field(default="", repr=False)
    source_account: bool = False
    regional_types: Mapping[str, Collection[str]] = field(default_factory=dict)
    ended_versions: Collection[str] = ()
    instance_types: Collection[str] = ()
    allowed_calls: str = ""
    messages: str = ""
    archives: str = ""
    scratch: str = ""

    def environment(self) -> dict[str, str]:
        """Return the variable with which a parent passes them on."""
        values = {each.name: getattr(self, each.name) for each in fields(Settings)}
        return {_VARIABLE: json.dumps(values, default=sorted)}


@cache
def own_settings() -> Settings:
    """Take this process's settings out of its environment: Lambda workers inherit what stays."""
    os.environ.pop("PYTHONPATH", None)
    return Settings(**json.loads(os.environ.pop(_VARIABLE)))


def follow_parent(*, scratch: str) -> None:
    """Watch standard input, a pipe whose other end only the parent holds, and end with it.

    The scratch directory goes, too. A pipe rather than PR_SET_PDEATHSIG: that signal is sent when
    the parent's *thread* ends, reaches only this process and not its Lambda workers, and exists on
    Linux alone.
    """

    def wait() -> None:
        while sys.stdin.buffer.read(1):
            pass
        shutil.rmtree(scratch, ignore_errors=True)
        os.killpg(os.getpgrp(), signal.SIGKILL)

    threading.Thread(target=wait, name="parent-watch", daemon=True).start()


KMS_KEY_ID = "emulator:key-id"
NETWORK_ID = "emulator:network-id"
"""Of a VPC, subnet, security group, route table, NAT gateway, internet gateway or reservation."""
FILE_SYSTEM_ID = "emulator:file-system-id"
WORKSPACE_ID = "emulator:workspace-id"
OIDC_PROVIDER_ID = "emulator:oidc-provider-id"
"""Of an EKS cluster: the end of the URL of who signs the tokens of its service accounts."""
SAGEMAKER_EVENTS = "hyperpod_emulator.sagemaker"
"""The source of events that the local AWS takes for SageMaker's own. From others it refuses sources
that begin with `aws.`, as AWS does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What a parent tells the local AWS while it runs, in a file of its directory."""

    @classmethod
    def read(cls, directory: Path) -> Self:
        """Return what was told last; the defaults if nothing was."""
        path = directory / f"{cls.__name__}.json"
        return cls(**json.loads(path.read_text())) if path.exists() else cls()

    def write(self, directory: Path) -> None:
        """Tell it."""
        path = directory / f"{type(self).__name__}.json"
        unfinished = path.with_name(f"{path.name}.new")
        unfinished.write_text(json.dumps(asdict(self)))
        unfinished.replace(path)


@dataclass(frozen=True, slots=True, kw_only=True)
class Readiness(Told):
    """How long things are not ready that no stack operation waits for.

    Attributes:
        descriptions: How often an EKS cluster or a file system is described as CREATING after its
            call has succeeded. No time: it is as fast as the machine.
        file_system_failure: Why a file system is FAILED afterwards; "" if it becomes AVAILABLE.
        clusters_again: Unless 0, a number that was not given before has the EKS clusters that are
            there already do the same once more.
    """

    descriptions: int = 3
    file_system_failure: str = ""
    clusters_again: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class FailingStep(Told):
    """A resource of a stack whose next creation or update fails; "" if none does."""

    stack: str = ""
    logical_id: str = ""

    @classmethod
    def take(cls, directory: Path, *, stack: str, logical_id: str) -> bool:
        """Return whether a step is the one that the parent has written, which it is once."""
        is_meant = cls.read(directory) == cls(stack=stack, logical_id=logical_id)
        if is_meant:
            cls().write(directory)
        return is_meant


@dataclass(frozen=True, slots=True, kw_only=True)
class Scarcity(Told):
    """The types, by EC2's names, of which EC2 has no instances outside capacity reservations."""

    instance_types: Collection[str] = ()
