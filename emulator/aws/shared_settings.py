"""What this process and that of the local AWS agree on.

Tags by which a resource gets the id that a configuration names; AWS draws ids.

Both sides of the local AWS read them, so nothing is imported here.

Settings that the process of a rehearsal shares with that of the local AWS, in a file.

When what CloudFormation's express mode has made becomes ready.

What AWS does not document about EKS, to be tried either way.
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal, Self

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
