"""The chart of Grafana in the cluster: who reaches it, what it shows, and as whom it asks."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from hyperpod_cdk.observability.section import RELEASE
from hyperpod_cdk.panels.definition import watched
from hyperpod_cdk.panels.grafana import dashboards, reads_cloudwatch
from tests.support.chart_rendering import assert_valid_for_kubernetes, refusal, template
from tests.support.configs import REPOSITORY, configured

CHART = REPOSITORY / "charts" / "grafana"
URL = "https://aps-workspaces.us-west-2.amazonaws.com/workspaces/ws-1"
SEEN = watched(configured({"region": "us-west-2"}))
VALUES: Mapping[str, Any] = {
    "region": "us-west-2",
    "prometheus": URL,
    "cloudwatch": reads_cloudwatch(SEEN),
    "dashboards": dashboards(SEEN),
}


@pytest.fixture(scope="module")
def objects(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], dict[str, Any]]:
    """Return the objects by kind and name."""
    home = tmp_path_factory.mktemp("home")
    found = yaml.safe_load_all(template(RELEASE, CHART, values=VALUES, home=home))
    return {(each["kind"], each["metadata"]["name"]): each for each in found}


Objects = Mapping[tuple[str, str], Mapping[str, Any]]


def container(objects: Objects) -> dict[str, Any]:
    (found,) = objects["Deployment", RELEASE]["spec"]["template"]["spec"]["containers"]
    assert isinstance(found, dict)
    return found


def test_kubernetes_takes_it(objects: Objects, tmp_path: Path) -> None:
    assert_valid_for_kubernetes(map(dict, objects.values()), folder=tmp_path)


def test_kubernetes_alone_says_who_sees_it(objects: Objects) -> None:
    settings = {each["name"]: each["value"] for each in container(objects)["env"]}

    # No Service leads to it, and nothing in the pod's network but itself.
    assert {kind for kind, _ in objects} == {
        "ConfigMap",
        "Deployment",
        "Namespace",
        "ServiceAccount",
    }
    assert settings["GF_SERVER_HTTP_ADDR"] == "127.0.0.1"
    assert settings["GF_AUTH_ANONYMOUS_ORG_ROLE"] == "Viewer"
    # There is nobody to sign in as.
    assert settings["GF_SECURITY_DISABLE_INITIAL_ADMIN_CREATION"] == "true"
    assert settings["GF_AUTH_BASIC_ENABLED"] == "false"


def test_it_asks_aws_with_the_role_of_its_pod_and_nobody_else(objects: Objects) -> None:
    settings = {each["name"]: each["value"] for each in container(objects)["env"]}
    pod = objects["Deployment", RELEASE]["spec"]["template"]["spec"]
    sources = yaml.safe_load(
        objects["ConfigMap", f"{RELEASE}-provisioning"]["data"]["data-sources.yaml"]
    )

    assert (
        pod["serviceAccountName"]
        == RELEASE
        == objects["ServiceAccount", RELEASE]["metadata"]["namespace"]
    )
    assert settings["GF_AWS_ALLOWED_AUTH_PROVIDERS"] == "default"
    assert settings["GF_PLUGINS_PREINSTALL_DISABLED"] == "true"
    prometheus, cloudwatch = sources["datasources"]
    assert (prometheus["uid"], prometheus["url"]) == ("prometheus", URL)
    assert prometheus["jsonData"] == {
        "httpMethod": "POST",
        "sigV4Auth": True,
        "sigV4AuthType": "default",
        "sigV4Region": "us-west-2",
    }
    assert cloudwatch["jsonData"] == {"authType": "default", "defaultRegion": "us-west-2"}


def test_it_shows_the_dashboards_by_data_sources_that_it_has(objects: Objects) -> None:
    provisioning = objects["ConfigMap", f"{RELEASE}-provisioning"]["data"]
    shown = {
        name.removesuffix(".json"): json.loads(text)
        for name, text in objects["ConfigMap", f"{RELEASE}-dashboards"]["data"].items()
    }
    kinds = {
        each["type"] for each in yaml.safe_load(provisioning["data-sources.yaml"])["datasources"]
    }
    asked = {
        each["query"]
        for dashboard in shown.values()
        for each in dashboard["templating"]["list"]
        if each["type"] == "datasource"
    }

    assert shown == VALUES["dashboards"]
    assert asked == kinds
    (provider,) = yaml.safe_load(provisioning["dashboards.yaml"])["providers"]
    mounts = {each["mountPath"] for each in container(objects)["volumeMounts"]}
    assert provider["options"]["path"] in mounts
    # What is written to is a folder of the pod's own.
    assert container(objects)["securityContext"]["readOnlyRootFilesystem"] is True
    assert "/var/lib/grafana" in mounts


def test_a_changed_dashboard_is_another_pod(tmp_path: Path, objects: Objects) -> None:
    changed = {**VALUES, "dashboards": {"gpus": {"uid": "a", "title": "b", "panels": []}}}
    other = template(RELEASE, CHART, values=changed, home=tmp_path)
    key = re.compile(r"checksum/provisioning: (\w+)")

    (checksum,) = objects["Deployment", RELEASE]["spec"]["template"]["metadata"][
        "annotations"
    ].values()
    assert key.findall(other) != [checksum]


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"image": "grafana/grafana:12.4.5"}, "image"),
        ({"prometheus": f"{URL}/"}, "prometheus"),
        ({"dashboards": {}}, "dashboards"),
        ({"password": "a"}, "password"),
    ],
)
def test_other_values_are_refused(values: Mapping[str, Any], says: str, tmp_path: Path) -> None:
    assert says in refusal(CHART, values={**VALUES, **values}, home=tmp_path)
