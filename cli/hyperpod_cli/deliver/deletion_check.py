"""Says what users would lose by the deletion of the HyperPod stack, before CloudFormation begins.

`destroy` asks it with the rights of its caller. It looks as the stack's own check does.
That one comes too late for a stack that is to stay: once it has refused, CloudFormation takes no
update any more. So this one also refuses where it cannot look, unless it is told to go on.
"""

import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hyperpod_cdk import Config, load_config
from hyperpod_cdk.hyperpod.cluster_template import cluster_of
from hyperpod_cdk.synthesis.assets import asset_directory
from hyperpod_cli.aws.session import answer_of
from hyperpod_cli.aws.stacks import UnreadableTemplateError, deployed, described_stack
from hyperpod_cli.helm.layer_binaries import local_binary
from hyperpod_cli.inspect.preflight.validators.eks.failed_creation import lift_command
from hyperpod_cli.stack_progress.terminal import FAILED_CREATIONS
from hyperpod_cli.terminal.errors import LinesError, OpsError
from hyperpod_cli.terminal.options import command_line
from hyperpod_stacks.table import NODES, STACKS, release_stack, stack_name

# The function's own check, which no installation puts on the path.
sys.path.append(str(asset_directory("lambda")))

from hyperpod_shared.aws_errors import AWS_ERRORS
from hyperpod_shared.cluster_changes import orchestrator_of
from hyperpod_shared.errors import ProvisioningError, one_line
from hyperpod_shared.owner import Owner
from provisioner.aws.api import Clients
from provisioner.deletion_check import DeletionCheckProperties, UnknownLossError, refuse_losses
from provisioner.framework.retry import Clock
from provisioner.kubernetes.cluster import EksConnection
from provisioner.kubernetes.manifest import ReleaseId

READ_SECONDS = 20.0
"""How long one command may take: a private endpoint does not answer from outside its network."""


def refuse_deletion(path: Path, *, everything: bool, unchecked: bool) -> None:
    """Refuse a deletion by which users would lose something, or which a protection forbids.

    `unchecked` goes on where it cannot be looked, and says so.
    """
    try:
        config = load_config(path)
        if everything:
            refuse_protected(config, path=path)
        with _without_log():
            check(config)
    except UnknownLossError as error:
        _unknown(error.cause, unchecked=unchecked)
    except AWS_ERRORS as error:
        _unknown(str(error), unchecked=unchecked)
    except ProvisioningError as error:
        raise LinesError(str(error)) from None


def check(config: Config) -> None:
    """Refuse the deletion of a configuration's nodes by which users would lose something.

    Without Kubernetes nothing is asked: who deletes is told that jobs end. UnknownLossError says
    that the Kubernetes API could not be asked.
    """
    clients = Clients(region=config.region or os.environ.get("AWS_REGION"))
    if config.control_plane is None:
        _refuse_kubernetes(clients, config)
        return
    # Without the stack of the releases, there may be other nodes, on which jobs run; those that the
    # configuration has no more are deleted, too.
    names = dict.fromkeys([release_stack(config), *(stack_name(config, kind) for kind in NODES)])
    stack = next(
        filter(None, (described_stack(clients.cloudformation, name) for name in names)), None
    )
    if stack is None:
        return
    refuse_losses(
        DeletionCheckProperties(
            cluster_name=config.eks_cluster_name,
            releases=(ReleaseId(name=config.helm.release, namespace=config.helm.namespace),),
            delete_user_objects=config.helm.delete_user_objects,
        ),
        owner=Owner(stack_id=stack["StackId"], logical_id="DeletionCheck"),
        connection=EksConnection(
            eks=clients.eks, token_signer=clients.token_signer, binary=_binary
        ),
        # No time to try again: the stack's own check does.
        clock=Clock(remaining=lambda: 0.0),
        read_seconds=READ_SECONDS,
        patience_seconds=0.0,
    )


