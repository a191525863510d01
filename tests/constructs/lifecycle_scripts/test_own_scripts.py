"""The user's folder of scripts: where it goes, who reads it, and what is refused of it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import aws_cdk as cdk
import pytest
from syrupy.assertion import SnapshotAssertion

from hyperpod_cdk import (
    ConfigError,
    LifecycleBucket,
    LifecycleConfig,
    LifecycleScripts,
    LifecycleScriptsConfig,
    Provisioner,
)
from hyperpod_cdk.lifecycle_scripts.folder import ScriptFolder
from tests.conftest import Raises
from tests.constructs.conftest import View
from tests.support.template_view import TemplateView, listed

RESOURCE = "Custom::LifecycleScripts"
ENTRY = b"#!/bin/bash\n"

Make = Callable[..., LifecycleScripts]


def folder(directory: Path, **files: bytes) -> str:
    """Make a folder with an on_create.sh and files, by name without its suffix; return its path."""
    directory.mkdir()
    for name, content in {"on_create": ENTRY, **files}.items():
        path = directory / f"{name.replace('__', '/')}.sh"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
    return str(directory)


@pytest.fixture
def make(stack: cdk.Stack, provisioner: Provisioner, tmp_path: Path) -> Make:
    """Return what makes the construct of a project with a script and a setting."""
    project = Path(folder(tmp_path / "project", lib__log=b""))
    bucket = LifecycleBucket(stack, "Bucket", bucket_name="sagemaker-ml").bucket

    def made(**options: Any) -> LifecycleScripts:
        return LifecycleScripts(
            stack,
            "Scripts",
            bucket=bucket,
            provisioner=provisioner,
            project=ScriptFolder(directory=project, settings={"A": "1"}),
            **options,
        )

    return made


def put(seen: TemplateView) -> dict[str, list[str]]:
    """Return the paths that are put under each prefix."""
    return {
        resource.get("Prefix", ""): json.loads(resource["Keys"]) for resource in seen.all(RESOURCE)
    }


def locked(seen: TemplateView) -> set[str]:
    """Return the keys, or patterns of them, that nobody else may change."""
    resources = listed(seen.statement("KeepScripts")["Resource"])
    return {seen.text(arn).partition("/")[2] for arn in resources}


PROJECT = ["deployment.env", "lib/log.sh", "on_create.sh"]
OWN = ["lib/own.sh", "on_create.sh"]


@pytest.mark.parametrize(
    ("prefix", "run", "expected"),
    [
        ("", None, {"": PROJECT}),
        ("", "after", {"": PROJECT, "own": OWN}),
        ("", "instead", {"": OWN}),
        ("a/b", None, {"a/b": PROJECT}),
        ("a/b", "after", {"a/b": PROJECT, "a/b/own": OWN}),
        ("a/b", "instead", {"a/b": OWN}),
    ],
)
def test_where_own_scripts_go(
    *,
    make: Make,
    view: View,
    tmp_path: Path,
    prefix: str,
    run: Literal["after", "instead"] | None,
    expected: dict[str, list[str]],
) -> None:
    directory = folder(tmp_path / "mine", lib__own=b"")
    own = None if run is None else LifecycleScriptsConfig(directory=directory, run=run)

    scripts = make(prefix=prefix, own=own)

    seen = view()
    assert put(seen) == expected
    # More than what is put: nodes get the whole prefix.
    assert locked(seen) == {f"{prefix}/*".lstrip("/")} == {scripts.pattern}
    made = [json.loads(each["Files"]) for each in seen.all(RESOURCE) if "Files" in each]
    settings = "A=1\nOWN_SCRIPTS=after\n" if run == "after" else "A=1\n"
    assert made == [{"deployment.env": settings}] * (run != "instead")
    # Another stack imports the attribute, and could not while the prefix is in it.
    (bucket, *rest) = listed(seen.resources and cdk.Stack.of(scripts).resolve(scripts.s3_uri))
    text = json.dumps([bucket, *rest])
    assert text.endswith(f'"/{prefix}"]]}}]' if prefix else '"S3Uri"]}]')
    # The bucket has all of them when the attribute is known.
    (last,) = seen.ids(RESOURCE, Keys=json.dumps(expected[prefix]))
    assert set(seen.ids(RESOURCE)) - {last} <= seen.dependencies(last)
    assert last in text


def test_a_folder_of_groups_has_a_place_of_its_own(make: Make, view: View, tmp_path: Path) -> None:
    after = LifecycleConfig(directory=folder(tmp_path / "gpu"))
    instead = LifecycleConfig(directory=folder(tmp_path / "bare"), run="instead")

    scripts = make(folders=[after, instead])

    seen = view()
    assert put(seen) == {
        "": PROJECT,
        "folders/gpu": PROJECT,
        "folders/gpu/own": ["on_create.sh"],
        "folders/bare": ["on_create.sh"],
    }
    assert locked(seen) == {"*"}
    own = seen.one(RESOURCE, Prefix="folders/gpu")["Files"]
    assert json.loads(own) == {"deployment.env": "A=1\nOWN_SCRIPTS=after\n"}
    assert "OWN_SCRIPTS" not in seen.one(RESOURCE, Keys=json.dumps(PROJECT), Prefix=None)["Files"]
    resolved = json.dumps(cdk.Stack.of(scripts).resolve(scripts.s3_uri_of(instead)))
    assert resolved.endswith('"S3Uri"]}, "/folders/bare"]]}')
    last = seen.id(RESOURCE, Keys=json.dumps(PROJECT), Prefix=None)
    assert len(seen.dependencies(last) & set(seen.ids(RESOURCE))) == 3


@pytest.mark.parametrize(
    "files",
    [
        {"on_create": b"echo\n"},
        {"lib__log": b"a\r\nb\r\n"},
        {"own__log": b""},
        {"folders__log": b""},
        {"a*": b""},
        {"large": b"0" * (100 * 1024**2)},
    ],
)
def test_a_folder_that_nodes_cannot_run_is_refused(
    tmp_path: Path,
    files: dict[str, bytes],
    snapshot: SnapshotAssertion,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    directory = folder(Path("mine"), **files)

    with pytest.raises(ConfigError, match=r"^LifecycleScriptsConfig\.directory: ") as refused:
        LifecycleScriptsConfig(directory=directory)

    assert [line.replace(str(tmp_path), "") for line in refused.value.lines] == snapshot


def test_a_folder_without_entry_script_or_of_links_is_refused(
    tmp_path: Path, raises: Raises, monkeypatch: pytest.MonkeyPatch
) -> None:
    # By names alone: a message shows the middle of a long path as three dots.
    monkeypatch.chdir(tmp_path)
    with raises(ConfigError):
        LifecycleScriptsConfig(directory="missing")
    Path("mine").mkdir()
    with raises(ConfigError):
        LifecycleScriptsConfig(directory="mine")
    Path("mine/on_create.sh").symlink_to(folder(tmp_path / "other") + "/on_create.sh")
    with raises(ConfigError):
        LifecycleScriptsConfig(directory="mine")


def test_a_folder_of_more_files_than_are_put_at_once_is_refused(
    tmp_path: Path, raises: Raises
) -> None:
    directory = folder(tmp_path / "mine", **{f"step{number}": b"" for number in range(1000)})

    with raises(ConfigError):
        LifecycleScriptsConfig(directory=directory)


@pytest.mark.parametrize(
    ("values", "place"),
    [
        ({"run": "instead"}, "run"),
        ({"run": "before"}, "run"),
        ({"prefix": "/scripts"}, "prefix"),
        ({"prefix": "a/../b"}, "prefix"),
        ({"prefix": "a*"}, "prefix"),
    ],
)
def test_what_is_refused_of_the_section(
    values: dict[str, Any], place: str, snapshot: SnapshotAssertion
) -> None:
    with pytest.raises(ConfigError, match=rf"^LifecycleScriptsConfig\.{place}: ") as refused:
        LifecycleScriptsConfig(**values)

    assert refused.value.lines == snapshot


def test_a_group_has_a_folder_or_a_bucket(tmp_path: Path, raises: Raises) -> None:
    with raises(ConfigError):
        LifecycleConfig(
            directory=folder(tmp_path / "mine"), source_s3_uri="s3://scripts/b", on_create="c.sh"
        )


def test_a_slash_at_the_end_of_a_prefix_is_none() -> None:
    # As the console writes it.
    assert LifecycleScriptsConfig(prefix="lifecycle-scripts/").prefix == "lifecycle-scripts"
