"""The Lambda functions behind the custom resources."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from aws_cdk import Aws, CustomResource, Duration, Fn, Names, RemovalPolicy, Size, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3_assets as s3_assets
from aws_cdk import aws_stepfunctions as sfn
from aws_cdk import custom_resources as cr
from aws_cdk.lambda_layer_kubectl_v34 import KubectlV34Layer
from constructs import Construct, IDependable

from hyperpod_cdk.provisioner.acknowledgments import (
    acknowledge_environment,
    acknowledge_functions,
    acknowledge_provider,
)
from hyperpod_cdk.provisioner.journal import Journal
from hyperpod_cdk.schema.errors import ConfigError
from hyperpod_cdk.synthesis.function_code import function_code
from hyperpod_cdk.synthesis.logs import OWNED_BY_AWS, LogGroups
from hyperpod_cdk.synthesis.reasons import (
    acknowledge,
    acknowledge_inline_policies,
    inline_policy,
    skip_checkov,
    statement,
    wildcard_nag_id,
)

ANY_NETWORK_INTERFACE = (
    "Lambda makes the network interfaces, whose ids are not known ahead, and takes no narrower "
    "resource for describing them."
)
"""Why `manage_network_interfaces` names no resource."""


@dataclass(frozen=True, kw_only=True, slots=True)
class VpcPlacement:
    """Where in a VPC a function runs.

    Attributes:
        vpc: The VPC.
        subnets: Private subnets with a route to the internet, or with VPC endpoints.
        security_group: The function's security group.
        internet_access: What must exist before it can call AWS: routes, or VPC endpoints.
    """

    vpc: ec2.IVpc
    subnets: Sequence[ec2.ISubnet]
    security_group: ec2.ISecurityGroup
    internet_access: Sequence[IDependable]


def manage_network_interfaces(scope: Construct) -> iam.PolicyStatement:
    """Return the rights of AWSLambdaVPCAccessExecutionRole but for logs."""
    return statement(
        scope,
        sid="ManageNetworkInterfaces",
        why="In a VPC, Lambda gives the functions network interfaces.",
        added_by="`eks.public_access_cidrs`, or `eks.endpoint_access: private`",
        actions=[
            "ec2:AssignPrivateIpAddresses",
            "ec2:CreateNetworkInterface",
            "ec2:DeleteNetworkInterface",
            "ec2:DescribeNetworkInterfaces",
            "ec2:DescribeSubnets",
            "ec2:UnassignPrivateIpAddresses",
        ],
        resources=["*"],
    )


# CloudFormation gives a custom resource one hour at most, whatever the waiter would allow.
# https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-resource-cloudformation-customresource.html
_LONGEST_WAIT = Duration.hours(1)
# A group of a fixed name that a failed creation or update left behind would fail the next one.
# https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-deletionpolicy.html
_KEPT_ONCE_CREATED = RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE
# https://docs.aws.amazon.com/lambda/latest/api/API_CreateFunction.html
_LONGEST_FUNCTION_NAME = 64
# The first part of the UUID in which a stack's id ends.
_DRAWN_DIGITS = 8
# The kubectl layer's Helm 4.1.4 and kubectl 1.34.5 are for x86-64 only (the package's Dockerfile).
# https://pypi.org/project/aws-cdk.lambda-layer-kubectl-v34/
_ARCHITECTURE = lambda_.Architecture.X86_64
# https://docs.aws.amazon.com/lambda/latest/dg/lambda-runtimes.html
_RUNTIME = lambda_.Runtime.PYTHON_3_14
# Both handlers run helm. CDK's framework, which waits for them, ends after 15 minutes.
_LONGEST_RUN = Duration.minutes(14)
# https://docs.aws.amazon.com/aws-managed-policy/latest/reference/AmazonSageMakerFullAccess.html
_INVOKED_BY_OTHERS = re.compile(r"sagemaker|labelingfunction", re.IGNORECASE)


class Provisioner(Construct):
    """Serves the library's custom resources, `Custom::HyperPodCluster` among them.

    Two functions of one package and one role (start the work; ask whether it is done) behind CDK's
    provider framework, which polls for up to an hour. helm comes from the CDK kubectl layer.

    The role starts with no right but to its own logs and journal, a table that goes after the last
    resource. Each resource adds what it needs, in its own stack, for as long as it lives.

    Args:
        placement: Run inside a VPC. Needed when the Kubernetes API is not reachable from
            everywhere. Default: outside the VPC, which needs no network interfaces.
        poll_interval: Between two questions whether the work is done. Default: 30 seconds.
        log_groups: How its log groups are made. Default: encrypted by AWS, for 90 days.
        encryption_key: Encrypts the journal, and the environment of all functions. Default: a key
            that AWS owns.
        runs_helm: Whether it serves resources that run helm or kubectl, which come in a layer.
            Default: it does.

    Attributes:
        role: The functions' role.

    Raises:
        ConfigError: The name of its stack, or its path, has `sagemaker` in it.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        placement: VpcPlacement | None = None,
        poll_interval: Duration | None = None,
        log_groups: LogGroups = OWNED_BY_AWS,
        encryption_key: kms.IKey | None = None,
        runs_helm: bool = True,
    ) -> None:
        super().__init__(scope, construct_id)
        _refuse_invoked_by_others(self)
        self._granted: dict[tuple[str, str], iam.Policy] = {}
        self.role = iam.Role(
            self,
            "Role",
            description=f"{'Installs Helm releases and creates' if runs_helm else 'Creates'} the "
            "HyperPod cluster",
            assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"),
        )
        journal = Journal(self, "Journal", role=self.role, encryption_key=encryption_key)
        code = function_code("provisioner")
        layers = [KubectlV34Layer(self, "KubectlLayer")] if runs_helm else []

        def function(function_id: str, handler: str) -> lambda_.Function:
            name = _unique_name(self, function_id)
            log_group = log_groups.add(
                self,
                f"{function_id}LogGroup",
                # CDK's framework sends readers of an error to this log group.
                name=f"/aws/lambda/{name}",
                retention=logs.RetentionDays.THREE_MONTHS,
                removal_policy=_KEPT_ONCE_CREATED,
            )
            log_group.grant_write(self.role)
            return lambda_.Function(
                self,
                function_id,
                function_name=name,
                description=f"HyperPod provisioner, {handler}",
                code=code,
                handler=f"provisioner.handler.{handler}",
                runtime=_RUNTIME,
                architecture=_ARCHITECTURE,
                layers=layers,
                role=self.role,
                timeout=_LONGEST_RUN,
                # Needs 165 MB at its peak with the official chart (tests/benchmark); the rest buys
                # processor time, of which Lambda gives 0.6 of one with this much memory.
                memory_size=1024,
                ephemeral_storage_size=Size.mebibytes(512),
                log_group=log_group,
                environment=journal.environment,
                environment_encryption=encryption_key,
                vpc=placement.vpc if placement is not None else None,
                vpc_subnets=(
                    ec2.SubnetSelection(subnets=list(placement.subnets))
                    if placement is not None
                    else None
                ),
                security_groups=[placement.security_group] if placement is not None else None,
            )

        on_event = function("OnEvent", "on_event")
        is_complete = function("IsComplete", "is_complete")
        provider_logs = log_groups.add(
            self, "ProviderLogs", retention=logs.RetentionDays.THREE_MONTHS
        )
        self._provider = cr.Provider(
            self,
            "Provider",
            on_event_handler=on_event,
            is_complete_handler=is_complete,
            query_interval=poll_interval if poll_interval is not None else Duration.seconds(30),
            total_timeout=_LONGEST_WAIT,
            log_group=provider_logs,
            provider_function_env_encryption=encryption_key,
            # Steps without their input: it holds the ResponseURL, which is a credential.
            waiter_state_machine_log_options=cr.LogOptions(
                destination=self._waiter_logs(log_groups),
                level=sfn.LogLevel.ALL,
                include_execution_data=False,
            ),
            disable_waiter_state_machine_logging=False,
        )
        if placement is not None:
            allowed = self._allow_network_interfaces()
            for handler in (on_event, is_complete):
                handler.node.add_dependency(allowed)
            self._provider.node.add_dependency(*placement.internet_access)
        acknowledge_provider(self._provider, on_event=on_event, is_complete=is_complete)
        if encryption_key is None:
            acknowledge_environment(self)
        acknowledge_functions(self)
        log_groups.acknowledge(self)
        acknowledge_inline_policies(self)

    def _waiter_logs(self, log_groups: LogGroups) -> logs.LogGroup:
        # Log delivery adds each group of another name to one resource policy of 5,120 characters,
        # which is the account's; when it is full, no state machine can be created.
        # https://docs.aws.amazon.com/step-functions/latest/dg/bp-cwl.html
        creation = Fn.select(2, Fn.split("/", Stack.of(self).stack_id))
        return log_groups.add(
            self,
            "WaiterLogs",
            # The group stays when its stack goes, so the next stack of the name needs another one.
            name=f"/aws/vendedlogs/states/{Names.unique_resource_name(self)}-{creation}",
            retention=logs.RetentionDays.THREE_MONTHS,
            removal_policy=_KEPT_ONCE_CREATED,
        )

    def _allow_network_interfaces(self) -> iam.Policy:
        """Let Lambda make network interfaces, with the rights of AWSLambdaVPCAccessExecutionRole.

        A resource of its own, on which the functions depend: it is there before they enter the VPC,
        and goes when they have left it, whereas an update of the role comes before theirs.
        https://docs.aws.amazon.com/lambda/latest/dg/configuration-vpc.html
        """
        policy = self.grant(self, "NetworkInterfaces", statements=[manage_network_interfaces(self)])
        # Not by the statement: that would accept it of the whole provisioner.
        acknowledge(policy, {wildcard_nag_id(self, "*"): ANY_NETWORK_INTERFACE})
        skip_checkov(
            policy,
            resource_type="AWS::IAM::Policy",
            reasons={"CKV_AWS_111": ANY_NETWORK_INTERFACE},
        )
        return policy

    def grant(
        self, scope: Construct, construct_id: str, *, statements: Sequence[iam.PolicyStatement]
    ) -> iam.Policy:
        """Add rights to the role through a policy in `scope`'s stack, which lives as long as it.

        A policy of the stack that has the same rights is shared: IAM limits the size of all.
        """
        stack = Stack.of(scope)
        rights = stack.resolve([statement.to_statement_json() for statement in statements])
        key = (stack.node.path, json.dumps(rights, sort_keys=True))
        if key not in self._granted:
            self._granted[key] = inline_policy(
                scope, construct_id, role=self.role, statements=statements
            )
        return self._granted[key]

    @property
    def service_token(self) -> str:
        """What custom resources of all stacks name it by."""
        return self._provider.service_token

    def read_asset(self, asset: s3_assets.Asset, *others: s3_assets.Asset) -> iam.PolicyStatement:
        """Return the right to read exactly these assets."""
        # Assets with the same content are one object.
        by_key = {each.asset_hash: each for each in (asset, *others)}
        return statement(
            self,
            sid="ReadAsset",
            why="It reads a chart, or the zip file of the lifecycle scripts.",
            actions=["s3:GetObject"],
            resources=[each.bucket.arn_for_objects(each.s3_object_key) for each in by_key.values()],
        )

    def custom_resource(
        self,
        scope: Construct,
        construct_id: str,
        *,
        resource_type: str,
        properties: Mapping[str, str],
        statements: Sequence[iam.PolicyStatement] = (),
        depends_on: Sequence[IDependable] = (),
    ) -> CustomResource:
        """Return a custom resource of `resource_type` in `scope`, served by this provisioner.

        Args:
            scope: Parent.
            construct_id: Id.
            resource_type: `Custom::…`.
            properties: Strings only: CloudFormation makes every value a string.
            statements: The rights that it takes, which exist first and outlive it; that to ask for
                the stack is added. Default: none.
            depends_on: What else must exist first and outlive it. Default: nothing.
        """
        granted = [self.grant(scope, "Access", statements=statements)] if statements else []
        asks = self.grant(scope, "AskForStack", statements=[_ask_for_stack(scope)])
        resource = CustomResource(
            scope,
            construct_id,
            service_token=self.service_token,
            service_timeout=_LONGEST_WAIT,
            resource_type=resource_type,
            properties=dict(properties),
        )
        stack = Stack.of(scope)
        # Stacks already depend on each other; an edge between resources of two stacks adds nothing.
        resource.node.add_dependency(
            *(
                item
                for item in (*granted, *depends_on, asks)
                if not isinstance(item, Construct) or Stack.of(item) is stack
            )
        )
        return resource


