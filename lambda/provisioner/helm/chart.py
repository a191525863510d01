"""The chart of a release: fetched from S3 within limits, and searched without rendering it."""

from collections.abc import Collection, Iterator
from pathlib import Path

from hyperpod_shared.archives import ArchiveError, Room, chart_members
from hyperpod_shared.errors import ProvisioningError
from provisioner.aws.s3 import Bucket, require_content, unpack_chart
from provisioner.framework.retry import Clock

_PACKAGED = (".tgz", ".tar.gz")
# An annotation, as `charts/not-packaged/Chart.yaml` has it.
_PLACEHOLDER = b"hyperpod-cdk/placeholder:"


def fetch_chart(bucket: Bucket, *, key: str, digest: str, folder: Path, clock: Clock) -> Path:
    """Return the local path of a chart: a packaged one, or the folder of a zipped one.

    The key ends in `.tgz` or `.zip`; the digest is of the packaged chart, or of the files that are
    zipped.

    Raises:
        ProvisioningError: There is no such asset, it is no chart, another one, a placeholder for
            one, unpacks to too much, or holds what is not a file in it.
    """
    content = bucket.read(key, clock=clock)
    origin = f"s3://{bucket.name}/{key}"
    if key.endswith(".zip"):
        chart = unpack_chart(content, folder=folder / "chart", digest=digest, origin=origin)
        _refuse_placeholder(chart)
        return chart
    require_content([""], read=lambda _: content, digest=digest, origin=origin)
    _refuse_hostile(content, origin)
    path = folder / "chart.tgz"
    path.write_bytes(content)
    return path


def mentions(chart: Path, names: Collection[str]) -> bool:
    """Say whether any file of a chart has one of the names in it; an unreadable chart may.

    Rendering shows it more exactly, but makes an install slower than helm alone (ADR 30).
    """
    wanted = [name.encode() for name in names]
    if not wanted:
        return False
    files = [path for path in chart.rglob("*") if path.is_file()] if chart.is_dir() else [chart]
    room = Room()
    try:
        return any(
            name in content
            for path in files
            for content in _unpacked(path.name, path.read_bytes(), room)
            for name in wanted
        )
    except ArchiveError:
        return True  # a subchart in a chart folder; helm reports what is wrong with it


def _refuse_placeholder(chart: Path) -> None:
    if _PLACEHOLDER in (chart / "Chart.yaml").read_bytes():
        raise ProvisioningError(
            "The templates have a placeholder: the official Helm chart was not packaged",
            next_step="Run `hyperpod-cdk charts`, synthesize and deploy again.",
        )


def _refuse_hostile(content: bytes, origin: str) -> None:
    """Refuse a packaged chart before helm reads it."""
    try:
        for _ in _unpacked(origin, content, Room()):
            pass
    except ArchiveError as error:
        raise ProvisioningError(
            f"The chart {origin} {error}",
            next_step="Package it with `helm package`, without unneeded files.",
        ) from None


def _unpacked(name: str, content: bytes, room: Room) -> Iterator[bytes]:
    """Return the content of a file, or of the files that a packaged chart holds."""
    if not name.endswith(_PACKAGED):
        yield content
        return
    for inner, file in chart_members(content, room=room):
        yield from _unpacked(inner, file, room)
