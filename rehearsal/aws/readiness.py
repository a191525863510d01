"""When what CloudFormation's express mode has made becomes ready.

The process of the rehearsal says it, in a file; that of the local AWS reads it.
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

_FILE = "readiness.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Readiness:
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

    @classmethod
    def read(cls, directory: Path) -> "Readiness":
        """Return what the rehearsal has written; the defaults if nothing."""
        path = directory / _FILE
        return cls(**json.loads(path.read_text())) if path.exists() else cls()

    def write(self, directory: Path) -> None:
        """Write it for the local AWS to read."""
        unfinished = directory / f"{_FILE}.new"
        unfinished.write_text(json.dumps(asdict(self)))
        unfinished.replace(directory / _FILE)
