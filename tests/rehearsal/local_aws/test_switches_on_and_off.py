"""Each switch is set in a running deployment and taken back, on the local CloudFormation.

Of the templates there is what passes between stacks: exports, imports, and a parameter in place of
all resources, which changes with them. Stacks that a configuration has no more stay.
"""

import hashlib
import json
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from hyperpod_cdk.loading import config_of
from hyperpod_cli.aws.assembly import Stack
from hyperpod_cli.aws.stacks import Deployed
from hyperpod_cli.plan.refusals import export_names, import_names, missed_exports
from hyperpod_cli.stack_progress.fixed_values import changes
from hyperpod_emulator.aws.local_aws import LocalAws
from hyperpod_emulator.testing.stacks import client, settled
from tests.support.assembly import Assembly, synthesized
from tools.pairs.rows import FOLDER, Row, alone, document, refusals
from tools.pairs.switches import Key, switches

Templates = Mapping[str, Mapping[str, Any]]
"""The outline of each stack, after those of the stacks that it depends on."""
SETTINGS = [(key, place) for key, values in switches().items() for place in range(len(values))]
# Of `make test`; the others are left to `make test-all`.
OF_MAKE_TEST = {"notifications", "governance"}
# What the plan wants done first: nodes are destroyed with what their deletion asks, and the cluster
# lets go of the database of the accounting before that goes.
_FIRST = {("cluster",), ("cluster", "slurm")}
_COMPLETE = {"CREATE_COMPLETE", "UPDATE_COMPLETE"}


def settings() -> Iterator[Any]:
    for key, place in SETTINGS:
        marks = () if key[-1] in OF_MAKE_TEST and place == 0 else (pytest.mark.whole,)
        yield pytest.param((key, place), marks=marks, id=f"{'.'.join(key)}-{place}")


@pytest.mark.slow(seconds=4)
@pytest.mark.parametrize("setting", [*settings()])
def test_a_switch_is_set_in_a_running_deployment_and_taken_back(
    setting: tuple[Key, int], aws: LocalAws, chart: Path, tmp_path: Path
) -> None:
    on = alone(setting)
    if on is None:  # as tests/pairs/refused.md says
        return
    off = {key: value for key, value in on.items() if key != setting[0]}
    without = outlines({} if refusals(off) else off, chart=chart, folder=tmp_path / "off")
    with_it = outlines(on, chart=chart, folder=tmp_path / "on")
    if passed(without) == passed(with_it) or is_fixed(without, with_it):
        return
    deployment = Deployment(aws)
    try:
        for wanted in (without, with_it, without, with_it):
            assert deployment.deploy(wanted, obeys_plan=setting[0] in _FIRST) == []
    finally:
        deployment.delete()


def test_what_a_stack_that_stays_imports_is_not_taken_away(aws: LocalAws) -> None:
    shared = {"Shared": {"Value": "a", "Export": {"Name": "exporter:shared"}}}
    exporter = _outline({"Resources": {}, "Outputs": shared})
    alone_ = _outline({"Resources": {}})
    importer = _outline({"Resources": {"A": {"Fn::ImportValue": "exporter:shared"}}})
    deployment = Deployment(aws)
    try:
        # Nothing of the exporter changes but its outputs.
        assert deployment.deploy({"exporter": alone_}) == []
        assert deployment.deploy({"exporter": exporter, "importer": importer}) == []
        assert [*deployment.refused_by_plan({"exporter": alone_})] == ["importer"]
        [refused] = deployment.deploy({"exporter": alone_}, obeys_plan=False)
        assert "exporter:shared cannot be deleted as it is in use by importer" in refused
        assert deployment.deploy({"exporter": alone_}) == []
    finally:
        deployment.delete()


