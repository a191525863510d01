"""A rehearsal that stays up: its shell, and what can be made to fail in it."""

from __future__ import annotations

import json
import shlex
import sys
import urllib.request
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from urllib.error import URLError

from hyperpod_cdk.schema.limits import nearest
from hyperpod_cli.aws.cdk_package import node_modules
from hyperpod_cli.aws.session import answer_of
from hyperpod_cli.terminal.errors import OpsError
from hyperpod_cli.terminal.options import command_line
from hyperpod_emulator.signals import wait_for_interrupt
from hyperpod_rehearsal.deployer import key_of, let_into
from hyperpod_rehearsal.stage import Stage
from hyperpod_rehearsal.stand_in_chart import STAND_IN
from hyperpod_stacks.packaged_chart import STAND_IN_VARIABLE

FAULTS_VARIABLE = "REHEARSAL_HYPERPOD_API"
"""Where the HyperPod API of a rehearsal that is kept listens, in its shell; a secret."""
NONE = "none"
DEEP_HEALTH_CHECK = "deep-health-check-fails"
FAULTS: Mapping[str, str] = {
    "capacity-shortage": "capacity_shortage",
    "lifecycle-script-fails": "lifecycle_script_failure",
    DEEP_HEALTH_CHECK: "deep_health_check_failure",
}
"""The faults, and the attribute of `hyperpod_emulator.hyperpod.Faults` with the groups of each."""
_SECONDS = 60


def cause(
    name: str,
    *,
    group: str,
    groups: Collection[str],
    checked: Collection[str],
    api: str | None,
) -> str:
    """Let something of `FAULTS` fail in a group from now on, and nothing else; `none` ends it.

    What holds then is returned.

    `checked` are the groups with deep health checks. Without the address of the HyperPod API, this
    is not the shell of a kept rehearsal.

    Raises:
        OpsError: There is no such fault or group, the fault cannot happen to it, or no rehearsal
            is kept.
    """
    known = (*FAULTS, NONE)
    if name not in known:
        close = nearest(name, known=known)
        raise OpsError(f"NAME: {name!r} is not a fault{close} (faults: {', '.join(known)})")
    if name != NONE and not group:
        raise OpsError(f"--group: is missing; name the instance group whose nodes fail: {name}")
    if name != NONE and group not in groups:
        close = nearest(group, known=groups)
        raise OpsError(
            f"--group: {group!r} is not a group of the configuration{close} (groups: "
            f"{', '.join(groups)})"
        )
    if name == DEEP_HEALTH_CHECK and group not in checked:
        raise OpsError(
            f"--group: {group!r} has no deep_health_checks that could fail (groups with them: "
            f"{', '.join(checked) or 'none'})"
        )
    if api is None:
        raise OpsError(
            f"{FAULTS_VARIABLE}: is not set; start `hyperpod-cdk rehearse --keep`, and source the "
            "file that it names in this shell"
        )
    body = json.dumps({} if name == NONE else {FAULTS[name]: [group]}).encode()
    # The address is the rehearsal's own, on the loopback interface.
    request = urllib.request.Request(f"{api}/faults", data=body, method="PUT")  # noqa: S310
    try:
        with urllib.request.urlopen(request, timeout=_SECONDS):  # noqa: S310
            pass
    except URLError as error:
        raise OpsError(
            f"{FAULTS_VARIABLE}: nothing listens there ({error.reason}); the rehearsal has ended"
        ) from error
    if name == NONE:
        return "The fault is cleared."
    return f"{name}: group {group}, until `hyperpod-cdk rehearse fault {NONE}`"


_OPERATOR = "operator"
_ADMINISTRATOR = "arn:aws:iam::aws:policy/AdministratorAccess"
# They would have the AWS CLI and the SDKs look elsewhere.
_UNSET = ("AWS_PROFILE", "AWS_DEFAULT_PROFILE", "AWS_SESSION_TOKEN")
_PRIVATE = 0o600


def keep(stage: Stage) -> None:
    """Say how to use the deployment of a stage, and return when interrupted."""
    show = stage.progress.show
    kubernetes = stage.config.control_plane is not None
    clients = ", the AWS CLI, kubectl and helm" if kubernetes else " and the AWS CLI"
    status = command_line("status", stage.config_path)
    try:
        with shell_of(stage) as file:
            show(
                "\nEverything is up. In another terminal, in this folder:\n"
                f"  source {shlex.quote(_shown(file))}\n"
                f"Then every command but `image build`{clients} work on it, as "
                f"the IAM user {_OPERATOR}:\n"
                f"  {command_line('diff', stage.config_path)}\n"
                f"  {'kubectl get nodes' if kubernetes else status}\n"
                f"{_fault(stage)}"
                f"{'The docs have a tour (walk-through). ' if kubernetes else ''}"
                "Press Ctrl-C here to take everything down.\n"
            )
            wait_for_interrupt()
    except KeyboardInterrupt:
        show()


def _fault(stage: Stage) -> str:
    """Return the line that lets something fail; HyperPod's groups can."""
    for group in reversed(stage.config.cluster.all_groups):
        command = "rehearse fault capacity-shortage"
        return f"  {command_line(command, stage.config_path, '--group', group.name)}\n"
    return ""


@contextmanager
def shell_of(stage: Stage) -> Iterator[Path]:
    """Write what a shell needs to work on the deployment; yield the file, which goes at the end."""
    file = stage.work_directory / "shell.sh"
    file.touch(mode=_PRIVATE)
    commands = (Path(sys.executable).parent, node_modules().absolute() / ".bin")
    folders = ":".join(map(str, (stage.tools.binaries.kubectl.parent, *commands)))
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
    Nobody can be by an access entry before its authentication mode takes these.
    """
    clients, cluster = stage.environment.clients, stage.config.eks_cluster_name
    key = key_of(_OPERATOR, clients=clients)
    clients("iam").attach_user_policy(UserName=_OPERATOR, PolicyArn=_ADMINISTRATOR)
    described = answer_of(clients("eks").describe_cluster, name=cluster)
    if described and described["cluster"]["accessConfig"]["authenticationMode"] != "CONFIG_MAP":
        let_into(
            cluster,
            clients=clients,
            user=_OPERATOR,
            account=stage.environment.aws.account,
            policy="AmazonEKSClusterAdminPolicy",
        )
    return key


def _variables(stage: Stage) -> Mapping[str, str]:
    return {
        **stage.environment.aws.environment(),
        **operator_credentials(stage),
        "KUBECONFIG": str(stage.tools.kubeconfig),
        FAULTS_VARIABLE: stage.environment.hyperpod_url,
        **({STAND_IN_VARIABLE: str(STAND_IN)} if stage.chart.path == STAND_IN else {}),
    }


def _shown(file: Path) -> str:
    """Return a path as it is written in this folder."""
    return str(file.relative_to(Path.cwd()) if file.is_relative_to(Path.cwd()) else file)
