"""The repository of the images that jobs train in, and the project that builds them."""

import json
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from aws_cdk import Aws, CfnMapping, Duration, IgnoreMode, RemovalPolicy
from aws_cdk import aws_codebuild as codebuild
from aws_cdk import aws_ecr as ecr
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3_assets as s3_assets
from constructs import Construct

from hyperpod_cdk.encryption.data_keys import fixed_text
from hyperpod_cdk.facts.deep_learning_containers import BASE_IMAGES, REGISTRY_ACCOUNTS
from hyperpod_cdk.hyperpod.node_permissions import ec2_arn
from hyperpod_cdk.network.endpoint_services import ECR_LOGIN, IMAGE_PULLS, IMAGE_PUSHES
from hyperpod_cdk.provisioner.provisioner import VpcPlacement
from hyperpod_cdk.synthesis.assets import asset_directory
from hyperpod_cdk.synthesis.logs import OWNED_BY_AWS, LogGroups
from hyperpod_cdk.synthesis.reasons import (
    acknowledge,
    acknowledge_inline_policies,
    statement,
    wildcard_nag_id,
)
from hyperpod_cdk.synthesis.refusals import FixedValue
from hyperpod_cdk.synthesis.trust import SOURCE_ACCOUNT_IF_SENT
from hyperpod_cdk.workloads.images import (
    CONTEXT_EXCLUDES,
    TrainingImage,
    base_images,
    build_script,
    training_image,
)
from hyperpod_cdk.workloads.section import WorkloadsConfig

# 128 GB of disk, which is 119 GiB; the next smaller type has 64 GB.
# https://docs.aws.amazon.com/codebuild/latest/userguide/build-env-ref-compute-types.html
_COMPUTE = "BUILD_GENERAL1_MEDIUM"
_BUILD_IMAGE = "aws/codebuild/standard:7.0"
_LONGEST_BUILD_MINUTES = 120


