"""What a validator finds makes a deployment fail, for the cause that it names.

Each case is found by the validator, and deployed all the same: by the local CloudFormation from the
deployment's own template, and by the provisioner's own code. That takes two thirds of the time,
so `make test` looks at what is found alone.
"""

import itertools
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

import pytest
import yaml
from syrupy.assertion import SnapshotAssertion
from typer.testing import CliRunner

from hyperpod_cdk.facts.instance_types import instance_facts
from hyperpod_cdk.facts.regional_types import regional_types
from hyperpod_cdk.schema.errors import Finding, KeyPath, Severity, key_path
from hyperpod_cdk.schema.named_resources import named_resources
from hyperpod_cli.inspect.preflight.run import VALIDATORS, results
from hyperpod_cli.inspect.preflight.validators.bootstrap import BOOTSTRAP_VERSION
from hyperpod_cli.inspect.registered import concerning
from hyperpod_cli.main import app
from hyperpod_emulator.aws.local_aws import LocalAws, LocalAwsSettings
from hyperpod_emulator.hyperpod import HyperPodApi, HyperPodService, Timings
from hyperpod_emulator.node.node import VpcNetwork
from tests.cli.inspect.preflight import cases
from tests.cli.inspect.preflight.cases import network, storage
from tests.support.assembly import merged
from tests.support.configs import MINIMUM, REPOSITORY
from tests.support.failure import CONTROL_PLANE, Failure, Step, creating, everything, the_cluster
from tests.support.foreign_clusters import CONSOLE, EKSCTL, TERRAFORM
from tests.support.omissions import omissions
from tests.support.on_call import noted_calls
from tests.support.partial_deployment import Deployment, StepFailedError, Synthesis, clients
from tests.support.provisioner.cloudformation import Time
from tests.support.refusals import without_names

FAILURES: Sequence[Failure] = [
    failure
    for module in iter_modules(cases.__path__)
    for failure in import_module(f"{cases.__name__}.{module.name}").FAILURES
]
PAGE = (REPOSITORY / "docs" / "eksctl.md").read_text("utf-8")
_PLAYED_ELSEWHERE = {
    "failed-creation": "test_control_plane.py",
    "failed-database": "test_control_plane.py",
    "orchestrator": "test_control_plane.py",
}
"""Validators whose tests show what AWS refuses beside what they find, by the file."""
Deploy = Callable[[Failure], Deployment]
# Nodes that fail are tried again so late that looking at them costs little.
_TIMINGS = Timings(node_retry=600, node_retry_limit=600)
# Ids that the local AWS draws, other than those of the cases, and times.
_DRAWN = re.compile(
    r"\b(?!0[a-c]1b2c3d4e5f6|0123456789abcdef0|1234abcd-|2012-10-17)"
    r"([0-9a-f]{17}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d{4}-\d\d-\d\d( [\d:+]+)?)\b"
)
# What `create_cluster` returns when no node is missing.
_NOTHING_MISSING = ("", "none")


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Deployment]]:
    """Return a function that begins deployments, each in an account of its own."""
    numbers = itertools.count(1)
    synthesis = Synthesis(directory=tmp_path_factory.mktemp("templates"))
    with ExitStack() as stack:
        api = stack.enter_context(HyperPodApi())
        settings = LocalAwsSettings(
            hyperpod_api=api.url, regional_types=regional_types(), ended_versions=["1.30"]
        )
        aws = stack.enter_context(LocalAws(settings))

        def begin(failure: Failure, patch: pytest.MonkeyPatch) -> Deployment:
            time, account = Time(), f"{next(numbers):012}"
            own = clients(aws, account=account, region=failure.region)
            api.service = service = HyperPodService(
                clock=lambda: time.now,
                timings=_TIMINGS,
                network=VpcNetwork(own),
                hardware=instance_facts,
            )
            return Deployment(
                aws=aws,
                hyperpod=service,
                time=time,
                account=account,
                region=failure.region,
                document=failure.document,
                synthesis=synthesis,
                patch=patch,
            )

        yield begin


