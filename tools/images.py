"""Container images that files name, and the digests of their tags: `make lock` refreshes these.

A tag is chosen by hand; what it is now comes from its registry. Without a network, what is in the
files stays, and it says so.
"""

import re
import subprocess
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path

from tools.generate import REPOSITORY

_IMAGE = re.compile(
    r"(?<![\w.@])(?<![^/]/)(?<!http://)(?<!https://)"
    r"(?P<host>(?:[A-Za-z0-9][A-Za-z0-9-]*\.)+[a-z]{2,}|\$\{\w+\})[/#]"
    r"(?P<repository>[a-z0-9._-]+(?:/[a-z0-9._-]+)*)"
    # Enroot, whose registries end in a number sign, has a digest in the place of the tag.
    r"(?::(?!sha256)(?P<tag>\w[\w.-]*)(?![\w/-]))?(?:[:@]\"?\s*\"?@?(?P<digest>sha256:[0-9a-f]{64}))?"
)
# Of documents: nobody's.
_NOBODYS = re.compile(r"(?:^|\.)(?:example|invalid)$|^(?:111122223333|ACCOUNT)\.")
_FOLDERS = ("charts", "config", "constructs", "cli", "docs", "examples", "images", "lambda")
_KINDS = (
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
    "application/vnd.oci.image.manifest.v1+json",
    "application/vnd.docker.distribution.manifest.v2+json",
)
_SECONDS = 20


@dataclass(frozen=True, kw_only=True, slots=True)
class Image:
    """An image that a file names; without a digest, it is whatever its tag is when it is pulled."""

    host: str
    repository: str
    tag: str | None
    digest: str | None


def images_in(text: str) -> Iterator[Image]:
    """Yield the images that a text names with a registry and a tag or digest."""
    # A string that goes on in the next line: "...:tag" "@sha256:..."
    for match in _IMAGE.finditer(re.sub(r'"\n\s*"(?=@sha256:)', "", text)):
        image = Image(**match.groupdict())
        if (image.tag or image.digest) and not _NOBODYS.search(image.host):
            yield image


def files() -> Iterator[tuple[Path, str]]:
    """Yield the project's files that may name images, and their texts."""
    listed = subprocess.run(  # noqa: S603 - no input
        ["git", "ls-files", "-z", "--", *_FOLDERS],  # noqa: S607 - the developer's own
        check=True,
        cwd=REPOSITORY,
        capture_output=True,
    )
    for name in filter(None, listed.stdout.decode().split("\0")):
        path = REPOSITORY / name
        try:
            yield path, path.read_text("utf-8")
        except UnicodeDecodeError:
            continue  # a picture


def digest_of(image: Image) -> str:
    """Ask the registry which digest the tag of an image has.

    Raises:
        OSError: It does not answer, or has no such tag.
    """
    host = "registry-1.docker.io" if image.host == "docker.io" else image.host
    url = f"https://{host}/v2/{image.repository}/manifests/{image.tag}"
    headers = {"Accept": ", ".join(_KINDS)}
    try:
        answer = _asked(url, headers)
    except urllib.error.HTTPError as error:
        if error.code != HTTPStatus.UNAUTHORIZED:
            raise
        asks = dict(re.findall(r'(\w+)="([^"]*)"', error.headers.get("WWW-Authenticate", "")))
        wanted = {
            "service": asks.get("service", ""),
            "scope": f"repository:{image.repository}:pull",
        }
        token = _token(f"{asks['realm']}?{urllib.parse.urlencode(wanted)}")
        answer = _asked(url, {**headers, "Authorization": f"Bearer {token}"})
    return answer


def _asked(url: str, headers: Mapping[str, str]) -> str:
    request = urllib.request.Request(url, headers=dict(headers), method="HEAD")  # noqa: S310
    with urllib.request.urlopen(request, timeout=_SECONDS) as response:  # noqa: S310
        return str(response.headers["Docker-Content-Digest"])


def _token(url: str) -> str:
    with urllib.request.urlopen(url, timeout=_SECONDS) as response:  # noqa: S310
        found = re.search(r'"token"\s*:\s*"([^"]+)"', response.read().decode())
    if found is None:
        raise OSError("gives no token")
    return found[1]


def refreshed(
    texts: Mapping[Path, str], *, resolve: Callable[[Image], str]
) -> tuple[dict[Path, str], list[str]]:
    """Return the texts that change, with the digests that tags have now, and what to say."""
    pinned = {image for text in texts.values() for image in images_in(text)}
    changed, lines = dict(texts), []
    for image in sorted(pinned, key=str):
        if image.tag is None or image.digest is None:
            continue
        name = f"{image.host}/{image.repository}:{image.tag}"
        try:
            digest = resolve(image)
        except (OSError, KeyError) as error:
            lines.append(f"{name}: keeps its digest; its registry was not asked ({error})")
            continue
        if digest != image.digest:
            lines.append(f"{name}: is {digest} now")
            old = image.digest
            changed = {path: text.replace(old, digest) for path, text in changed.items()}
    return {path: text for path, text in changed.items() if text != texts[path]}, lines


if __name__ == "__main__":
    written, said = refreshed(dict(files()), resolve=digest_of)
    for path, text in written.items():
        path.write_text(text, encoding="utf-8")
    print("\n".join(said))
