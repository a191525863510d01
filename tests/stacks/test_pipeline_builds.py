"""The builds of a pipeline that run nothing of what was pushed: what they refuse and upload."""

import json
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from hyperpod_cdk.pipeline.build_program import digest
from tests.stacks.test_pipeline_stack import commands, variant
from tests.support.assembly import Assembly


class Build:
    """A build of the template, run in a shell with a stand-in for the AWS CLI."""

    def __init__(self, assembly: Assembly, action: str, *, directory: Path) -> None:
        self._commands = commands(assembly, action)
        self._directory = directory
        self.folder = directory / "assembly"
        shutil.copytree(assembly.directory, self.folder, ignore=shutil.ignore_patterns("tree.json"))

    def run(self, *, answer: object, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run its commands; each call of the AWS CLI is noted, and gets an answer."""
        tools = self._directory / "tools"
        tools.mkdir(exist_ok=True)
        (tools / "answer.json").write_text(json.dumps(answer))
        calls = self._directory / "calls"
        calls.touch()
        # It keeps each archive that is uploaded.
        program = (
            f'#!/bin/sh\necho "$AWS_ACCESS_KEY_ID $@" >> {calls}\ncat {tools}/answer.json\n'
            f'for word in "$@"; do case "$word" in */asset.zip) cp "$word" {self._directory};; '
            "esac; done\n"
        )
        (tools / "aws").write_text(program)
        (tools / "aws").chmod(0o755)
        python = str(Path(sys.executable).parent)
        return subprocess.run(
            ["bash", "-ec", "\n".join(self._commands)],
            cwd=self.folder,
            env={
                "PATH": f"{tools}:{python}:/usr/bin:/bin",
                "CODEBUILD_BUILD_ARN": "arn:aws-cn:codebuild:us-west-2:111122223333:build/a:b",
                **variables,
            },
            capture_output=True,
            text=True,
            check=False,
        )

    @property
    def calls(self) -> list[str]:
        return (self._directory / "calls").read_text().splitlines()


KEY = {"AccessKeyId": "assumed", "SecretAccessKey": "b", "SessionToken": "c"}


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Assembly:
    """Return a pipeline that uploads a folder."""
    files = tmp_path_factory.mktemp("files")
    (files / "folder").mkdir()
    (files / "folder" / "handler.py").write_text("import os")
    (files / "run.sh").write_text("exit")
    (files / "run.sh").chmod(0o755)
    return variant("code-commit", directory=tmp_path_factory.mktemp("small"), files=files)


def change_template(folder: Path) -> None:
    (path,) = folder.glob("assembly-prod/*.template.json")
    path.write_text(path.read_text().replace("WaitCondition", "Macro"))


def change_file(folder: Path) -> None:
    (path,) = folder.glob("asset.*/run.sh")
    path.write_text("id")


def add_file(folder: Path) -> None:
    next(folder.glob("asset.*/folder")).joinpath("sitecustomize.py").write_text("")


def rename_file(folder: Path) -> None:
    (path,) = folder.glob("asset.*/run.sh")
    path.rename(path.with_name("other.sh"))


def shadow_modules(folder: Path) -> None:
    for name in ("hashlib", "json", "sys"):
        (folder / f"{name}.py").write_text("import os; os._exit(0)")


def link_file(folder: Path) -> None:
    next(folder.glob("asset.*")).joinpath("environment").symlink_to("/proc/self/environ")


def link_folder(folder: Path) -> None:
    (path,) = folder.glob("asset.*")
    path.symlink_to(path.rename(folder.parent / "moved"))


@pytest.mark.parametrize(
    "change",
    [
        change_template,
        change_file,
        add_file,
        rename_file,
        shadow_modules,
        link_file,
        link_folder,
    ],
)
def test_what_is_changed_after_its_synthesis_is_neither_uploaded_nor_deployed(
    small: Assembly, tmp_path: Path, change: Callable[[Path], None]
) -> None:
    build = Build(small, "Publish-prod", directory=tmp_path)
    synthesized = digest(str(build.folder))
    change(build.folder)

    done = build.run(answer={"Credentials": KEY}, ASSEMBLY_SHA256=synthesized)

    assert done.returncode != 0
    assert f"but this execution synthesized {synthesized}" in done.stderr
    assert build.calls == []


def test_a_review_refuses_a_changed_assembly_before_it_runs_what_was_pushed(
    small: Assembly,
) -> None:
    first, second, *_ = commands(small, "Review-prod")

    assert first.endswith('verify "$CODEBUILD_SRC_DIR_Assembly" "$ASSEMBLY_SHA256"')
    assert "git rev-parse HEAD" in second


def test_what_is_as_it_was_is_uploaded_with_the_role_of_its_environment(
    small: Assembly, tmp_path: Path
) -> None:
    build = Build(small, "Publish-prod", directory=tmp_path)

    done = build.run(answer={"Credentials": KEY}, ASSEMBLY_SHA256=digest(str(build.folder)))

    assert (done.returncode, done.stderr) == (0, "")
    role = (
        "sts assume-role --role-arn arn:aws-cn:iam::111122223333:role/"
        "cdk-hnb659fds-file-publishing-role-111122223333-us-west-2 "
    )
    assumed, uploads = build.calls[0::2], build.calls[1::2]
    assert len(assumed) == len(uploads) == 2  # the folder, and the template
    assert all(role in call for call in assumed)
    target = "--bucket cdk-hnb659fds-assets-111122223333-us-west-2 --key"
    assert all(call.startswith(f"assumed s3api put-object {target}") for call in uploads)
    assert all("--expected-bucket-owner 111122223333" in call for call in uploads)
    assert "2 files were uploaded" in done.stdout
    with zipfile.ZipFile(tmp_path / "asset.zip") as package:
        assert package.namelist() == ["folder/handler.py", "run.sh"]
        assert package.getinfo("run.sh").external_attr >> 16 & 0o777 == 0o755


@pytest.mark.parametrize("path", ["/proc/self/environ", "../../environ"])
def test_a_file_outside_of_the_assembly_is_not_uploaded(
    small: Assembly, tmp_path: Path, path: str
) -> None:
    build = Build(small, "Publish-prod", directory=tmp_path)
    for manifest in build.folder.glob("assembly-prod/*.assets.json"):
        text = re.sub(r'"path": "[^"]+"', f'"path": "{path}"', manifest.read_text())
        manifest.write_text(text)

    done = build.run(answer={"Credentials": KEY}, ASSEMBLY_SHA256=digest(str(build.folder)))

    assert done.returncode == 1
    assert "is not in the assembly" in done.stderr
    assert [call for call in build.calls if "put-object" in call] == []


def test_a_push_that_changes_the_pipeline_is_shown_and_stopped(
    small: Assembly, tmp_path: Path
) -> None:
    build = Build(small, "CheckPipeline", directory=tmp_path)
    deployed = small.templates()["ml-pipeline"]
    # Of another version of Python, and as CloudFormation keeps it.
    resources = {**deployed["Resources"], "CDKMetadata": {"Type": "AWS::CDK::Metadata"}}
    same = build.run(answer={"TemplateBody": {**deployed, "Resources": resources}})

    assert (same.returncode, same.stderr) == (0, "")
    assert "get-template --stack-name ml-pipeline" in build.calls[0]

    path = build.folder / "ml-pipeline.template.json"
    path.write_text(path.read_text().replace('"Approve-prod"', '"Approve-nobody"'))
    other = build.run(answer={"TemplateBody": deployed})

    assert other.returncode == 1
    assert re.search(r'^-\s+"Name": "Approve-prod",$', other.stdout, re.MULTILINE)
    assert re.search(r'^\+\s+"Name": "Approve-nobody",$', other.stdout, re.MULTILINE)
    assert "`hyperpod-cdk pipeline config/mine.yaml`" in other.stderr
