"""Shows the pinned version of each EKS add-on beside EKS's default and its newest one."""

import sys

from botocore.exceptions import BotoCoreError, ClientError

from hyperpod_cdk import ConfigError, load_config
from hyperpod_cli.aws.account import AccountError, profile_session, region_of
from hyperpod_cli.inspect.preflight.validators.kubernetes_version import offered_addons
from hyperpod_cli.terminal.command_line import config_parser, exit_with, refused
from hyperpod_cli.terminal.errors import REFUSED

_NONE = "-"
_FAILED = 1


def main() -> int:
    """Run the command line; return 1 if EKS does not offer a pinned version, 2 for bad input."""
    parser = config_parser("hyperpod_cli.deliver.addon_versions", description=__doc__)
    arguments = parser.parse_args()
    try:
        config = load_config(arguments.config)
        session = profile_session()
        eks = session.client("eks", region_name=region_of(config, session=session))
        found = list(offered_addons(eks, kubernetes_version=config.eks.version))
    except (AccountError, ConfigError) as error:
        return refused(error)
    except (BotoCoreError, ClientError) as error:
        print(
            f"Could not ask EKS for the versions of its add-ons: {error}. Give credentials that "
            "allow eks:DescribeAddonVersions.",
            file=sys.stderr,
        )
        return REFUSED
    print(f"Kubernetes {config.eks.version} ({arguments.config})")
    columns = [("add-on", "pinned", "EKS's default", "newest", "")]
    columns += [
        (
            each.addon_name,
            each.pinned or _NONE,
            each.default or _NONE,
            each.offered[0] if each.offered else _NONE,
            each.remark,
        )
        for each in found
    ]
    for name, *versions, remark in columns:
        line = f"  {name:24}" + "".join(f"{version:24}" for version in versions) + remark
        print(line.rstrip())
    return 0 if all(each.is_offered for each in found) else _FAILED


if __name__ == "__main__":
    exit_with(main)