class TrainingImages(Construct):
    """An ECR repository, and a CodeBuild project that builds the training images into it.

    The repository scans what is pushed, its tags are immutable, and it keeps the newest images of
    each kind. It goes with its stack, and its images with it: they can be built again. The project
    builds `images/training` as it was when the app was synthesized, and does so when it is started.

    Args:
        repository_name: Name of the repository, which the project has too.
        workloads: The section.
        instance_types: Those of the cluster's groups; they say which images there are.
        region: The deployment's, if the configuration names it.
        encryption_key: KMS key of the images. Default: ECR's own.
        log_groups: What the build's log group has. Default: a key of AWS, and 90 days.
        placement: Where in a VPC builds run. Default: in none.
        context: The build context. Default: the project's own, `images/training`.

    Attributes:
        repository: The repository.
        project: The project.
        images: URI of each image by the name of what it begins with: `gpu`, `neuron`.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        repository_name: str,
        workloads: WorkloadsConfig,
        instance_types: Sequence[str],
        region: str | None = None,
        encryption_key: kms.IKey | None = None,
        log_groups: LogGroups = OWNED_BY_AWS,
        placement: VpcPlacement | None = None,
        context: Path | None = None,
    ) -> None:
        super().__init__(scope, construct_id)
        context = context or asset_directory("images") / "training"
        bases = base_images(instance_types)
        images = [training_image(base, context=context) for base in bases]
        self.repository = self._repository(repository_name, workloads, key=encryption_key)
        registry = workloads.base_registry
        if registry is None:
            account = self._registry_account(region)
            registry = f"{account}.dkr.ecr.{Aws.REGION}.{Aws.URL_SUFFIX}"
        source = s3_assets.Asset(
            self,
            "Source",
            path=str(context),
            exclude=list(CONTEXT_EXCLUDES),
            ignore_mode=IgnoreMode.GIT,
        )
        log_group = log_groups.add(
            self,
            "Logs",
            name=f"/aws/codebuild/{repository_name}",
            retention=logs.RetentionDays.THREE_MONTHS,
            removal_policy=RemovalPolicy.DESTROY,
        )
        log_groups.acknowledge(log_group)
        host, _, folder = registry.partition("/")
        prefix = f"arn:{Aws.PARTITION}:ecr:{Aws.REGION}:{host.partition('.')[0]}:repository/"
        folders = f"{folder}/" if folder else ""
        role = self._role(
            bases=[f"{prefix}{folders}{base.repository}" for base in bases],
            source=source,
            log_group=log_group,
            placement=placement,
        )
        self.project = codebuild.CfnProject(
            self,
            "Project",
            name=repository_name,
            description="Builds the images that jobs train in",
            service_role=role.role_arn,
            source=codebuild.CfnProject.SourceProperty(
                type="S3",
                location=f"{source.s3_bucket_name}/{source.s3_object_key}",
                build_spec=json.dumps(_build_spec(images, index=workloads.package_index)),
            ),
            artifacts=codebuild.CfnProject.ArtifactsProperty(type="NO_ARTIFACTS"),
            environment=codebuild.CfnProject.EnvironmentProperty(
                type="LINUX_CONTAINER",
                compute_type=_COMPUTE,
                image=_BUILD_IMAGE,
                # Docker runs in the build.
                privileged_mode=True,
                environment_variables=[
                    codebuild.CfnProject.EnvironmentVariableProperty(name=name, value=value)
                    for name, value in {
                        "BASE_REGISTRY": registry,
                        "REPOSITORY_NAME": self.repository.repository_name,
                        "REPOSITORY_URI": self.repository.repository_uri,
                    }.items()
                ],
            ),
            logs_config=codebuild.CfnProject.LogsConfigProperty(
                cloud_watch_logs=codebuild.CfnProject.CloudWatchLogsConfigProperty(
                    status="ENABLED", group_name=log_group.log_group_name
                )
            ),
            timeout_in_minutes=_LONGEST_BUILD_MINUTES,
            vpc_config=None if placement is None else _vpc(placement),
        )
        # CodeBuild looks whether the role may make network interfaces.
        self.project.node.add_dependency(role)
        reasons = {
            "CB3": "A container image is built with Docker, which needs a privileged container.",
            "CB4": "It has no artifacts that a key would encrypt.",
        }
        acknowledge(
            self.project, {f"AwsSolutions-{rule}": reason for rule, reason in reasons.items()}
        )
        self.images = {
            image.base.name: self.repository.repository_uri_for_tag(image.tag) for image in images
        }

    def _repository(
        self, name: str, workloads: WorkloadsConfig, *, key: kms.IKey | None
    ) -> ecr.Repository:
        FixedValue(
            self,
            "FixedKey",
            key=("encryption", "images"),
            value=fixed_text(key),
            reason="ECR encrypts a repository with the key that it was created with",
            instead="delete the stack of workloads, and deploy and build again",
        )
        return ecr.Repository(
            self,
            "Repository",
            repository_name=name,
            image_scan_on_push=True,
            image_tag_mutability=ecr.TagMutability.IMMUTABLE,
            encryption=ecr.RepositoryEncryption.KMS if key else ecr.RepositoryEncryption.AES_256,
            encryption_key=key,
            lifecycle_rules=[
                *(
                    ecr.LifecycleRule(
                        description=f"The newest images for {kind}",
                        tag_prefix_list=[f"{base.name}-"],
                        max_image_count=workloads.images_kept,
                    )
                    for kind, base in BASE_IMAGES.items()
                ),
                ecr.LifecycleRule(
                    description="What no tag names",
                    tag_status=ecr.TagStatus.UNTAGGED,
                    max_image_age=Duration.days(1),
                ),
            ],
            removal_policy=RemovalPolicy.DESTROY,
            empty_on_delete=True,
        )

    def _registry_account(self, region: str | None) -> str:
        """Return the account of AWS's registry; a template for any region looks it up."""
        if region is not None:
            return REGISTRY_ACCOUNTS[region]
        accounts = {name: {"account": account} for name, account in REGISTRY_ACCOUNTS.items()}
        mapping = CfnMapping(self, "RegistryAccounts", mapping=accounts)
        return mapping.find_in_map(Aws.REGION, "account")

    def _role(
        self,
        *,
        bases: Sequence[str],
        source: s3_assets.Asset,
        log_group: logs.ILogGroup,
        placement: VpcPlacement | None,
    ) -> iam.Role:
        role = iam.Role(
            self,
            "Role",
            description="Builds the images that jobs train in",
            assumed_by=iam.ServicePrincipal(
                "codebuild.amazonaws.com", conditions=SOURCE_ACCOUNT_IF_SENT
            ),
        )
        acknowledge_inline_policies(role)
        add = partial(statement, self, added_by="`workloads`")
        statements = [
            # https://docs.aws.amazon.com/codebuild/latest/userguide/setting-up-service-role.html
            add(
                sid="FindSource",
                why="CodeBuild looks at the bucket of what it builds.",
                actions=["s3:GetBucketAcl", "s3:GetBucketLocation"],
                resources=[source.bucket.bucket_arn],
            ),
            add(
                sid="ReadSource",
                why="CodeBuild reads what it builds.",
                actions=["s3:GetObject", "s3:GetObjectVersion"],
                resources=[source.bucket.arn_for_objects(source.s3_object_key)],
            ),
            add(
                sid="LogInToEcr",
                why="A build logs in to ECR, which takes no resource for that.",
                actions=[ECR_LOGIN],
                resources=["*"],
            ),
            add(
                sid="PullBaseImages",
                why="A build begins with AWS's Deep Learning Containers.",
                actions=IMAGE_PULLS,
                resources=bases,
            ),
            add(
                sid="PushImages",
                why="A build looks which images are there, and adds those that are not.",
                actions=[*IMAGE_PULLS, *IMAGE_PUSHES],
                resources=[self.repository.repository_arn],
            ),
            add(
                sid="WriteLog",
                why="What a build prints is its log.",
                actions=["logs:CreateLogStream", "logs:PutLogEvents"],
                resources=[log_group.log_group_arn],
            ),
        ]
        if placement is not None:
            statements += _network_statements(self, placement, add=add)
        for each in statements:
            role.add_to_policy(each)
        acknowledge(role, {wildcard_nag_id(role, "*"): "These actions take no resource."})
        return role


