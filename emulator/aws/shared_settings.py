"""Settings that the process of a rehearsal shares with that of the local AWS, in a file."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self


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