@pytest.fixture
def new_deployment(ground: Callable[..., Deployment], monkeypatch: pytest.MonkeyPatch) -> Deploy:
    """Return a function that begins the deployment of a case."""
    return lambda failure: ground(failure, monkeypatch)


def outcome(step: Step, deployment: Deployment) -> str:
    """Return why a step failed, or what is seen after it."""
    try:
        return str(step(deployment) or "")
    except StepFailedError as failure:
        return str(failure)


def begun(failure: Failure, new_deployment: Deploy) -> Deployment:
    """Return the deployment of a case, in an account that has what the case says."""
    deployment = new_deployment(failure)
    if failure.before is not None:
        failure.before(deployment)
    return deployment


@pytest.mark.slow(seconds=0.2)
@pytest.mark.parametrize("failure", FAILURES, ids=str)
def test_it_is_found(failure: Failure, new_deployment: Deploy, snapshot: SnapshotAssertion) -> None:
    deployment = begun(failure, new_deployment)
    validator = VALIDATORS[failure.validator]
    with noted_calls() as made:
        found = [finding for finding, _ in validator(deployment.config, deployment.target)]
    assert [reviewed(finding, deployment) for finding in found] == snapshot
    assert made <= {*validator.iam}, "add it to `iam` of the validator"
    named = [each for each in named_resources(deployment.config) if each.kind in validator.names]
    for finding in found:
        key = re.sub(r"\[\d+\]", "[]", without_names(key_path(finding.path))).removesuffix("[]")
        is_named = any(each.path == finding.path for each in named)
        assert is_named or key in validator.keys or not key, "add it to the Keys of its docstring"
    severities = {finding.severity for finding in found}
    assert severities and (failure.said is not None or severities == {Severity.WARNING})


def reviewed(finding: Finding, deployment: Deployment) -> str:
    """Return a finding without what differs from run to run."""
    text = f"{finding.severity.name} {finding}".replace(deployment.account, "ACCOUNT")
    text = text.replace(str(deployment.synthesis.directory), "FOLDER")
    return _DRAWN.sub("DRAWN", text)


@pytest.mark.whole
@pytest.mark.slow(seconds=0.3)
@pytest.mark.parametrize("failure", {each.validator: each for each in FAILURES}.values(), ids=str)
def test_as_much_is_found_where_aws_leaves_out_what_is_optional(
    failure: Failure, new_deployment: Deploy
) -> None:
    deployment = begun(failure, new_deployment)
    config, target = deployment.config, deployment.target
    validators = concerning(VALIDATORS, config)

    def found() -> dict[str, list[KeyPath]]:
        outcomes = results(config, target, validators=validators)
        return {each.name: [finding.path for finding, _ in each.problems] for each in outcomes}

    wanted = found()
    with omissions(FAILURES.index(failure)):
        assert found() == wanted


@pytest.mark.whole
@pytest.mark.slow(seconds=0.5)
@pytest.mark.parametrize("failure", FAILURES, ids=str)
def test_the_deployment_fails_for_what_is_found(failure: Failure, new_deployment: Deploy) -> None:
    said = outcome(failure.deploy, begun(failure, new_deployment))
    if failure.said is None:
        assert said in _NOTHING_MISSING
    else:
        assert re.search(failure.said, said), said


@pytest.mark.slow(seconds=0.5)
@pytest.mark.parametrize(
    ("document", "before", "step"),
    [
        (MINIMUM, None, the_cluster),
        (MINIMUM, None, creating("addons", "AWS::EKS::Addon")),
        (merged(MINIMUM, {"cluster": {"resource": "native"}}), None, CONTROL_PLANE),
        (network.EXISTING, network.there(), the_cluster),
        (network.JOINED, network.there(), the_cluster),
        (storage.OWN_BUCKET, everything, the_cluster),
        (storage.KEYED, everything, storage.file_systems),
        ({**storage.SLURM, "storage": None}, None, the_cluster),
    ],
)
def test_where_nothing_is_wrong_the_same_steps_succeed(
    document: dict[str, object], before: Step | None, step: Step, new_deployment: Deploy
) -> None:
    deployment = new_deployment(Failure(case="nothing", document=document))
    if before is not None:
        before(deployment)
    deployment.client("ssm").put_parameter(Name=BOOTSTRAP_VERSION, Value="30", Type="String")
    found = [
        f"{name}: {problem[0]}"
        for name, validator in concerning(VALIDATORS, deployment.config).items()
        if name != "client-tools"
        for problem in validator(deployment.config, deployment.target)
        if problem[0].severity is Severity.ERROR
    ]
    assert found == []
    assert outcome(step, deployment) in _NOTHING_MISSING


