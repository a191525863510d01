"""A rehearsal that stays up: the shell in which every command works on it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from emulator.signals import wait_for_interrupt
from hyperpod_stacks.packaged_chart import STAND_IN_VARIABLE
from rehearsal.chart_choice import STAND_IN
from rehearsal.faults import FAULTS_VARIABLE
from rehearsal.stage import Stage

_OPERATOR = "operator"
_ADMINISTRATOR = "arn:aws:iam::aws:policy/AdministratorAccess"
_CLUSTER_ADMIN = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy"
# They would have the AWS CLI and the SDKs look elsewhere.
_UNSET = ("AWS_PROFILE", "AWS_DEFAULT_PROFILE", "AWS_SESSION_TOKEN")
_PRIVATE = 0o600
_REPOSITORY = Path(__file__).resolve().parent.parent
_COMMANDS = (_REPOSITORY / ".venv" / "bin", _REPOSITORY / "node_modules" / ".bin")


def keep(stage: Stage) -> None:
    """Say how to use the deployment of a stage, and return when interrupted."""
    show = stage.progress.show
    try:
        with shell_of(stage) as file:
            show(
                "\nEverything is up. In another terminal, in this folder:\n"
                f"  source {shlex.quote(_shown(file))}\n"
                "Then every make target, the AWS CLI, kubectl and helm work on it, as the IAM user "
                f"{_OPERATOR}:\n"
                "  make diff\n"
                "  kubectl get nodes\n"
                "  make rehearse-fault FAULT=capacity-shortage GROUP="
                f"{stage.config.cluster.all_groups[0].name}\n"
                "docs/walk-through.md is a tour. Press Ctrl-C here to take everything down.\n"
            )
            wait_for_interrupt()
    except KeyboardInterrupt:
        show()


@contextmanager
def shell_of(stage: Stage) -> Iterator[Path]:
    """Write what a shell needs to work on the deployment; yield the file, which goes at the end."""
    file = stage.work_directory / "shell.sh"
    file.touch(mode=_PRIVATE)
    folders = ":".join(map(str, (stage.tools.binaries.kubectl.parent, *_COMMANDS)))
    lines = [
        f"unset {' '.join(_UNSET)}",
        *(f"export {name}={shlex.quote(value)}" for name, value in _variables(stage).items()),
        f"export PATH={shlex.quote(folders)}:$PATH",
    ]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    try:
        yield file
    finally:
        file.unlink(missing_ok=True)


def operator_credentials(stage: Stage) -> Mapping[str, str]:
    """Return the credentials of an administrator of the account and of the EKS cluster.

    The root user, whose credentials the local AWS starts with, cannot be let into an EKS cluster.
    """
    clients = stage.environment.clients
    iam, eks = clients("iam"), clients("eks")
    with suppress(iam.exceptions.EntityAlreadyExistsException):
        iam.create_user(UserName=_OPERATOR)
    iam.attach_user_policy(UserName=_OPERATOR, PolicyArn=_ADMINISTRATOR)
    key = iam.create_access_key(UserName=_OPERATOR)["AccessKey"]
    cluster = stage.config.eks_cluster_name
    if cluster in eks.list_clusters()["clusters"]:
        arn = f"arn:aws:iam::{stage.environment.aws.account}:user/{_OPERATOR}"
        entry = {"clusterName": cluster, "principalArn": arn}
        with suppress(eks.exceptions.ResourceInUseException):
            eks.create_access_entry(**entry)
        eks.associate_access_policy(
            **entry, policyArn=_CLUSTER_ADMIN, accessScope={"type": "cluster"}
        )
    return {
        "AWS_ACCESS_KEY_ID": key["AccessKeyId"],
        "AWS_SECRET_ACCESS_KEY": key["SecretAccessKey"],
    }


def _variables(stage: Stage) -> Mapping[str, str]:
    return {
        **stage.environment.aws.environment(),
        **operator_credentials(stage),
        "CONFIG": str(stage.config_path),
        "KUBECONFIG": str(stage.tools.kubeconfig),
        FAULTS_VARIABLE: stage.environment.hyperpod_url,
        **({STAND_IN_VARIABLE: str(STAND_IN)} if stage.chart.path == STAND_IN else {}),
    }


def _shown(file: Path) -> str:
    """Return a path as somebody in this folder writes it."""
    return str(file.relative_to(Path.cwd()) if file.is_relative_to(Path.cwd()) else file)
