"""`hyperpod-cdk addon-versions`."""

import typer

from hyperpod_cli.commands import command
from hyperpod_cli.terminal.options import DEFAULT_CONFIG, ConfigFile

_NONE = "-"
_COLUMNS = ("add-on", "pinned", "EKS's default", "newest")


@command(calls=["eks:DescribeAddonVersions"])
def addon_versions(*, config: ConfigFile = DEFAULT_CONFIG) -> int:
    """Show newer versions of the EKS add-ons.

    Exit code: 1 if EKS does not offer a pinned version.
    """
    import boto3
    from botocore.exceptions import BotoCoreError, ClientError

    from hyperpod_cdk import load_config
    from hyperpod_cli.aws.account import region_of
    from hyperpod_cli.inspect.preflight.validators.eks.kubernetes_version import offered_addons
    from hyperpod_cli.operate.orchestrators import refuse_kubernetes
    from hyperpod_cli.terminal.errors import FAILED, OpsError

    loaded = load_config(config)
    if loaded.control_plane is None:
        refuse_kubernetes(loaded.cluster.name, "addon-versions")
    session = boto3.Session()
    eks = session.client("eks", region_name=region_of(loaded, session=session))
    try:
        found = list(offered_addons(eks, kubernetes_version=loaded.eks.version))
    except (BotoCoreError, ClientError) as error:
        raise OpsError(
            f"Could not ask EKS for the versions of its add-ons: {error}. Give credentials that "
            "allow eks:DescribeAddonVersions."
        ) from None
    typer.echo(f"Kubernetes {loaded.eks.version} ({config})")
    rows = [(_COLUMNS, "")]
    for each in found:
        newest = each.offered[0] if each.offered else _NONE
        versions = (each.addon_name, each.pinned or _NONE, each.default or _NONE, newest)
        rows.append((versions, each.remark))
    for columns, remark in rows:
        typer.echo(("  " + "".join(f"{column:24}" for column in columns) + remark).rstrip())
    return 0 if all(each.is_offered for each in found) else FAILED
