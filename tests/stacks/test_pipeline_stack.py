"""The pipeline's template: what it runs, in which order, with which rights."""

import json
import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
import yaml
from aws_cdk.aws_s3_assets import Asset
from cdk_nag import AwsSolutionsChecks, NIST80053R5Checks
from syrupy.assertion import SnapshotAssertion

from hyperpod_cdk import ConfigError, PipelineFile, load_file
from hyperpod_cdk.helm.chart import HyperPodChart, read_hyperpod_chart
from hyperpod_cdk.pipeline import build_program
from hyperpod_rehearsal.pipeline.definition import PipelineDefinition
from hyperpod_stacks.pipeline_stack import PipelineStack, add_pipeline
from tests.conftest import Raises
from tests.snapshot.difference import ShortJson
from tests.support.assembly import Assembly, merged, new_app, synthesized
from tests.support.configs import CONFIG_FOLDER, REPOSITORY
from tests.support.linter import findings

EXAMPLE = CONFIG_FOLDER / "pipeline" / "pipeline.yaml"
CHART = {"bucket": "charts", "key": "hyperpod.tgz", "sha256": "0" * 64}
ASSET_HASH = re.compile(r"\b[0-9a-f]{64}\b")
# Other sources, another chart, one region, nobody to tell.
VARIANTS: dict[str, dict[str, Any]] = {
    "s3": {
        "source": {"connection": None, "s3": {"bucket": "sources", "key": "hyperpod.zip"}},
        "chart": CHART,
        "tags": {"team": "platform"},
    },
    "code-commit": {
        "source": {"connection": None, "code_commit": {"repository": "hyperpod"}},
        "notification_emails": [],
    },
}


@pytest.fixture(scope="module")
def assembly(tmp_path_factory: pytest.TempPathFactory, chart: Path) -> Assembly:
    return example(directory=tmp_path_factory.mktemp("pipeline"), chart=chart)


def example(*, directory: Path, chart: Path, validate: bool = False) -> Assembly:
    """Return the pipeline of the example."""
    app = new_app(directory, validate=validate)
    charts = [read_hyperpod_chart(chart)] * 2
    _add(app, EXAMPLE, charts=charts)
    return _checked(app)


def _add(app: cdk.App, path: Path, *, charts: list[HyperPodChart]) -> None:
    loaded = load_file(path)
    assert loaded.pipeline is not None
    add_pipeline(
        app,
        pipeline=loaded.pipeline,
        path=path,
        deployments=[(each.path, each.config) for each in loaded.deployments],
        charts=charts,
        repository=REPOSITORY,
    )


def _checked(app: cdk.App) -> Assembly:
    cdk.Validations.of(app).add_plugins(AwsSolutionsChecks(app), NIST80053R5Checks(app))
    try:
        app.synth()
    except RuntimeError as error:
        if "ValidationFailed" not in str(error):
            raise
    return Assembly(Path(app.outdir))


def variant(
    name: str, *, directory: Path, validate: bool = False, files: Path | None = None
) -> Assembly:
    """Return a pipeline for a stack of one resource, and a folder that is uploaded for it."""
    document = yaml.safe_load(EXAMPLE.read_text("utf-8"))
    changed = merged(document, {"pipeline": VARIANTS[name]})
    pipeline = PipelineFile.model_validate(changed).pipeline
    app = new_app(directory, validate=validate, assets=files is not None)
    place = cdk.Environment(account=pipeline.account, region=pipeline.region)
    stages = []
    for environment in pipeline.environments:
        stage = cdk.Stage(app, environment.name, env=place)
        stack = cdk.Stack(stage, "Stack")
        cdk.CfnWaitConditionHandle(stack, "Nothing")
        if files is not None:
            Asset(stack, "Files", path=str(files))
        stages.append(stage)
    PipelineStack(app, pipeline=pipeline, config_path="config/mine.yaml", stages=stages)
    return _checked(app)


def definition(assembly: Assembly) -> PipelineDefinition:
    return PipelineDefinition(assembly.directory / "ml-pipeline.template.json")