def _build_spec(images: Sequence[TrainingImage], *, index: str | None) -> dict[str, Any]:
    commands = [build_script(image, index=index) for image in images]
    return {
        "version": "0.2",
        "env": {"shell": "bash"},
        "phases": {"build": {"commands": commands}},
    }


def _network_statements(
    scope: Construct, placement: VpcPlacement, *, add: Callable[..., iam.PolicyStatement]
) -> list[iam.PolicyStatement]:
    """Return what CodeBuild needs to give a build a network interface in a VPC.

    https://docs.aws.amazon.com/codebuild/latest/userguide/auth-and-access-control-iam-identity-based-access-control.html
    """
    interfaces = ec2_arn(scope, "network-interface", "*")
    subnets = [ec2_arn(scope, "subnet", subnet.subnet_id) for subnet in placement.subnets]
    group = ec2_arn(scope, "security-group", placement.security_group.security_group_id)
    add = partial(add, added_by="`workloads.build_in_network`, or `network.closed`")
    acknowledge(scope, {wildcard_nag_id(scope, interfaces): "EC2 draws the ids of interfaces."})
    return [
        add(
            sid="FindNetwork",
            why="CodeBuild looks at the network of a build, which takes no resource.",
            actions=[
                "ec2:DescribeDhcpOptions",
                "ec2:DescribeNetworkInterfaces",
                "ec2:DescribeSecurityGroups",
                "ec2:DescribeSubnets",
                "ec2:DescribeVpcs",
            ],
            resources=["*"],
        ),
        add(
            sid="MakeInterface",
            why="CodeBuild gives a build a network interface, and takes it away.",
            actions=["ec2:CreateNetworkInterface", "ec2:DeleteNetworkInterface"],
            resources=[interfaces, *subnets, group],
        ),
        add(
            sid="LendInterface",
            why="A build runs in an account of AWS, which uses the interface.",
            actions=["ec2:CreateNetworkInterfacePermission"],
            resources=[interfaces],
            conditions={
                "StringEquals": {"ec2:AuthorizedService": "codebuild.amazonaws.com"},
                "ArnEquals": {"ec2:Subnet": subnets},
            },
        ),
    ]


def _vpc(placement: VpcPlacement) -> codebuild.CfnProject.VpcConfigProperty:
    return codebuild.CfnProject.VpcConfigProperty(
        vpc_id=placement.vpc.vpc_id,
        subnets=[subnet.subnet_id for subnet in placement.subnets],
        security_group_ids=[placement.security_group.security_group_id],
    )