@pytest.mark.slow(seconds=0.5)
@pytest.mark.parametrize(
    "failure",
    [
        next(each for each in FAILURES if each.validator == name)
        for name in ("taken-names", "existing-role", "security-group", "kms-key", "vpc")
    ],
    ids=str,
)
def test_the_command_shows_what_is_blocked(
    failure: Failure, new_deployment: Deploy, tmp_path: Path
) -> None:
    deployment = begun(failure, new_deployment)
    validator = VALIDATORS[failure.validator]
    found = [finding.message for finding, _ in validator(deployment.config, deployment.target)]
    config = tmp_path / "mine.yaml"
    config.write_text(deployment.in_account(json.dumps(deployment.document)), "utf-8")
    others = [f"--skip={name}" for name in VALIDATORS if name != failure.validator]
    environment = {
        **deployment.aws.environment(),
        "AWS_ACCESS_KEY_ID": deployment.account,
        "HOME": str(tmp_path),
    }

    arguments = ["preflight", "--config", str(config), "--json", *others]
    result = CliRunner().invoke(app(), arguments, env=environment)

    [row] = json.loads(result.stdout)
    assert (row["name"], row["status"], result.exit_code) == (failure.validator, "blocked", 1)
    messages = [each["message"] for each in row["problems"]]
    assert all(message.endswith(told) for message, told in zip(messages, found, strict=True))
    assert all(each["command"].startswith("aws ") for each in row["problems"])


BLOCK = re.compile(r"^## (\S+).*?^```yaml\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ID = re.compile(r"\b(vpc|subnet|sg|igw)-[0-9a-f]{17}\b")
CLUSTERS = {"eksctl": EKSCTL, "Terraform": TERRAFORM, "Console": CONSOLE}


def test_the_page_of_eks_clusters_tells_of_each() -> None:
    assert {title for title, _ in BLOCK.findall(PAGE)} == CLUSTERS.keys()


@pytest.mark.whole
@pytest.mark.slow(seconds=1)
@pytest.mark.parametrize(("title", "block"), BLOCK.findall(PAGE))
def test_who_has_an_eks_cluster_follows_the_page(
    title: str, block: str, new_deployment: Deploy
) -> None:
    def written(text: str) -> Mapping[str, Any]:
        return {**MINIMUM, "storage": None, **yaml.safe_load(text)}

    deployment = new_deployment(Failure(case=title, document=written(block)))
    deployment.client("ssm").put_parameter(Name=BOOTSTRAP_VERSION, Value="30", Type="String")
    found = CLUSTERS[title].made(deployment)
    # A reader looks up what the page has examples of.
    deployment = deployment.of(written(ID.sub(lambda named: found[named[1]], block)))

    config, target = deployment.config, deployment.target
    validators = concerning(VALIDATORS, config)
    refused = [
        str(finding)
        for result in results(config, target, validators=validators)
        for finding, _ in result.problems
        if finding.severity is Severity.ERROR and result.name != "client-tools"
    ]
    assert refused == []
    assert the_cluster(deployment) in _NOTHING_MISSING


def test_every_validator_has_a_case() -> None:
    played = {each.validator for each in FAILURES}
    assert played | _PLAYED_ELSEWHERE.keys() == {*VALIDATORS}, (
        "each validator needs a case: add a Failure in tests/cli/inspect/preflight/cases/"
    )
    assert not played & _PLAYED_ELSEWHERE.keys()
    for validator, test in _PLAYED_ELSEWHERE.items():
        text = (Path(__file__).parent / test).read_text("utf-8")
        assert f"{validator.replace('-', '_')}(" in text
        assert "pytest.raises(ClientError" in text