def resources(assembly: Assembly, kind: str) -> list[dict[str, Any]]:
    template = assembly.templates()["ml-pipeline"]
    return [
        resource["Properties"]
        for resource in template["Resources"].values()
        if resource["Type"] == kind
    ]


def commands(assembly: Assembly, action: str) -> list[str]:
    """Return what the build of an action runs."""
    found = definition(assembly)
    (project,) = (
        each.configuration["ProjectName"]
        for stage in found.stages
        for each in stage.actions
        if each.name == action
    )
    return list(found.build_spec(project, source=assembly.directory).commands)


def statements(assembly: Assembly, project: str) -> Iterator[dict[str, Any]]:
    """Yield what the role of a build may do."""
    for policy in resources(assembly, "AWS::IAM::Policy"):
        if project in policy["Roles"][0]["Ref"]:
            yield from policy["PolicyDocument"]["Statement"]


def test_it_is_as_reviewed(assembly: Assembly, snapshot: SnapshotAssertion) -> None:
    text = ASSET_HASH.sub("<hash>", assembly.texts()["ml-pipeline"])
    program = shlex.quote(Path(build_program.__file__).read_text("utf-8"))
    # The build's definition is JSON in the JSON of the template.
    text = text.replace(json.dumps(json.dumps(program)[1:-1])[1:-1], "<program>")
    assert json.loads(text) == snapshot(extension_class=ShortJson)


def test_no_build_installs_what_no_lock_file_pins(assembly: Assembly) -> None:
    for stage in definition(assembly).stages:
        for action in stage.actions:
            if action.provider == "CodeBuild":
                ran = commands(assembly, action.name)
                assert not [each for each in ran if re.search(r"\b(npm|npx|pip)\b", each)]


def assumed_by_builds(assembly: Assembly) -> dict[str, list[str]]:
    """Return the kinds of roles of `cdk bootstrap`, and their places, of each build."""
    found = {}
    for stage in definition(assembly).stages:
        for action in stage.actions:
            if action.provider == "CodeBuild":
                text = json.dumps(
                    [
                        statement["Resource"]
                        for statement in statements(assembly, f"{action.name.replace('-', '')}Role")
                        if statement["Action"] == "sts:AssumeRole"
                    ]
                )
                found[action.name] = re.findall(r"cdk-hnb659fds-([a-z0-9-]+)", text)
                assert text.count("role/") == len(found[action.name])
    return found


def test_only_what_runs_after_the_approval_may_write_to_production(assembly: Assembly) -> None:
    prod = "role-444455556666-us-east-1"
    dev = "role-222233334444-us-west-2"

    assert assumed_by_builds(assembly) == {
        "Synth": [],
        "CheckPipeline": [],
        "Review-dev": [f"lookup-{dev}"],
        "Publish-dev": [f"file-publishing-{dev}"],
        "Review-prod": [f"lookup-{prod}"],
        "Publish-prod": [f"file-publishing-{prod}"],
    }
    order = [
        [action.name for action in each] for each in definition(assembly).stages[-1].in_order()
    ]
    assert order.index(["Approve-prod"]) < order.index(["Publish-prod"])


def test_stacks_are_deployed_from_what_is_published_after_the_approval(assembly: Assembly) -> None:
    for stage in definition(assembly).stages[-2:]:
        (published,) = (each for each in stage.actions if each.name.startswith("Publish-"))
        prepared = [each for each in stage.actions if each.name.endswith(".Prepare")]
        assert {tuple(each.inputs) for each in prepared} == {tuple(published.outputs)}
        for each in prepared:
            assert each.configuration["TemplatePath"].startswith(f"{published.outputs[0]}::")


def test_buckets_of_other_regions_are_no_less(assembly: Assembly) -> None:
    (name,) = (each for each in assembly.templates() if each.startswith("cross-region"))
    template = assembly.templates()[name]["Resources"].values()
    found = {resource["Type"]: resource["Properties"] for resource in template}

    assert found["AWS::S3::Bucket"]["LifecycleConfiguration"]["Rules"]
    assert found["AWS::KMS::Key"]["EnableKeyRotation"] is True


SENDING = {"codepipeline.amazonaws.com", "codestar-notifications.amazonaws.com"}