def _ask_for_stack(scope: Construct) -> iam.PolicyStatement:
    """Return the right to ask what CloudFormation does with `scope`'s stack."""
    return statement(
        scope,
        # A request does not say whether the stack is deployed, rolled back or deleted.
        sid="AskForStack",
        why="It asks whether its stack is being deleted or rolled back, and still waits for it.",
        actions=["cloudformation:DescribeStackEvents"],
        resources=[Stack.of(scope).stack_id],
    )


def _refuse_invoked_by_others(scope: Construct) -> None:
    """Refuse a place whose functions the holders of an AWS managed policy may invoke.

    Raises:
        ConfigError: The stack's name, or the path in it, which name the functions, has such a word.
    """
    stack = Stack.of(scope)
    place = f"{stack.stack_name}{scope.node.path.removeprefix(stack.node.path)}"
    if found := _INVOKED_BY_OTHERS.search(place):
        message = (
            f"{scope.node.path}: {place!r} must not contain {found[0]!r}: the functions carry the "
            "names of their stack and of the constructs around them, and the AWS managed policy "
            "AmazonSageMakerFullAccess lets its holders invoke functions with that word in their "
            "names; take other names"
        )
        raise ConfigError([message])


def _unique_name(scope: Construct, suffix: str) -> str:
    """Return a name for a function that none had before, as its logs outlive it (ADR 39)."""
    stack_uuid = Fn.select(2, Fn.split("/", Aws.STACK_ID))
    drawn = Fn.select(0, Fn.split("-", stack_uuid))
    room = _LONGEST_FUNCTION_NAME - len(f"-{suffix}-") - _DRAWN_DIGITS
    path = Names.unique_resource_name(
        scope, max_length=room, separator="-", allowed_special_characters="-"
    )
    return f"{path}-{suffix}-{drawn}"