class Deployment:
    """What is deployed, by nothing but CloudFormation's API."""

    def __init__(self, aws: LocalAws) -> None:
        self._cloudformation = client(aws, "cloudformation")
        self._there: dict[str, Mapping[str, Any]] = {}

    def deploy(self, wanted: Templates, *, obeys_plan: bool = True) -> Sequence[str]:
        """Deploy each stack as the CDK CLI does, and return what CloudFormation refuses.

        What the plan asks to be deployed or deleted before is.
        """
        refused: list[str] = []
        for name in [*self.refused_by_plan(wanted)] if obeys_plan else ():
            if name in wanted:
                refused += self._deploy(name, wanted[name])
            else:
                self._delete(name)
        refused += [line for name, each in wanted.items() for line in self._deploy(name, each)]
        return refused

    def refused_by_plan(self, wanted: Templates) -> Iterator[str]:
        """Yield the stacks with which the plan wants something to be done before."""
        there = {name: _deployed(self._there.get(name)) for name in {**wanted, **self._there}}
        stacks = [Stack(name=name, template=each) for name, each in wanted.items()]
        for line in missed_exports(stacks, there=there, file=Path("mine.yaml")):
            yield line.partition(": ")[0]

    def _deploy(self, name: str, template: Mapping[str, Any]) -> Iterator[str]:
        cloudformation, change_set = self._cloudformation, f"change-{uuid.uuid4().hex}"
        cloudformation.create_change_set(
            StackName=name,
            ChangeSetName=change_set,
            ChangeSetType="UPDATE" if name in self._there else "CREATE",
            TemplateBody=json.dumps(template),
        )
        made = cloudformation.describe_change_set(StackName=name, ChangeSetName=change_set)
        if made["Status"] == "FAILED":
            cloudformation.delete_change_set(StackName=name, ChangeSetName=change_set)
            return
        cloudformation.execute_change_set(StackName=name, ChangeSetName=change_set)
        if settled(cloudformation, name)["StackStatus"] in _COMPLETE:
            self._there[name] = template
            return
        events = cloudformation.describe_stack_events(StackName=name)["StackEvents"]
        yield f"{name}: {[each.get('ResourceStatusReason', '') for each in events]}"

    def delete(self) -> None:
        """Delete all, importers first."""
        for name in reversed([*self._there]):
            self._delete(name)

    def _delete(self, name: str) -> None:
        [found] = self._cloudformation.describe_stacks(StackName=name)["Stacks"]
        self._cloudformation.delete_stack(StackName=name)
        settled(self._cloudformation, found["StackId"])
        with suppress(KeyError):
            del self._there[name]


def _deployed(template: Mapping[str, Any] | None) -> Deployed | None:
    return None if template is None else Deployed(status="CREATE_COMPLETE", template=template)


def outlines(row: Row, *, chart: Path, folder: Path) -> Templates:
    """Return the outlines of a row's stacks."""
    folder.mkdir()
    config = config_of(json.dumps(document(row)), path=FOLDER / "row.yaml")
    assembly = synthesized(config, chart=chart, directory=folder)
    return dict(_in_order(assembly))


def _in_order(assembly: Assembly) -> Iterator[tuple[str, Mapping[str, Any]]]:
    left = assembly.templates()
    while left:
        for name in [*left]:
            if not {*assembly.artifact(name).get("dependencies", ())} & {*left}:
                yield name, _outline(left.pop(name))


def _outline(template: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a template with the exports and imports of another."""
    values: dict[str, Any] = {"All": _hash(template["Resources"])}
    for number, name in enumerate(sorted({*import_names(template)})):
        values[f"Import{number}"] = {"Fn::ImportValue": name}
    parameters = template.get("Parameters", {}).items()
    return {
        "Metadata": {
            "Parameters": {name: each["Default"] for name, each in parameters if "Default" in each},
            "Rules": template.get("Rules", {}),
        },
        "Resources": {
            name: {"Type": "AWS::SSM::Parameter", "Properties": {"Type": "String", "Value": value}}
            for name, value in values.items()
        },
        "Outputs": {
            name: {**output, "Value": _hash(output["Value"])}
            for name, output in template.get("Outputs", {}).items()
        },
    }


def is_fixed(former: Templates, wanted: Templates) -> bool:
    """Say whether the plan refuses a step because a value cannot change."""
    return any(
        [*changes(each["Metadata"], parameters=former[name]["Metadata"]["Parameters"])]
        for name, each in wanted.items()
        if name in former
    )


def passed(templates: Templates) -> Mapping[str, tuple[set[str], set[str]]]:
    """Return what each stack exports and imports."""
    return {
        name: ({*export_names(each)}, {*import_names(each)}) for name, each in templates.items()
    }


def _hash(part: object) -> str:
    return hashlib.sha256(json.dumps(part, sort_keys=True).encode()).hexdigest()
