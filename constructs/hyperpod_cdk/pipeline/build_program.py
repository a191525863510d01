"""What a pipeline's builds run in place of what was pushed; their definitions have its text.

It needs Python and the AWS CLI alone, which the image of the builds has.
"""

import difflib
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

_FIXED_TIME = (1980, 1, 1, 0, 0, 0)


def digest(folder: str) -> str:
    """Return the SHA-256 digest of the names and contents of all files of a folder."""
    found = hashlib.sha256()
    for path in _files(Path(folder)):
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        found.update(json.dumps([path.relative_to(folder).as_posix(), content]).encode())
    return found.hexdigest()


def verify(folder: str, expected: str) -> str:
    """Refuse a cloud assembly that is not the one that its execution synthesized."""
    found = digest(folder)
    if found != expected:
        sys.exit(
            f"The assembly has SHA-256 {found}, but this execution synthesized {expected}: it was "
            "changed in the artifact bucket. Nothing was uploaded. Find out who writes there, "
            "then release the change again."
        )
    return f"The assembly is the one that this execution synthesized: SHA-256 {found}"


def compare(template: str, stack: str, command: str) -> str:
    """Refuse a template of the pipeline that is not the deployed one, and show the differences."""
    answer = _aws("cloudformation", "get-template", "--stack-name", stack)
    deployed = _lines(answer["TemplateBody"])
    pushed = _lines(json.loads(Path(template).read_text("utf-8")))
    if deployed == pushed:
        return f"{stack}: what was pushed leaves it as it is"
    differences = difflib.unified_diff(deployed, pushed, "deployed", "pushed", lineterm="")
    print("\n".join(differences), flush=True)  # noqa: T201 - the log of the build
    sys.exit(
        f"{stack}: what was pushed changes the pipeline itself, as shown above. A push does not do "
        f"that: read the differences, run `{command}` from a checkout of this commit with "
        "credentials of the pipeline's account, then release the change again."
    )


def publish(folder: str) -> str:
    """Upload the files in the asset manifests of a folder, with the roles that these name."""
    files = {
        (json.dumps(file["source"]), json.dumps(destination))
        for manifest in Path(folder).glob("*.assets.json")
        for file in json.loads(manifest.read_text("utf-8"))["files"].values()
        for destination in file["destinations"].values()
    }
    for source, destination in sorted(files):
        _upload(Path(folder), json.loads(source), json.loads(destination))
    return f"{len(files)} files were uploaded"


def _upload(folder: Path, source: dict[str, str], destination: dict[str, str]) -> None:
    # https://docs.aws.amazon.com/codebuild/latest/userguide/build-env-ref-env-vars.html
    partition = os.environ["CODEBUILD_BUILD_ARN"].split(":")[1]
    _, _, role = destination["assumeRoleArn"].partition(":iam::")  # the partition is open
    account = role.partition(":")[0]
    place = ["--region", destination["region"]]
    session = [
        "--role-arn",
        f"arn:{partition}:iam::{role}",
        "--role-session-name",
        "pipeline-publish",
    ]
    key = _aws("sts", "assume-role", *session, *place)["Credentials"]
    with tempfile.TemporaryDirectory() as directory:
        body = Path(os.path.normpath(folder / source["path"]))
        if body.is_absolute() or body.parts[0] == "..":
            sys.exit(f"{body}: is not in the assembly that was reviewed")
        if source["packaging"] == "zip":
            body = _packed(body, Path(directory, "asset.zip"))
        target = ["--bucket", destination["bucketName"], "--key", destination["objectKey"]]
        # The bucket of another account would get what its owner may change.
        target += ["--expected-bucket-owner", account]
        credentials = {
            "AWS_ACCESS_KEY_ID": key["AccessKeyId"],
            "AWS_SECRET_ACCESS_KEY": key["SecretAccessKey"],
            "AWS_SESSION_TOKEN": key["SessionToken"],
        }
        _aws("s3api", "put-object", *target, "--body", str(body), *place, **credentials)


def _packed(folder: Path, archive: Path) -> Path:
    """Pack a folder into an archive that is the same each time."""
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as package:
        for path in _files(folder):
            entry = zipfile.ZipInfo(path.relative_to(folder).as_posix(), _FIXED_TIME)
            entry.external_attr = path.stat().st_mode << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            package.writestr(entry, path.read_bytes())
    return archive


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if not path.is_dir())


def _lines(template: dict[str, Any]) -> list[str]:
    """Return a template as CloudFormation keeps it, which is in ASCII.

    Without what CDK tells of itself, which differs with the version of Python.
    """
    resources = {
        name: resource
        for name, resource in template["Resources"].items()
        if resource["Type"] != "AWS::CDK::Metadata"
    }
    text = json.dumps(
        {**template, "Resources": resources}, indent=1, sort_keys=True, ensure_ascii=False
    )
    return text.encode("ascii", "replace").decode().splitlines()


def _aws(*arguments: str, **environment: str) -> Any:  # noqa: ANN401 - any answer of AWS
    done = subprocess.run(  # noqa: S603 - the AWS CLI
        ["aws", *arguments, "--output", "json"],  # noqa: S607 - of the image
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        sys.exit(f"aws {' '.join(arguments[:2])}: failed, as said above")
    return json.loads(done.stdout)


if __name__ == "__main__":
    COMMANDS: dict[str, Callable[..., str]] = {
        "digest": digest,
        "verify": verify,
        "compare": compare,
        "publish": publish,
    }
    print(COMMANDS[sys.argv[1]](*sys.argv[2:]))  # noqa: T201 - the log of the build
