"""All that must hold of a deployment."""

from collections.abc import Callable, Iterator, Mapping
from http import HTTPStatus

from botocore.exceptions import ClientError
from kubernetes.client import ApiException

from hyperpod_ops.verification.access import access_entries, authentication
from hyperpod_ops.verification.addon_pods import addon_pods
from hyperpod_ops.verification.addons import addons
from hyperpod_ops.verification.check import Check, Deployment
from hyperpod_ops.verification.cluster import cluster
from hyperpod_ops.verification.components import components
from hyperpod_ops.verification.definitions import definitions
from hyperpod_ops.verification.devices import devices
from hyperpod_ops.verification.encryption import encryption
from hyperpod_ops.verification.health import health
from hyperpod_ops.verification.priorities import priorities
from hyperpod_ops.verification.readiness import readiness
from hyperpod_ops.verification.release import release
from hyperpod_ops.verification.routes import gateways, routes
from hyperpod_ops.verification.scripts import scripts
from hyperpod_ops.verification.security_groups import security_groups
from hyperpod_ops.verification.storage import storage
from provisioner.aws.errors import is_denied

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
    """Yield each check as it is done; one that is not permitted does not hold.

    Args:
        deployment: What to look at.
        subjects: What to check of it, by name.

    Raises:
        ClientError: AWS refused for another reason.
        BotoCoreError: AWS could not be asked.
        ApiException: The Kubernetes API refused for another reason.
        HTTPError: The Kubernetes API was not reached.
    """
    for name, subject in subjects.items():
        try:
            yield from subject(deployment)
        except ClientError as error:
            if not is_denied(error):
                raise
            yield _not_permitted(
                name,
                told=error.response["Error"].get("Message", str(error)),
                advice="Ask for that permission, or use another profile",
            )
        except ApiException as error:
            if error.status != HTTPStatus.FORBIDDEN:
                raise
            yield _not_permitted(
                name,
                told=f"Kubernetes API: {error.status} {error.reason}",
                advice="List your role under eks.admins and deploy, or run the command in the "
                "output GrantAdminCommand of the platform stack",
            )


def _not_permitted(name: str, *, told: str, advice: str) -> Check:
    return Check(check=name, ok=False, found=f"not permitted: {told}", advice=advice)
