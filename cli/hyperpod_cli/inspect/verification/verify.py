"""All that must hold of a deployment."""

from collections.abc import Callable, Iterator, Mapping

from botocore.exceptions import BotoCoreError, ClientError

from hyperpod_cli.aws.kubernetes_api import told_in_a_line
from hyperpod_cli.inspect.verification.access import access_entries, authentication
from hyperpod_cli.inspect.verification.addon_pods import addon_pods
from hyperpod_cli.inspect.verification.addons import addons
from hyperpod_cli.inspect.verification.check import Check, Deployment
from hyperpod_cli.inspect.verification.cluster import cluster
from hyperpod_cli.inspect.verification.components import components
from hyperpod_cli.inspect.verification.definitions import definitions
from hyperpod_cli.inspect.verification.devices import devices
from hyperpod_cli.inspect.verification.encryption import encryption
from hyperpod_cli.inspect.verification.health import health
from hyperpod_cli.inspect.verification.priorities import priorities
from hyperpod_cli.inspect.verification.readiness import readiness
from hyperpod_cli.inspect.verification.release import release
from hyperpod_cli.inspect.verification.routes import gateways, routes
from hyperpod_cli.inspect.verification.scripts import scripts
from hyperpod_cli.inspect.verification.security_groups import security_groups
from hyperpod_cli.inspect.verification.storage import storage
from hyperpod_cli.terminal.errors import OpsError, PassingError
from hyperpod_cli.terminal.explained import explanation
from hyperpod_shared.aws_errors import is_transient

Subject = Callable[[Deployment], Iterator[Check]]

SUBJECTS: Mapping[str, Subject] = {
    "components": components,
    "definitions": definitions,
    "priorities": priorities,
    "release": release,
    "health": health,
    "readiness": readiness,
    "devices": devices,
    "cluster": cluster,
    "scripts": scripts,
    "gateways": gateways,
    "routes": routes,
    "security groups": security_groups,
    "authentication": authentication,
    "access entries": access_entries,
    "addons": addons,
    "add-ons' pods": addon_pods,
    "storage": storage,
    "encryption": encryption,
}
"""Each subject by name, in the order in which they are checked."""


def verify(
    deployment: Deployment, *, subjects: Mapping[str, Subject] = SUBJECTS
) -> Iterator[Check]:
    """Yield each check as it is done, and in the end what could not be looked at, and why.

    Args:
        deployment: What to look at.
        subjects: What to check of it, by name.
    """
    unknown: dict[tuple[str, bool], list[str]] = {}
    for name, subject in subjects.items():
        try:
            with told_in_a_line(deployment.kubernetes):
                yield from subject(deployment)
        except (BotoCoreError, ClientError, OpsError) as error:
            why = explanation(error)
            unknown.setdefault((why, is_passing(error)), []).append(name)
    # One for all subjects with the same trouble: without Kubernetes, that is half of them.
    for (why, may_pass), names in unknown.items():
        yield not_looked_at(", ".join(names), why=why, may_pass=may_pass)


def is_passing(error: Exception) -> bool:
    """Say whether what could not be looked at may be a minute later.

    Args:
        error: What was raised.
    """
    return isinstance(error, PassingError) or is_transient(error)


def not_looked_at(check: str, *, why: str, may_pass: bool = False) -> Check:
    """Return a check that could not be made.

    Args:
        check: What was to be looked at.
        why: The reason and, behind a semicolon, what to do.
        may_pass: Whether it may be made a minute later. Default: it may not.
    """
    reason, _, advice = why.partition("; ")
    return Check(
        check=check,
        ok=False,
        found=reason,
        advice=advice[:1].upper() + advice[1:],
        is_known=False,
        may_pass=may_pass,
    )
