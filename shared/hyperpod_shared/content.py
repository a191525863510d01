"""What an asset holds, as one digest: made with the template, compared before the asset is used.

The key of an asset says nothing of what lies there: who may write to the bucket can put something
else under it.
"""

import hashlib
from collections.abc import Callable, Iterable

_ALGORITHM = "sha256:"


def content_digest(paths: Iterable[str], *, read: Callable[[str], bytes]) -> str:
    """Return the digest of some files, their paths included, whatever archive they are in.

    Paths come in any order; an empty one is an archive that is used as it is.
    """
    total = hashlib.sha256()
    for path in sorted(paths):
        for part in (path.encode(), read(path)):
            total.update(hashlib.sha256(part).digest())
    return f"{_ALGORITHM}{total.hexdigest()}"


def is_content_digest(text: str) -> bool:
    """Say whether a text is such a digest; templates of version 0.1.0 have the asset's own hash."""
    return text.startswith(_ALGORITHM)
