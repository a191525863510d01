"""What AWS does not document about EKS, to be tried either way."""

from dataclasses import dataclass
from typing import Literal

from emulator.aws.shared_settings import SharedSettings


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
