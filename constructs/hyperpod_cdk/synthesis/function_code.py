"""The deployment packages of functions: their code and a pinned AWS SDK cut to what they call."""

import hashlib
import re
import shutil
from collections.abc import Collection, Iterator
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import jsii
from aws_cdk import AssetHashType, BundlingOptions, DockerImage, ILocalBundling
from aws_cdk import aws_lambda as lambda_

import hyperpod_shared
from hyperpod_cdk.synthesis.assets import asset_directory

# boto3 and all that it imports; `six` is a module, the others are packages.
_SDK_PACKAGES = ("boto3", "botocore", "s3transfer", "jmespath", "urllib3", "dateutil", "six")
_SDK_DISTRIBUTIONS = (
    "boto3", "botocore", "s3transfer", "jmespath", "urllib3", "python-dateutil", "six",
)  # fmt: skip
_CLIENT = re.compile(r"\.client\(\s*\"(\w+)\"")
_NEVER_SHIPPED = shutil.ignore_patterns("__pycache__", "*.pyc", "*.pyi", "py.typed", "examples")


def function_code(package: str) -> lambda_.Code:
    """Return the code asset of a function's package.

    The SDK comes from this environment, so the model that validated the configuration is the one
    that calls HyperPod; the Lambda runtime's own SDK lags it and refuses newer parameters. Only the
    models of services that the code makes clients of are shipped.
    """
    return lambda_.Code.from_asset(
        str(asset_directory("lambda")),
        asset_hash=_digest(package),
        asset_hash_type=AssetHashType.CUSTOM,
        bundling=BundlingOptions(
            # Never pulled: the local bundling below always succeeds.
            image=DockerImage.from_registry("public.ecr.aws/lambda/python"),
            local=_CopyCodeAndSdk(package),
        ),
    )


@jsii.implements(ILocalBundling)
class _CopyCodeAndSdk:
    def __init__(self, package: str) -> None:
        self._package = package

    def try_bundle(self, output_dir: str, *_args: Any, **_options: Any) -> bool:
        target = Path(output_dir)
        for package in _packages(self._package):
            shutil.copytree(package, target / package.name, ignore=_NEVER_SHIPPED)
        services = _services(self._package)
        for name in _SDK_PACKAGES:
            location = _location(name)
            if location.is_file():
                shutil.copyfile(location, target / location.name)
            else:
                _copy_package(location, target / name, services=services)
        return True


def _copy_package(location: Path, target: Path, *, services: Collection[str]) -> None:
    shutil.copytree(
        location,
        target,
        ignore=lambda directory, names: {
            *_NEVER_SHIPPED(directory, names),
            *(["data"] if Path(directory) == location and location.name != "dateutil" else []),
        },
    )
    if location.name == "botocore":
        data = location / "data"
        for path in sorted(data.iterdir()):
            if path.is_file():
                (target / "data").mkdir(exist_ok=True)
                shutil.copyfile(path, target / "data" / path.name)
            elif path.name in services:
                shutil.copytree(path, target / "data" / path.name)


def _location(name: str) -> Path:
    spec = find_spec(name)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(
            f"{name} is not installed, so no function can be packaged; "
            "run `pip install -r requirements.txt`"
        )
    origin = Path(spec.origin)
    return origin.parent if origin.name == "__init__.py" else origin


def _packages(package: str) -> tuple[Path, Path]:
    """Return a function's own code, and what it shares with the command line."""
    shared = Path(hyperpod_shared.__file__).parent
    return asset_directory("lambda") / package, shared


def _services(package: str) -> set[str]:
    """Return the services that the code makes clients of."""
    sources = (
        path.read_text("utf-8") for folder in _packages(package) for path in folder.rglob("*.py")
    )
    return {name for source in sources for name in _CLIENT.findall(source)}


def _digest(package: str) -> str:
    digest = hashlib.sha256()
    for part in _digest_parts(package):
        digest.update(part)
        digest.update(b"\0")
    return digest.hexdigest()


def _digest_parts(package: str) -> Iterator[bytes]:
    for name in _SDK_DISTRIBUTIONS:
        yield f"{name}=={version(name)}".encode()
    for folder in _packages(package):
        for path in sorted(folder.rglob("*.py")):
            yield path.relative_to(folder.parent).as_posix().encode()
            yield path.read_bytes()
