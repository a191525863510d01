"""What `deploy`, `preflight` and `verify` read, and of which resources."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from aws_reference.action_resources import VARIABLE, forms, ids_of
from hyperpod_cdk.hyperpod.section import MANAGED_POLICY
from hyperpod_cdk.observability.section import METRICS_ADDON
from hyperpod_cli.aws.assembly import Value
from hyperpod_cli.inspect.permissions.names import Names, pattern, strings
from hyperpod_cli.inspect.permissions.needs import KEY_ID, Need
from hyperpod_cli.inspect.preflight.run import VALIDATORS
from hyperpod_cli.inspect.preflight.validator import Phase
from hyperpod_cli.inspect.preflight.validators.bootstrap import BOOTSTRAP_VERSION
from hyperpod_cli.inspect.registered import Registered
from hyperpod_cli.inspect.verification.verify import SUBJECTS

# What `deploy` and `destroy` follow.
_FOLLOWS = ("cloudformation:DescribeStackEvents", "cloudformation:DescribeStackResources")
# What the templates must make, if actions are not for every deployment.
_ONLY_WITH: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "ec2:DescribeVpcEndpointServices": ("AWS::EC2::VPCEndpoint", {"VpcEndpointType": "Interface"}),
    "eks:*": ("AWS::EKS::", {}),
    "eks:DescribeNodegroup": ("AWS::EKS::Nodegroup", {}),
    "fsx:*": ("Custom::FileSystemAvailability", {}),
    "grafana:*": ("AWS::EKS::Addon", {"AddonName": METRICS_ADDON}),
    "kms:*": ("AWS::KMS::Alias", {}),
    "logs:*": ("AWS::Logs::LogGroup", {}),
    "rds:*": ("AWS::RDS::DBInstance", {}),
    "sagemaker:*ClusterSchedulerConfig*": ("Custom::TaskGovernance", {}),
    "sagemaker:*ComputeQuota*": ("Custom::TaskGovernance", {}),
    "sns:*": ("AWS::SNS::Subscription", {}),
    "sso:*": ("AWS::Grafana::Workspace", {}),
}


def read_actions() -> Mapping[str, set[bool]]:
    """Return the actions, and whether each is on the deployment's own, on existing, or on both."""
    actions = defaultdict[str, set[bool]](set, {action: {False} for action in _FOLLOWS})
    registered: list[Registered[Any, Any]] = [*VALIDATORS.values(), *SUBJECTS.values()]
    for entry in registered:
        for action in entry.iam:
            actions[action].add(entry.phase is Phase.EXISTING_RESOURCES)
    return actions


def read_permissions(names: Names) -> Iterator[Need]:
    """Yield what is read, action by action.

    Validators of existing resources read what the templates name and do not make; all else, what
    they make. The kinds of resources are those of the Service Authorization Reference.
    """
    read = _Read(names=names)
    for action, places in read_actions().items():
        arns = {arn for existing in places for arn in read.resources(action, existing=existing)}
        if arns:
            yield Need(action=action, resources=tuple(sorted(arns)))


@dataclass(frozen=True, kw_only=True, slots=True)
class _Read:
    """The resources that are read, as patterns of their ARNs; none if the templates have none."""

    names: Names

    def resources(self, action: str, *, existing: bool) -> Iterator[str]:
        """Yield what an action is on: `*` if AWS does not limit it to a kind of resources."""
        kinds, service = forms(action), action.partition(":")[0]
        for kind, form in kinds.items():
            if existing:
                yield from self._existing(kind, form=form, service=service)
            elif self._is_for(action):
                yield from self._of_deployment(form)
        if not kinds and self._is_for(action):
            # CloudWatch Logs limits it to an account and a region, though the reference does not.
            everything = self.names.environment.arn("logs", "log-group:*")
            yield everything if service == "logs" else "*"

    def _is_for(self, action: str) -> bool:
        return all(
            any(
                made.type.startswith(type_) and properties.items() <= made.properties.items()
                for made in self.names.resources
            )
            for actions, (type_, properties) in _ONLY_WITH.items()
            if fnmatchcase(action, actions)
        )

    def _of_deployment(self, form: str) -> Iterable[str]:
        """Return the ARNs of a form that the deployment's resources have."""
        return self.names.arns(
            form,
            # Nobody can have a name that CloudFormation makes.
            BucketName=self._given("AWS::S3::Bucket"),
            RoleNameWithPath=self._given("AWS::IAM::Role"),
            GroupName=tuple(ids_of("group", self._texts())),
            ParameterNameWithoutLeadingSlash=(BOOTSTRAP_VERSION.removeprefix("/"),),
        )

    def _given(self, type_: str) -> tuple[str, ...]:
        """Return the names that the templates give to the resources of a type."""
        return tuple(name for name in self.names.of_type(type_) if "*" not in name)

    def _existing(self, kind: str, *, form: str, service: str) -> Iterator[str]:
        """Yield the ARNs of a form that the templates name, and are of no resource of theirs."""
        match kind:
            case "bucket" | "object":
                yield from self.names.arns(form, BucketName=tuple(self._buckets()))
            case "policy" if any(self._node_roles()):  # With which these roles are compared.
                yield self.names.environment.iam_arn(f"policy/{MANAGED_POLICY}", account="aws")
            case "repository" if self.names.have("AWS::ECR::Repository"):
                # Base images are of AWS's account in the region, or of a copy.
                yield from self.names.arns(form, Account=("*",), RepositoryName=("*",))
            case "role":
                yield from (*self._named(form), *self._node_roles())
            case "key":
                ids = tuple(filter(KEY_ID.fullmatch, self._texts()))
                yield from (*self._named(form), *self.names.arns(form, KeyId=ids))
            case _ if not self.names.of_kind(kind, service=service):
                yield from self._named(form)

    def _named(self, form: str) -> Iterator[str]:
        known = VARIABLE.sub("*", form)
        return (text for text in self._texts() if fnmatchcase(text, known))

    def _texts(self) -> Iterator[str]:
        """Yield the texts of the templates that are whole."""
        for resource in self.names.resources:
            texts = strings(resource.properties, self.names.environment)
            yield from (text for text in texts if "*" not in text)

    def _buckets(self) -> Iterator[str]:
        """Yield the buckets of lifecycle scripts that no template makes."""
        for scripts in self.names.made("Custom::LifecycleScripts"):
            name = pattern(scripts.properties["DestinationBucket"], self.names.environment)
            if "*" not in name:
                yield name

    def _node_roles(self) -> Iterator[str]:
        """Yield the roles that nodes run as and no template makes."""
        passed = {"StringEquals": {"iam:PassedToService": "sagemaker.amazonaws.com"}}
        for policy in self.names.made("AWS::IAM::Policy"):
            for statement in policy.properties["PolicyDocument"]["Statement"]:
                if statement.get("Condition") == passed:
                    yield from self._roles(statement["Resource"])
        for cluster in self.names.made("AWS::SageMaker::Cluster"):
            for kind in ("InstanceGroups", "RestrictedInstanceGroups"):
                for group in cluster.properties.get(kind, ()):
                    yield from self._roles(group["ExecutionRole"])

    def _roles(self, value: Value) -> Iterator[str]:
        texts = [value] if isinstance(value, str) else strings(value, self.names.environment)
        yield from (arn for arn in texts if ":role/" in arn and "*" not in arn)
