"""When what CloudFormation's express mode has made becomes ready."""

from dataclasses import dataclass

from emulator.aws.shared_settings import SharedSettings


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