def _refuse_kubernetes(clients: Clients, config: Config) -> None:
    """Refuse to delete an EKS cluster's nodes by a file that has become one without Kubernetes."""
    try:
        stack = deployed(clients.cloudformation, stack_name(config, "hyperpod"))
    except UnreadableTemplateError:
        return  # This project has not made it.
    cluster = None if stack is None else cluster_of(stack.template)
    if cluster is not None and "Eks" in orchestrator_of(cluster.request):
        raise ProvisioningError(
            f"cluster.orchestrator: {config.cluster.orchestrator!r}: the deployed cluster is on "
            "EKS, where what users would lose is looked for",
            next_step="Run it with the configuration that is deployed.",
        )


def refuse_protected(config: Config, *, path: Path) -> None:
    """Refuse to delete all stacks of a configuration while a part of them is protected.

    A stack whose creation failed is not: it holds nothing. OpsError says what is protected;
    ProvisioningError, that a rollback has left a protected EKS cluster.
    """
    clients = Clients(region=config.region or os.environ.get("AWS_REGION"))
    problems, changes, protected = [], [], []
    # What depends on the platform goes first; a stack that the configuration dropped counts, too.
    for kind in reversed([*STACKS]):
        name, protection = stack_name(config, kind), STACKS[kind].protection
        if protection is not None and _is_protected(clients, name):
            problems.append(f"{name}: {protection.says}")
            changes.append(protection.lifted_by(config))
            protected.append(name)
    # A cluster that exists is not deleted, whatever protects it.
    platform = stack_name(config, "platform")
    if config.makes_control_plane and _has_deletion_protection(clients, config.eks_cluster_name):
        left_by = described_stack(clients.cloudformation, platform)
        if left_by is not None and left_by["StackStatus"] in FAILED_CREATIONS:
            region = left_by["StackId"].split(":")[3]
            command = lift_command(config.eks_cluster_name, region=region)
            raise ProvisioningError(
                f"{config.eks_cluster_name}: EKS refuses to delete the cluster, which the rollback "
                f"of {platform} left",
                next_step=f"Run: {command} && {command_line('destroy --all', path)}",
            )
        problems.append(f"{config.eks_cluster_name}: EKS refuses to delete the cluster")
        changes.append("eks.deletion_protection to false")
        protected.append(platform)
    if problems:
        # No more than these: a deployment of all stacks would buy nodes again that are destroyed.
        only = " ".join(dict.fromkeys(protected))
        # In full: a ProvisioningError is as short as CloudFormation wants it.
        raise OpsError(
            f"{'; '.join(problems)}. To delete them permanently, set {', '.join(changes)}, then "
            f"run: {command_line('deploy', path, '--only', only)} && "
            f"{command_line('destroy --all', path)}. "
            f"To delete the nodes alone: {command_line('destroy', path)}",
        )


def _is_protected(clients: Clients, name: str) -> bool:
    stack = described_stack(clients.cloudformation, name)
    if stack is None or stack["StackStatus"] in FAILED_CREATIONS:
        return False
    return bool(stack.get("EnableTerminationProtection", False))


def _has_deletion_protection(clients: Clients, name: str) -> bool:
    answer = answer_of(clients.eks.describe_cluster, name=name)
    return answer is not None and bool(answer["cluster"].get("deletionProtection", False))


@contextmanager
def _without_log() -> Iterator[None]:
    """Keep the function's log, which is for CloudWatch, off the terminal."""
    logger = logging.getLogger("provisioner")
    logger.disabled = True
    try:
        yield
    finally:
        logger.disabled = False


def _binary(name: str) -> Path:
    try:
        return local_binary(name)
    except FileNotFoundError as error:
        raise ProvisioningError(str(error), next_step=f"Install {name}.") from None


def _unknown(cause: str, *, unchecked: bool) -> None:
    next_step = (
        "The stack's own check looks before CloudFormation deletes anything."
        if unchecked
        else "Get access to the cluster (eks.admins, or the platform stack's output "
        "GrantAdminCommand), or run it with --unchecked: the stack's own check looks then, and if "
        "it refuses, the stack can only be deleted, not updated."
    )
    text = f"Could not find out what users would lose: {one_line(cause).rstrip('.')}. {next_step}"
    if not unchecked:
        raise OpsError(text)
    print(text, file=sys.stderr)
