"""Manifests: what is in crds/, what holds others, what is lost from one to the next."""

import io
import tarfile
from pathlib import Path
from typing import Any

import pytest

from provisioner.helm.chart import mentions
from provisioner.kubernetes.manifest import deleted_containers, documents_of, split_manifest
from tests.support.provisioner.helm_charts import packaged

RENDERED = """---
# Source: umbrella/charts/training/crds/both.yaml
kind: CustomResourceDefinition
metadata: {name: first}
---
kind: CustomResourceDefinition
metadata: {name: second}
---
# Source: umbrella/crds/own.yaml
kind: CustomResourceDefinition
metadata: {name: third}
---
# Source: umbrella/charts/mpi/templates/crds/mpi.yaml
kind: CustomResourceDefinition
metadata: {name: fourth}
---
# Source: umbrella/templates/pod.yaml
kind: Pod
"""


def test_crds_are_told_from_templates_by_their_folder() -> None:
    manifest = split_manifest(RENDERED)
    assert [name in manifest.crds for name in ("first", "second", "third")] == [True] * 3
    assert "fourth" not in manifest.crds
    assert ("fourth" in manifest.templates, "Pod" in manifest.templates) == (True, True)


def test_nothing_rendered_is_nothing() -> None:
    assert split_manifest("") == ("", "")


def test_documents_are_chosen_by_kind_and_left_out_when_alike() -> None:
    assert documents_of(RENDERED, ["Pod"]).strip().endswith("kind: Pod")
    assert documents_of(RENDERED, ["Pod"], without=f"---\n{RENDERED}") == ""


def _item(kind: str, name: str, **annotations: str) -> dict[str, Any]:
    return {"kind": kind, "metadata": {"name": name, "annotations": annotations}}


def test_only_what_holds_others_and_is_not_kept_is_lost() -> None:
    kept = _item("Namespace", "kept", **{"helm.sh/resource-policy": "keep"})
    before = [
        _item("Namespace", "kubeflow"),
        _item("CustomResourceDefinition", "kubeflow"),
        _item("Pod", "a"),
        kept,
    ]
    after = [_item("Namespace", "kubeflow")]
    assert [item["kind"] for item in deleted_containers(before, after)] == [
        "CustomResourceDefinition"
    ]


def test_packaged_chart_is_searched_with_the_charts_packed_in_it(tmp_path: Path) -> None:
    outer = tmp_path / "outer.tgz"
    with tarfile.open(outer, "w:gz") as archive:
        inner = packaged("1.0.0")
        member = tarfile.TarInfo("outer/charts/deps-1.0.0.tgz")
        member.size = len(inner)
        archive.addfile(member, io.BytesIO(inner))
    assert mentions(outer, {"jobs.example.com"})
    assert not mentions(outer, {"pods.example.com"})
    assert not mentions(outer, set())


def test_chart_folder_is_searched(tmp_path: Path) -> None:
    (tmp_path / "crds").mkdir()
    (tmp_path / "crds" / "a.yaml").write_text("name: jobs.example.com")
    assert mentions(tmp_path, {"jobs.example.com"})


@pytest.mark.parametrize("content", [b"", b"no archive", packaged("1.0.0")[:200]])
def test_archive_that_cannot_be_read_may_mention_anything(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "chart.tgz").write_bytes(content)
    assert mentions(tmp_path / "chart.tgz", {"anything"})
