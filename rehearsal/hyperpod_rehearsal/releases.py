"""What a release deploys, kept so that the next version can be tried as an update of it.

`make record-release` keeps the default deployment of the version in `pyproject.toml` in
`releases/<version>`: its configuration, and its cloud assembly with this project's own part of the
assets. What packages provide of them (SDK, kubectl, CDK's provider framework), and the chart that
stands in for the official one, come from the version that is tried (ADR 49).
"""

from __future__ import annotations

import json
import shutil
import sys
import tarfile
import tempfile
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from hyperpod_cdk.synthesis.assets import asset_directory
from hyperpod_cli.terminal.errors import REFUSED, OpsError
from hyperpod_rehearsal import REPOSITORY
from hyperpod_rehearsal.stand_in_chart import STAND_IN
from hyperpod_stacks.app import main as synthesize

RELEASES = asset_directory("releases")
_CONFIG = asset_directory("config") / "default.yaml"
_ASSEMBLY = "assembly.tar.xz"
# Assets by their construct: what packages provide, what stands in for the official chart, and the
# asset of which packages provide a part.
_PROVIDED = {"Provisioner/KubectlLayer/Code", "Provisioner/Provider/framework-onEvent/Code"}
_CHART = "Dependencies/Chart"
_FUNCTION, _OWN_OF_FUNCTION = "Provisioner/OnEvent/Code", "provisioner"
_TEXTS = ("cdk.out", "manifest.json", "*.template.json", "*.assets.json")


@dataclass(frozen=True, kw_only=True, slots=True)
class Release:
    """The default deployment of a released version, such as 0.1.0, and where it is kept."""

    version: str
    directory: Path

    @property
    def config(self) -> Path:
        """File of the configuration."""
        return self.directory / "config.yaml"

    def texts(self) -> dict[str, str]:
        """Return the templates and manifests of the cloud assembly, by file name."""
        with self._archive() as archive:
            return {
                member.name: file.read().decode()
                for member in archive
                if "/" not in member.name and (file := archive.extractfile(member))
            }

    def templates(self) -> dict[str, dict[str, object]]:
        """Return the template of each stack."""
        suffix = ".template.json"
        return {
            name.removesuffix(suffix): json.loads(text)
            for name, text in self.texts().items()
            if name.endswith(suffix)
        }

    def restore(self, assembly: Path, *, like: Path) -> None:
        """Write the release's cloud assembly, with what packages provide from one of today.

        Raises:
            OpsError: Today's assembly lacks an asset that the release takes from packages.
        """
        shutil.rmtree(assembly, ignore_errors=True)
        with self._archive() as archive:
            archive.extractall(assembly, filter="data")
        today = dict(_assets(like))
        for construct, path in _assets(assembly):
            if construct not in {*_PROVIDED, _CHART, _FUNCTION}:
                continue
            if construct not in today:
                raise OpsError(
                    f"{self.directory}: takes the asset {construct} from packages, and no stack "
                    "of today has it; name its successor in "
                    "rehearsal/hyperpod_rehearsal/releases.py"
                )
            if construct == _CHART:
                shutil.rmtree(assembly / path, ignore_errors=True)
            _copy(like / today[construct], assembly / path, is_function=construct == _FUNCTION)

    def _archive(self) -> tarfile.TarFile:
        return tarfile.open(self.directory / _ASSEMBLY)


def releases() -> list[Release]:
    """Return the releases that are kept, the newest last."""
    releases = [
        Release(version=path.name, directory=path) for path in RELEASES.iterdir() if path.is_dir()
    ]
    return sorted(releases, key=lambda release: tuple(map(int, release.version.split("."))))


def record(*, version: str) -> Release:
    """Keep what this version deploys by default; raise OpsError if it is kept already."""
    release = Release(version=version, directory=RELEASES / version)
    if release.directory.exists():
        raise OpsError(
            f"pyproject.toml: version {version} is released already; set the next version"
        )
    with tempfile.TemporaryDirectory() as temporary:
        assembly = Path(temporary)
        if synthesize(config=_CONFIG, output=assembly, chart=STAND_IN) != 0:
            raise OpsError(f"{_CONFIG}: cannot be synthesized; the lines above say why")
        release.directory.mkdir(parents=True)
        shutil.copy(_CONFIG, release.config)
        _leave_out_metadata(assembly / "manifest.json")
        texts = [path for pattern in _TEXTS for path in sorted(assembly.glob(pattern))]
        with tarfile.open(release.directory / _ASSEMBLY, "w:xz") as archive:
            for path in [*texts, *_own_assets(assembly)]:
                archive.add(path, str(path.relative_to(assembly)), filter=_without_owner)
    return release


def _leave_out_metadata(manifest: Path) -> None:
    """Take what the CDK CLI does not deploy, with the paths of this machine, off a manifest."""
    content = json.loads(manifest.read_text(encoding="utf-8"))
    content["artifacts"].pop("Tree", None)
    for artifact in content["artifacts"].values():
        artifact.pop("additionalMetadataFile", None)
    manifest.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def _own_assets(assembly: Path) -> Iterator[Path]:
    for construct, path in sorted(_assets(assembly)):
        if construct == _FUNCTION:
            yield assembly / path / _OWN_OF_FUNCTION
        elif construct not in {*_PROVIDED, _CHART}:
            yield assembly / path


def _assets(assembly: Path) -> Iterator[tuple[str, str]]:
    """Yield construct and path of each asset that is no template."""
    for manifest in sorted(assembly.glob("*.assets.json")):
        for file in json.loads(manifest.read_text(encoding="utf-8"))["files"].values():
            path: str = file["source"]["path"]
            if not path.endswith(".template.json"):
                yield file["displayName"], path


def _copy(source: Path, target: Path, *, is_function: bool) -> None:
    if source.is_file():
        shutil.copy(source, target)
        return
    ignored = shutil.ignore_patterns(_OWN_OF_FUNCTION) if is_function else None
    shutil.copytree(source, target, ignore=ignored, dirs_exist_ok=True)


def _without_owner(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    member.mtime = 0
    return member


def main() -> int:
    """Run the command line; return 2 when the version is kept already."""
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
    try:
        release = record(version=project["project"]["version"])
    except OpsError as error:
        print(error, file=sys.stderr)
        return REFUSED
    print(f"Kept in {release.directory.relative_to(REPOSITORY)}; commit it, and tag the commit.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
