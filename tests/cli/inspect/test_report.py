"""The report of a deployment: one page."""

from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from resvg_py import svg_to_bytes

from hyperpod_cdk import Config
from hyperpod_cdk.cost.cost import cost
from hyperpod_cli.inspect.cost import summary
from hyperpod_cli.inspect.report.page import Attempt, Content, page, write
from hyperpod_cli.inspect.verification.check import Check
from hyperpod_cli.stack_progress.failures import failure_lines
from tests.support.browser import faults, looked_at, marked, source, source_of
from tests.support.stack_events import event

HOSTILE = "\"><script>alert(1)</script><img src=x onerror=alert(2)>' {{ 7*7 }} &lt;"
URL = "https://cloudformation-response.s3.amazonaws.com/x?X-Amz-Signature=0123456789abcdef"
TOKEN = "k8s-aws-v1." + "aHR0cHM6Ly9zdHM"
NAME = "ml-hyperpod"
EVENTS = {
    NAME: [
        event(NAME, "CREATE_IN_PROGRESS"),
        event("Dependencies1F4ECB40", "CREATE_IN_PROGRESS", 5, type="Custom::HelmRelease"),
        event("Dependencies1F4ECB40", "CREATE_COMPLETE", 6, type="Custom::HelmRelease"),
        event(HOSTILE, "CREATE_IN_PROGRESS", 10, type=HOSTILE),
        event("ClusterEB0386A7", "CREATE_IN_PROGRESS", 11, type="Custom::HyperPodCluster"),
        event(
            "ClusterEB0386A7",
            "CREATE_FAILED",
            21,
            type="Custom::HyperPodCluster",
            reason=f"No capacity for {HOSTILE}; see {URL}, {TOKEN}",
        ),
        event(NAME, "ROLLBACK_IN_PROGRESS", 22),
        event(NAME, "ROLLBACK_COMPLETE", 30),
    ]
}


@pytest.fixture(scope="module")
def succeeded(default_config: Config) -> Content:
    """A deployment in which nothing changed."""
    return Content(
        title="Deployment of ml",
        verdict="The deployment succeeded.",
        ok=True,
        written=datetime(2026, 11, 22, tzinfo=UTC),
        facts={"Region": "us-west-2"},
        config=default_config,
        cost=cost(default_config, region=None, day=date(2026, 11, 22)),
        attempts=[Attempt(command="hyperpod-cdk deploy", events={NAME: []})],
        outputs={"ml-platform": {"VpcId": "vpc-1", "OutputVpcId": "vpc-1"}, NAME: {}},
        checks=[Check(title="kubectl get nodes", ok=True)],
        following=["Next:", "  kubectl get nodes"],
    )


@pytest.fixture(scope="module")
def failed(succeeded: Content) -> Content:
    """A deployment that failed, in which everything has a name that acts, if it can."""
    told = [*failure_lines(EVENTS, region="us-west-2", again="hyperpod-cdk deploy", paths={})]
    return replace(
        succeeded,
        title=HOSTILE,
        verdict="The deployment failed.",
        ok=False,
        facts={HOSTILE: HOSTILE},
        attempts=[replace(succeeded.attempts[0], command=HOSTILE, events=EVENTS, messages=told)]
        * 2,
        errors=[HOSTILE],
        outputs={HOSTILE: {HOSTILE: f"{HOSTILE} {URL}"}},
        checks=[Check(title=HOSTILE, ok=False, found=HOSTILE, advice=f"{HOSTILE} {URL}")],
    )


@pytest.fixture(scope="module")
def seen(
    succeeded: Content, failed: Content, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Any]:
    """What a browser shows of both, and of a page that is wrong in every way."""
    folder = tmp_path_factory.mktemp("pages")
    pages = {name: folder / f"{name}.html" for name in ("succeeded", "failed", "wrong")}
    write(succeeded, pages["succeeded"])
    write(failed, pages["failed"])
    pages["wrong"].write_text(
        "<!doctype html><h2 id=a>A</h2><p id=a style='width:2000px;color:#ccc'>Far</p>"
        "<img src=https://example.invalid/x.png><a href='#none'>none</a>"
        "<table><thead><tr><th>A<th>B</thead><tr><td>one</table><script>console.error(1)</script>"
    )
    return dict(zip(pages, looked_at(*pages.values()), strict=True))


@pytest.mark.parametrize("name", ["succeeded", "failed"])
def test_everybody_can_read_it(seen: dict[str, Any], name: str) -> None:
    assert faults(seen[name]) == {}


def test_each_fault_would_be_seen(seen: dict[str, Any]) -> None:
    expected = {"complaints", "repeatedIds", "requests", "brokenLinks", "withoutAlt", "notLoaded"}
    expected |= {"withoutHeaders", "unevenRows", "overflowing 360", "overflowing 1280"}
    expected |= {"contrast light", "contrast dark", "scripts", "language", "headings", "landmarks"}
    assert set(faults(seen["wrong"])) >= expected


def test_a_hostile_name_is_text(seen: dict[str, Any], failed: Content) -> None:
    assert seen["failed"]["headings"][0] == [1, HOSTILE]
    assert seen["failed"]["text"].count(HOSTILE) > 8
    assert "<script" not in page(failed)
    assert "<img src=x" not in page(failed)


def test_a_failure_is_told_as_at_the_terminal(seen: dict[str, Any], failed: Content) -> None:
    text = seen["failed"]["text"]
    cause, *others = (line.strip() for line in failed.attempts[0].messages if line)
    assert cause.partition(";")[0] in text
    assert [line for line in others if line not in text] == []
    assert "0 of 1 checks hold." in text
    assert f"Found: {HOSTILE}" in text
    assert "ROLLBACK_COMPLETE" in text


def test_no_secret_is_in_it(failed: Content) -> None:
    html = page(failed)
    assert "X-Amz-Signature" not in html
    assert TOKEN not in html
    assert "https://cloudformation-response.s3.amazonaws.com/x?&lt;hidden&gt;" in html


def test_a_success_says_what_is_deployed_and_what_it_costs(
    seen: dict[str, Any], succeeded: Content
) -> None:
    text = seen["succeeded"]["text"]
    for said in (
        "What to do next",
        "CloudFormation changed nothing.",
        "vpc-1",
        "1 of 1 checks hold.",
        f"{summary(succeeded.cost)}.",
    ):
        assert said in text
    assert "OutputVpcId" not in text
    html = page(succeeded)
    assert "HyperPod cluster ml-cluster with 2 instance groups" in html


def test_a_report_is_written_whole_or_not_at_all(
    succeeded: Content, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "new" / "report.html"
    write(succeeded, path)
    former = path.read_text("utf-8")

    def full(_self: Path, _target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    problem = write(replace(succeeded, title="other"), path)
    assert problem == "OSError: [Errno 28] No space left on device"
    assert [*path.parent.iterdir()] == [path]
    assert path.read_text("utf-8") == former


def test_what_cannot_be_written_is_told(succeeded: Content, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    problem = write(succeeded, tmp_path / "file" / "report.html")
    assert problem is not None
    assert str(tmp_path / "file") in problem


_MOST_BYTES = 200_000


def test_the_documentation_shows_the_page_of_today(repository: Path) -> None:
    picture = (repository / "docs" / "report.png").read_bytes()
    assert source_of(picture) == source(), "docs/report.png is stale: run `make rehearsal-picture`"
    assert len(picture) < _MOST_BYTES


def test_a_picture_says_which_page_it_shows() -> None:
    plain = svg_to_bytes(
        svg_string='<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>'
    )
    assert source_of(plain) is None
    assert source_of(marked(plain, of=source())) == source()
