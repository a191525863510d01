"""CustomResourceDefinitions through installs, upgrades and rollbacks, with the real helm."""

from typing import Any

import pytest
import yaml

from hyperpod_shared.errors import ProvisioningError
from tests.support.provisioner.helm_charts import definition
from tests.support.provisioner.helm_cloud import DENIED, Cloud, properties

pytestmark = pytest.mark.slow(seconds=5)

DEFINITIONS = ("apiextensions.k8s.io/v1", "CustomResourceDefinition")
NOTEBOOKS = "notebooks.example.com"


def _chart(cloud: Cloud, version: str, *crds: str, **templates: str) -> None:
    """Add a chart with these definitions in crds/, and others in templates/."""
    files = {f"crds/{number}.yaml": text for number, text in enumerate(crds)}
    more = {f"templates/{name}.yaml": text for name, text in templates.items()}
    cloud.add_chart(version, {"crds/job.yaml": None, **files, **more})


def _live(cloud: Cloud, name: str = NOTEBOOKS) -> dict[str, Any]:
    found = {item["metadata"]["name"]: item for item in cloud.api.objects(*DEFINITIONS)}
    return found[name]


def _versions(cloud: Cloud, name: str = NOTEBOOKS) -> list[str]:
    return [version["name"] for version in _live(cloud, name)["spec"]["versions"]]


def test_upgrade_changes_definitions_and_adds_new_ones(cloud: Cloud) -> None:
    _chart(cloud, "1.0.0", definition("notebooks", "Notebook", "v1"))
    new = definition("tunes", "Tune", "v1")
    _chart(cloud, "2.0.0", definition("notebooks", "Notebook", "v1", "v2") + "---" + new)
    cloud.send("Create", properties("1.0.0"))
    assert _versions(cloud) == ["v1"]
    uid = _live(cloud)["metadata"]["uid"]
    cloud.send("Update", properties("2.0.0"))
    assert _versions(cloud) == ["v1", "v2"]
    assert _live(cloud)["metadata"]["uid"] == uid
    assert _versions(cloud, "tunes.example.com") == ["v1"]


def test_upgrade_leaves_definitions_that_say_the_same(cloud: Cloud) -> None:
    text = definition("notebooks", "Notebook", "v1", note="same")
    _chart(cloud, "1.0.0", text)
    _chart(cloud, "2.0.0", f"# Another comment\n{text}")
    cloud.send("Create", properties("1.0.0"))
    before = _live(cloud)["metadata"]
    cloud.send("Update", properties("2.0.0"))
    assert _live(cloud)["metadata"]["resourceVersion"] == before["resourceVersion"]


def test_upgrade_takes_out_what_a_schema_no_longer_has(cloud: Cloud) -> None:
    long = definition("notebooks", "Notebook", "v1", note="old")
    _chart(cloud, "1.0.0", long)
    _chart(cloud, "2.0.0", long.replace('description: "old",', ""))
    cloud.send("Create", properties("1.0.0"))
    cloud.send("Update", properties("2.0.0"))
    assert "description" not in _live(cloud)["spec"]["versions"][0]["schema"]["openAPIV3Schema"]


def test_install_changes_definitions_that_somebody_left(cloud: Cloud) -> None:
    cloud.api.create(yaml.safe_load(definition("notebooks", "Notebook", "v1")))
    _chart(cloud, "1.0.0", definition("notebooks", "Notebook", "v1", "v2"))
    cloud.send("Create", properties("1.0.0"))
    assert _versions(cloud) == ["v1", "v2"]


@pytest.mark.parametrize("place", ["crds", "templates"])
def test_stored_version_is_never_lost(cloud: Cloud, place: str) -> None:
    old, new = (definition("notebooks", "Notebook", version) for version in ("v1", "v2"))
    if place == "crds":
        _chart(cloud, "1.0.0", old)
        _chart(cloud, "2.0.0", new)
    else:
        _chart(cloud, "1.0.0", crd=old)
        _chart(cloud, "2.0.0", crd=new)
    cloud.send("Create", properties("1.0.0"))
    with pytest.raises(ProvisioningError, match=r"notebooks.example.com has no version v1") as no:
        cloud.send("Update", properties("2.0.0"))
    assert "status.storedVersions" in str(no.value)
    assert _versions(cloud) == ["v1"]
    assert cloud.operator() == "1.0.0 x1"
    assert cloud.send("Update", properties("1.0.0"))["Data"]["Revision"] == "1"


def test_way_back_from_a_failed_upgrade_keeps_the_newer_definition(cloud: Cloud) -> None:
    _chart(cloud, "1.0.0", definition("notebooks", "Notebook", "v1"))
    _chart(cloud, "2.0.0", definition("notebooks", "Notebook", "v1", "v2"))
    cloud.send("Create", properties("1.0.0"))
    cloud.api.inject(DENIED)
    with pytest.raises(ProvisioningError):
        cloud.send("Update", properties("2.0.0"))
    cloud.api.clear_faults()
    assert cloud.send("Update", properties("1.0.0"))["Data"]["Status"] == "deployed"
    assert _versions(cloud) == ["v1", "v2"]
    assert cloud.operator() == "1.0.0 x1"


def test_definitions_outlive_the_release(cloud: Cloud) -> None:
    _chart(cloud, "1.0.0", definition("notebooks", "Notebook", "v1"))
    cloud.send("Create", properties("1.0.0"))
    cloud.send("Delete", properties("1.0.0"))
    assert _versions(cloud) == ["v1"]


def test_subchart_that_is_off_brings_no_definitions(cloud: Cloud) -> None:
    sub = {
        "Chart.yaml": "apiVersion: v2\nname: deps\nversion: 3.0.0\ndependencies:\n"
        "  - {name: sub, version: 1.0.0, condition: sub.enabled}\n",
        "charts/sub/Chart.yaml": "apiVersion: v2\nname: sub\nversion: 1.0.0\n",
        "charts/sub/crds/n.yaml": definition("notebooks", "Notebook", "v1"),
    }
    cloud.add_chart("3.0.0", sub)
    cloud.send("Create", properties())
    cloud.send("Update", properties("3.0.0", sub={"enabled": False}))
    assert NOTEBOOKS not in cloud.names(*DEFINITIONS)
    cloud.send("Update", properties("3.0.0", sub={"enabled": True}))
    assert NOTEBOOKS in cloud.names(*DEFINITIONS)
