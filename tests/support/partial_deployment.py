"""Steps of a deployment, each taken by itself in an account that has nothing else in it.

CloudFormation gets resources of the deployment's own templates, with no more than they refer to.
What the provisioner makes, its own code makes, in this process, with clients of the account.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import boto3
import pytest
import yaml
from botocore.config import Config as ClientConfig
from botocore.exceptions import ClientError

from hyperpod_cdk import Config
from hyperpod_cdk.synthesis.assets import asset_directory
from hyperpod_cli.inspect.preflight.validator import Target
from hyperpod_emulator.aws.local_aws import AwsClients, LocalAws
from hyperpod_emulator.hyperpod import HyperPodService
from hyperpod_emulator.testing.stacks import Template, settled
from hyperpod_shared.aws_errors import AWS_ERRORS
from hyperpod_shared.errors import ProvisioningError
from hyperpod_stacks.table import StackKind, stack_name
from provisioner.authentication_mode import AuthenticationMode
from provisioner.default_security_group import DefaultSecurityGroup
from provisioner.file_system_availability import FileSystemAvailability
from provisioner.framework.resource import CustomResource
from provisioner.hyperpod.cluster import HyperPodCluster
from provisioner.lifecycle_scripts import LifecycleScripts
from tests.support.assembly import merged, synthesized
from tests.support.configs import CONFIG_FOLDER, REPOSITORY
from tests.support.provisioner.cloudformation import STACK_ID, Framework, Time
from tests.support.provisioner.fake_s3 import zipped
from tests.support.template_parts import (
    CUSTOM,
    depending_on,
    imports,
    needed,
    references,
    with_attributes,
)

ACCOUNT_IN_FILES = "111122223333"
"""The account in the ARNs of examples, which stands for the account of each deployment."""
_CHART = REPOSITORY / "rehearsal" / "hyperpod_rehearsal" / "chart" / "hyperpod-helm-chart"
_FAILURES: tuple[type[Exception], ...] = (ProvisioningError, *AWS_ERRORS)
_BOOTSTRAP = "BootstrapVersion"
_AUTHENTICATION_MODE = "Custom::EksAuthenticationMode"


class StepFailedError(Exception):
    """A step of a deployment failed; the text is what a user reads of it."""


def example(name: str) -> dict[str, Any]:
    """Return what an example of `config/examples` holds."""
    text = (CONFIG_FOLDER / "examples" / f"{name}.yaml").read_text("utf-8")
    document: dict[str, Any] = yaml.safe_load(text)
    return document


@cache
def clients(aws: LocalAws, *, account: str, region: str) -> AwsClients:
    """Return what makes clients of the root user of an account of a local AWS, each once."""
    once = ClientConfig(retries={"total_max_attempts": 1})

    @cache
    def client(service: str) -> Any:  # noqa: ANN401 - any service
        return _session().client(
            service,  # type: ignore[call-overload] # the name is not known to the type checker
            endpoint_url=aws.endpoint,
            region_name=region,
            # MiniStack takes an access key of twelve digits for the root user of that account.
            aws_access_key_id=account,
            aws_secret_access_key=aws.environment()["AWS_SECRET_ACCESS_KEY"],
            config=once,
        )

    return client


@cache
def _session() -> boto3.Session:
    """Return the session of all clients, which reads the model of a service once."""
    return boto3.Session()


@dataclass(kw_only=True)
class Synthesis:
    """Templates of configurations, each synthesized once.

    Attributes:
        directory: Gets them.
    """

    directory: Path
    _made: dict[str, dict[str, Template]] = field(default_factory=dict)

    def templates(self, config: Config) -> dict[str, Template]:
        """Return the template of each stack, by the stack's name."""
        text = config.model_dump_json()
        if text not in self._made:
            directory = self.directory / str(len(self._made))
            found = synthesized(config, chart=_CHART, directory=directory)
            self._made[text] = found.templates()
        return self._made[text]


