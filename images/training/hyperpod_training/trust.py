"""Whether this job wrote a checkpoint: to read one is to run what is in it, as it is pickled.

Whoever can write to a shared file system could put one there. A job's own has the digest of its
`complete.json` by the job's key, and all of it belongs to the job's user.
"""

import hashlib
import hmac
import json
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hyperpod_training.options import Options, RefusalError, check_user

_DIGEST = "hmac"


class Trust:
    """What a job trusts: its own checkpoints, and one more by consent.

    Without `--checkpoint-key`, all that belongs to the job's user.
    """

    def __init__(self, options: Options) -> None:
        self._key = b""
        self._consented = options.trust
        if options.checkpoint_key is not None:
            try:
                self._key = options.checkpoint_key.read_bytes().strip()
            except OSError as error:
                file = options.checkpoint_key
                raise RefusalError(f"--checkpoint-key {file}: {error.strerror}") from error
            if len(self._key) < 32:  # noqa: PLR2004 - as long as the digest: RFC 2104
                raise RefusalError(
                    f"--checkpoint-key {options.checkpoint_key} is shorter than 32 bytes: make one"
                    " by `openssl rand -hex 32`"
                )

    def signed(self, marker: Mapping[str, Any]) -> str:
        """Returns the text of a marker, with its digest if there is a key."""
        content = {name: value for name, value in marker.items() if name != _DIGEST}
        if self._key:
            content[_DIGEST] = self._digest(content)
        return json.dumps(content)

    def _digest(self, content: Mapping[str, Any]) -> str:
        text = json.dumps(content, sort_keys=True).encode()
        return hmac.new(self._key, text, "sha256").hexdigest()

    def check(self, checkpoint: Path, marker: bytes) -> bool:
        """Says whether it was written with the job's key, and not taken over by consent.

        Raises:
            RefusalError: Neither is so.
        """
        if not self._key:
            return True
        content = json.loads(marker)
        had = str(content.pop(_DIGEST, ""))
        if hmac.compare_digest(had.encode(), self._digest(content).encode()):
            return True
        name = f"sha256:{hashlib.sha256(marker).hexdigest()}"
        if name != self._consented:
            raise RefusalError(
                f"{checkpoint} was not written with this job's key, and a checkpoint can run code:"
                f" if you know who wrote it, take it over with --trust {name} (of the chart:"
                f" --set arguments.trust={name}); else delete it, or name another folder by"
                " --checkpoints"
            )
        return False


def check_files(checkpoint: Path, names: list[str]) -> None:
    """Refuses what is not a file or folder of the job's user.

    Raises:
        RefusalError: It is another user's, a link or a device.
    """
    for path in (checkpoint, *(checkpoint / name for name in names)):
        there = path.lstat()
        check_user(path, there)
        if not (stat.S_ISREG(there.st_mode) or stat.S_ISDIR(there.st_mode)):
            raise RefusalError(
                f"{path} is neither a file nor a folder, so no job wrote it: delete it, or name"
                " another folder by --checkpoints"
            )
