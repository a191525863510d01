"""Values that the official chart would silently ignore or misread fail in the packaged chart."""

from pathlib import Path

import pytest

from tests.support.commands import run
from tests.support.upstream_chart import Upstream


@pytest.fixture(scope="module")
def archive(upstream_template: Upstream, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return packaged(upstream_template, tmp_path_factory.mktemp("value-checks"))


def packaged(upstream: Upstream, directory: Path) -> Path:
    pins = upstream.pins(directory / "pins.yaml")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CHART_ARCHIVES", str(upstream.archives))
        patch.setenv("CHART_DIGESTS", "record")
        assert run("charts", "--pins", pins, "--output", directory) == 0
    return directory / "hyperpod-helm-chart.tgz"


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (
            "",
            'health-monitoring-agent.region is "", but the health monitoring agent has images only',
        ),
        ("global.region=mars-1", 'region is "mars-1", but the health monitoring agent has images'),
        (
            "global.region=us-west-2,health-monitoring-agent.region=mars-1",
            "only in us-east-1, us-west-2: set one of these",
        ),
        (
            "global.region=us-west-2,gpu-operator.enabled=true",
            "gpu-operator needs the chart gpu-operator v26.3.1, which is not in this package",
        ),
        (
            "global.region=us-west-2,cert-manager.enabled=true",
            "cert-manager needs the chart cert-manager v1.18.2",
        ),
        (
            "global.region=us-west-2,namespaced-role-and-bindings.enable=true",
            "namespaced-role-and-bindings.enable is ignored by the chart: write "
            "namespaced-role-and-bindings.enabled",
        ),
    ],
)
def test_refused(values: str, message: str, archive: Path, upstream_template: Upstream) -> None:
    done = upstream_template.helm("template", "x", archive, "--set", values)
    assert done.returncode != 0
    assert message in done.stderr


@pytest.fixture(scope="module")
def old_archive(upstream_template: Upstream, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a package of a commit whose own values have the mistake.

    As in those that AWS's CloudFormation and Terraform templates pin, f571859 and 0e32919.
    """
    directory = tmp_path_factory.mktemp("old")
    upstream = Upstream(directory / "made", template=upstream_template)
    upstream.values["namespaced-role-and-bindings"] = {"enable": False}
    upstream.commit()
    return packaged(upstream, directory)


@pytest.mark.parametrize("values", ["", ",namespaced-role-and-bindings.enabled=true"])
def test_upstreams_own_default_is_not_judged(
    values: str, old_archive: Path, upstream_template: Upstream
) -> None:
    region = "global.region=us-west-2"
    done = upstream_template.helm("template", "x", old_archive, "--set", f"{region}{values}")
    assert done.returncode == 0, done.stderr


def test_the_same_key_set_by_a_user_is(old_archive: Path, upstream_template: Upstream) -> None:
    values = "global.region=us-west-2,namespaced-role-and-bindings.enable=true"
    done = upstream_template.helm("template", "x", old_archive, "--set", values)
    assert "write namespaced-role-and-bindings.enabled" in done.stderr


@pytest.mark.parametrize(
    "values",
    [
        "global.region=us-west-2",
        "health-monitoring-agent.region=us-east-1",
        "health-monitoring-agent.hmaimage=registry.example/agent:1",
        "health-monitoring-agent.enabled=false",
        "global.region=us-west-2,namespaced-role-and-bindings.enabled=true",
        "global.region=us-west-2,gpu-operator.enabled=true,gpu-operator.gpu-operator.enabled=false",
    ],
)
def test_accepted(values: str, archive: Path, upstream_template: Upstream) -> None:
    done = upstream_template.helm("template", "x", archive, "--set", values)
    assert done.returncode == 0, done.stderr