@dataclass(kw_only=True)
class Deployment:
    """A configuration in an account of its own, in which nothing is deployed yet.

    Attributes:
        aws: The local AWS.
        hyperpod: What answers for its HyperPod clusters.
        time: The clock of that.
        account: Twelve digits.
        region: Where.
        document: The configuration, with `ACCOUNT_IN_FILES` for the account.
        synthesis: Makes the templates.
        patch: Changes that are undone after the test.
    """

    aws: LocalAws
    hyperpod: HyperPodService
    time: Time
    account: str
    region: str
    document: Mapping[str, Any]
    synthesis: Synthesis
    patch: pytest.MonkeyPatch
    _attributes: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    _parts: dict[str, "_Part"] = field(default_factory=dict)

    def changed(self, changes: Mapping[str, Any]) -> "Deployment":
        """Return the deployment of a changed configuration in the same account."""
        return self.of(merged(self.document, changes))

    def of(self, document: Mapping[str, Any]) -> "Deployment":
        """Return the deployment of another configuration in the same account."""
        return replace(self, document=document, _attributes={})

    @cached_property
    def config(self) -> Config:
        """The configuration, in this account."""
        return Config.model_validate(json.loads(self.in_account(json.dumps(self.document))))

    @cached_property
    def client(self) -> AwsClients:
        """Returns the client of a service."""
        return clients(self.aws, account=self.account, region=self.region)

    @property
    def target(self) -> Target:
        """Where validators look."""
        return Target(
            partition="aws",
            account=self.account,
            region=self.region,
            client=self._client,
        )

    def _client(self, service: str, region: str | None = None) -> Any:  # noqa: ANN401 - any service
        if region is None:
            return self.client(service)
        return clients(self.aws, account=self.account, region=region)(service)

    def create(self, kind: StackKind, *kinds: str, bootstrapped: bool = True) -> None:
        """Create or update resources of a stack.

        Args:
            kind: The stack.
            kinds: Types of resources, or what their logical ids begin with.
            bootstrapped: Whether to leave out the parameter that asks for the bootstrap stack.

        Raises:
            StepFailedError: CloudFormation could not.
        """
        stack = stack_name(self.config, kind)
        part = self._part(stack)
        roots = [
            name
            for name, body in self._templates[stack]["Resources"].items()
            if any(body["Type"] == each or name.startswith(each) for each in kinds)
        ]
        assert roots, kinds
        part.resources.update(roots)
        self._deploy(stack, bootstrapped=bootstrapped)

    def provision(self, kind: StackKind, resource_type: str) -> Mapping[str, Any]:
        """Create a custom resource by the provisioner; return its attributes.

        Args:
            kind: The stack.
            resource_type: Such as `Custom::HyperPodCluster`.

        Raises:
            StepFailedError: It, or what it needs, could not be made.
        """
        stack = stack_name(self.config, kind)
        resources = self._templates[stack]["Resources"]
        name = next(name for name, body in resources.items() if body["Type"] == resource_type)
        return self._provisioned(stack, name)

    def create_cluster(self) -> str:
        """Create the HyperPod cluster, with what its nodes need; return which nodes are missing.

        Raises:
            StepFailedError: There will be no cluster.
        """
        there = self._templates[stack_name(self.config, "platform")]["Resources"]
        if any(body["Type"] == _AUTHENTICATION_MODE for body in there.values()):
            self.provision("platform", _AUTHENTICATION_MODE)
        kinds = {body["Type"] for body in there.values()} & _NETWORK_OF_NODES
        roles = {name for name in there if name.startswith("ExecutionRole")}
        if kinds or roles:
            self.create("platform", *kinds, *roles)
        return str(self.provision("hyperpod", "Custom::HyperPodCluster").get("Shortage", ""))

    def _provisioned(self, stack: str, name: str) -> Mapping[str, Any]:
        if name in self._attributes:
            return self._attributes[name]
        body = self._templates[stack]["Resources"][name]
        wanted = {key: value for key, value in body["Properties"].items() if key != "ServiceToken"}
        # CloudFormation evaluates the properties.
        self._part(stack).outputs.update({f"{name}{key}": value for key, value in wanted.items()})
        found = self._deploy(stack)
        properties = {key: found[f"{name}{key}"] for key in wanted}
        framework = Framework(
            resource=self._handler(body["Type"], properties),
            resource_type=body["Type"],
            time=self.time,
            stack_id=self.in_account(STACK_ID),
        )
        try:
            self._attributes[name] = framework.create(properties).data or {}
        except _FAILURES as failure:
            raise StepFailedError(str(failure)) from failure
        return self._attributes[name]

    def _handler(self, resource_type: str, properties: Mapping[str, str]) -> CustomResource[Any]:
        match resource_type:
            case "Custom::HyperPodCluster":
                return HyperPodCluster(
                    sagemaker=self.client("sagemaker"),
                    delete_node_objects=lambda *_: None,
                )
            case "Custom::DefaultSecurityGroup":
                return DefaultSecurityGroup(ec2=self.client("ec2"))
            case "Custom::EksAuthenticationMode":
                return AuthenticationMode(eks=self.client("eks"))
            case "Custom::FileSystemAvailability":
                return FileSystemAvailability(fsx=self.client("fsx"))
            case "Custom::LifecycleScripts":
                self._publish_scripts(properties)
                return LifecycleScripts(s3=self.client("s3"))
        raise ValueError(
            f"{resource_type} needs a Kubernetes cluster: play its failure in a whole deployment, "
            "in rehearsal/hyperpod_rehearsal/scenarios"
        )

    def _publish_scripts(self, properties: Mapping[str, str]) -> None:
        """Put the zipped lifecycle scripts where the CDK CLI publishes them."""
        bucket, s3 = properties["SourceBucket"], self.client("s3")
        where = {"LocationConstraint": self.region}
        # Another deployment of the account may have published before.
        if bucket not in [each["Name"] for each in s3.list_buckets()["Buckets"]]:
            s3.create_bucket(Bucket=bucket, CreateBucketConfiguration=where)
        files = {
            path: (asset_directory("lifecycle") / "eks" / path).read_bytes()
            for path in json.loads(properties["Keys"])
            if path not in properties["Files"]
        }
        s3.put_object(Bucket=bucket, Key=properties["SourceKey"], Body=zipped(files))

    @cached_property
    def _templates(self) -> dict[str, Template]:
        """The templates in this account, by stack."""
        text = json.dumps(self.synthesis.templates(Config.model_validate(self.document)))
        templates: dict[str, Template] = json.loads(self.in_account(text))
        return templates

    def in_account(self, text: str) -> str:
        """Return a text with this account for that of the examples."""
        return text.replace(ACCOUNT_IN_FILES, self.account)

    def _part(self, stack: str) -> "_Part":
        return self._parts.setdefault(stack, _Part())

    def _deploy(self, stack: str, *, bootstrapped: bool = True) -> Mapping[str, str]:
        """Create or update a stack with its part; return its outputs."""
        template, part = self._templates[stack], self._part(stack)
        everything = template["Resources"]
        # Of a configuration before, some are gone.
        part.resources &= everything.keys()
        part.resources.update(needed([*part.resources, *references(part.outputs)], everything))
        for name in references([part.outputs, *(everything[name] for name in part.resources)]):
            if everything.get(name, {}).get("Type", "").startswith(CUSTOM):
                self._provisioned(stack, name)
        body = {name: depending_on(part.resources, everything[name]) for name in part.resources}
        self._export(imports([body, part.outputs]))
        told = {
            key: output
            for key, output in template.get("Outputs", {}).items()
            if {*references(output)} & {*everything} <= part.resources | {*self._attributes}
        }
        parameters = template.get("Parameters", {})
        cut = {
            "Parameters": {
                name: parameter
                for name, parameter in parameters.items()
                if name != _BOOTSTRAP or not bootstrapped
            },
            "Resources": body or {"Nothing": {"Type": "AWS::CloudFormation::WaitConditionHandle"}},
            "Outputs": told | {name: {"Value": value} for name, value in part.outputs.items()},
        }
        return self._run(stack, with_attributes(cut, self._attributes))

    def _export(self, names: Iterable[str]) -> None:
        """Have other stacks export what a stack imports."""
        wanted = {*names}
        for stack, template in self._templates.items():
            referred = [
                output
                for output in template.get("Outputs", {}).values()
                if output.get("Export", {}).get("Name") in wanted
            ]
            own = {*references(referred)} & {*template["Resources"]}
            part = self._part(stack)
            customs = {
                name for name in own if template["Resources"][name]["Type"].startswith(CUSTOM)
            }
            for name in customs:
                self._provisioned(stack, name)
            if (referred and not own - customs <= part.resources) or customs:
                part.resources.update(own - customs)
                self._deploy(stack)

    def _run(self, stack: str, template: Template) -> Mapping[str, str]:
        cloudformation = self.client("cloudformation")
        arguments = {
            "StackName": stack,
            "TemplateBody": json.dumps(template),
            "Capabilities": ["CAPABILITY_NAMED_IAM"],
        }
        there = [each["StackName"] for each in cloudformation.describe_stacks()["Stacks"]]
        change = cloudformation.update_stack if stack in there else cloudformation.create_stack
        try:
            change(**arguments)
        except ClientError as refused:
            if "No updates are to be performed" not in str(refused):
                raise StepFailedError(str(refused)) from refused
        found = settled(cloudformation, stack)
        if found["StackStatus"] not in ("CREATE_COMPLETE", "UPDATE_COMPLETE"):
            events = cloudformation.describe_stack_events(StackName=stack)["StackEvents"]
            # What is found of all resources before the first one is made.
            early = cloudformation.describe_events(StackName=stack)["OperationEvents"]
            reasons = [
                *(each.get("ResourceStatusReason", "") for each in events),
                *(each.get("ValidationStatusReason", "") for each in early),
            ]
            raise StepFailedError("\n".join(filter(None, reasons)))
        return {each["OutputKey"]: each["OutputValue"] for each in found.get("Outputs", ())}


@dataclass
class _Part:
    """What of a stack is deployed.

    Attributes:
        resources: Logical ids.
        outputs: Values by key, beside the template's own.
    """

    resources: set[str] = field(default_factory=set)
    outputs: dict[str, Any] = field(default_factory=dict)


_NETWORK_OF_NODES = frozenset(
    {
        "AWS::EC2::Route",
        "AWS::EC2::SecurityGroupEgress",
        "AWS::EC2::SecurityGroupIngress",
        "AWS::EC2::SubnetRouteTableAssociation",
        "AWS::EC2::VPCEndpoint",
    }
)