def test_services_send_and_deploy_for_this_account_alone(assembly: Assembly) -> None:
    policies = [
        *(role["AssumeRolePolicyDocument"] for role in resources(assembly, "AWS::IAM::Role")),
        *(key["KeyPolicy"] for key in resources(assembly, "AWS::KMS::Key")),
        *(topic["PolicyDocument"] for topic in resources(assembly, "AWS::SNS::TopicPolicy")),
    ]
    allowed = [
        (service, statement.get("Condition"))
        for policy in policies
        for statement in policy["Statement"]
        for service in SENDING
        if statement["Principal"] == {"Service": service}
    ]
    own = {"StringEqualsIfExists": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}}

    assert {service for service, _ in allowed} == SENDING
    assert all(condition == own for _, condition in allowed), allowed


def test_nothing_is_looked_up(assembly: Assembly) -> None:
    for environment in ("dev", "prod"):
        manifest = assembly.directory / f"assembly-{environment}" / "manifest.json"
        assert "missing" not in json.loads(manifest.read_text("utf-8"))


def test_a_pipeline_takes_over_what_was_deployed_without_it(
    assembly: Assembly, chart: Path, tmp_path: Path
) -> None:
    config = load_file(EXAMPLE).deployments[1].config
    alone = synthesized(config, chart=chart, directory=tmp_path).templates()
    folder = assembly.directory / "assembly-prod"
    artifacts = json.loads((folder / "manifest.json").read_text("utf-8"))["artifacts"].values()
    stacks = {
        artifact["properties"]["stackName"]: json.loads(
            (folder / artifact["properties"]["templateFile"]).read_text("utf-8")
        )
        for artifact in artifacts
        if artifact["type"] == "aws:cloudformation:stack"
    }

    assert stacks.keys() == alone.keys()
    for name, template in alone.items():
        for section in ("Resources", "Outputs", "Parameters", "Rules"):
            assert stacks[name].get(section, {}).keys() == template.get(section, {}).keys(), name


def test_nothing_is_found_by_cdk_nag_or_cfn_lint(assembly: Assembly) -> None:
    assert assembly.nag_findings() == []
    for name, text in assembly.texts().items():
        region = "us-west-2" if name == "ml-pipeline" else "us-east-1"
        assert findings(text, region=region) == (), name


def test_an_archive_in_s3_starts_the_pipeline_and_gets_a_history(tmp_path: Path) -> None:
    found = variant("s3", directory=tmp_path)

    (rule,) = resources(found, "AWS::Events::Rule")
    assert rule["EventPattern"]["detail"]["object"] == {"key": ["hyperpod.zip"]}
    assert commands(found, "Synth")[:2] == ["git init --quiet", "git add --all"]
    read = [s for s in statements(found, "SynthRole") if s.get("Sid") == "ReadChart"]
    assert ":s3:::charts/hyperpod.tgz" in json.dumps(read)
    (bucket,) = resources(found, "AWS::S3::Bucket")
    assert {"Key": "team", "Value": "platform"} in bucket["Tags"]
    assert found.artifact("ml-pipeline")["properties"]["tags"] == {"team": "platform"}
    assert found.nag_findings() == []
    assert findings(found.texts()["ml-pipeline"], region="us-west-2") == ()


def test_code_commit_is_a_source_and_nobody_needs_to_be_told(tmp_path: Path) -> None:
    found = variant("code-commit", directory=tmp_path)

    (source,) = definition(found).stages[0].actions
    assert source.provider == "CodeCommit"
    assert resources(found, "AWS::SNS::Subscription") == []
    assert found.nag_findings() == []
    assert findings(found.texts()["ml-pipeline"], region="us-west-2") == ()


def test_a_configuration_outside_the_repository_is_refused(
    tmp_path: Path, chart: Path, raises: Raises
) -> None:
    shutil.copytree(EXAMPLE.parent, tmp_path, dirs_exist_ok=True)
    path = tmp_path / "pipeline.yaml"
    charts = [read_hyperpod_chart(chart)] * 2
    with raises(ConfigError):
        _add(new_app(tmp_path), path, charts=charts)
