"""Says in one line whether the account and region of a deployment can be deployed to.

`make deploy`, `make bootstrap` and others run it first: the CDK CLI reports missing credentials
only after the synthesis, and a missing bootstrap only after it has read every asset.
"""

import argparse
import os
import sys
from dataclasses import dataclass
from pathlib import Path

import boto3
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectionError,
    HTTPClientError,
    NoCredentialsError,
    ProfileNotFound,
)

from hyperpod_cdk import Config, ConfigError, load_config
from hyperpod_cdk.schema.yaml_file import read_yaml
from scripts.kubernetes_version import kubernetes_version_findings

BOOTSTRAP_VERSION = "/cdk-bootstrap/hnb659fds/version"
"""The parameter of a bootstrap stack with CDK's default qualifier:
https://docs.aws.amazon.com/cdk/v2/guide/bootstrapping-customizing.html"""
_REFUSED = 2


class AccountError(Exception):
    """Nothing can be deployed with these credentials; one line that says what to do."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Environment:
    """An account and a region.

    Attributes:
        account: Twelve digits.
        region: Such as us-west-2.
        caller: ARN of whoever the credentials are for.
    """

    account: str
    region: str
    caller: str


def region_of(config: Config, *, session: boto3.Session) -> str:
    """Return the region of a deployment, as the CDK CLI finds it; boto3 ignores AWS_REGION.

    Raises:
        AccountError: There is none.
    """
    region = config.region or os.environ.get("AWS_REGION") or session.region_name
    if region is None:
        raise AccountError(
            "region: is neither in the configuration nor in the environment; write it into the "
            "configuration, or set AWS_REGION"
        )
    return region


def environment(config: Config, *, session: boto3.Session) -> Environment:
    """Return where a configuration would be deployed, and by whom.

    Raises:
        AccountError: There are no credentials that AWS accepts, or no region.
    """
    region = region_of(config, session=session)
    try:
        caller = session.client("sts", region_name=region).get_caller_identity()
    except NoCredentialsError:
        raise AccountError(
            "AWS credentials: none found; set AWS_PROFILE, or sign in with `aws sso login` or "
            "`aws configure`"
        ) from None
    except (ConnectionError, HTTPClientError) as error:
        raise AccountError(f"AWS: {_one_line(error)}; check the network and the proxy") from None
    except (BotoCoreError, ClientError) as error:
        raise AccountError(f"AWS credentials: {_one_line(error)}; sign in again") from None
    return Environment(account=caller["Account"], region=region, caller=caller["Arn"])


def refuse_unless_bootstrapped(
    place: Environment, *, session: boto3.Session, config_path: Path
) -> None:
    """Refuse an account and region in which `cdk bootstrap` has never run.

    Whoever may not read the parameter passes: the CDK CLI reads it with a role of the bootstrap.

    Raises:
        AccountError: There is no bootstrap stack.
    """
    parameters = session.client("ssm", region_name=place.region)
    try:
        parameters.get_parameter(Name=BOOTSTRAP_VERSION)
    except ClientError as error:
        if error.response["Error"]["Code"] == "ParameterNotFound":
            raise AccountError(
                f"{place.account}/{place.region}: is not bootstrapped for CDK; run once: "
                f"make bootstrap CONFIG={config_path}"
            ) from None
        if "AccessDenied" not in error.response["Error"]["Code"]:
            raise AccountError(f"{place.account}/{place.region}: {_one_line(error)}") from None
    except BotoCoreError as error:
        raise AccountError(f"{place.account}/{place.region}: {_one_line(error)}") from None


def refuse_orphaned_storage(config: Config, *, place: Environment, session: boto3.Session) -> None:
    """Refuse `storage: null` while there is a storage stack, which would lose its CSI driver.

    Whoever may not see the stack passes.

    Raises:
        AccountError: There is one.
    """
    if config.storage is not None:
        return
    name = f"{config.name}-storage"
    try:
        session.client("cloudformation", region_name=place.region).describe_stacks(StackName=name)
    except ClientError:  # there is none, or it is not for the caller's eyes
        return
    raise AccountError(
        f"storage: null takes the FSx CSI driver from the stack {name}, which stays: pods could no "
        f"longer mount its file system; delete the stack first, or write its storage section again"
    )


def refuse_kubernetes_version(
    config: Config, *, place: Environment, session: boto3.Session, config_path: Path
) -> None:
    """Refuse a Kubernetes version, or add-ons, that EKS would refuse in the middle of a deployment.

    Raises:
        AccountError: EKS could not be asked.
        ConfigError: It would.
    """
    eks = session.client("eks", region_name=place.region)
    try:
        found = list(kubernetes_version_findings(config, eks=eks))
    except (BotoCoreError, ClientError) as error:
        raise AccountError(f"{place.account}/{place.region}: {_one_line(error)}") from None
    if found:
        read_yaml(config_path).refuse(found)


def main() -> int:
    """Run the command line; return 2 when nothing can be deployed."""
    parser = argparse.ArgumentParser(prog="python -m scripts.account", description=__doc__)
    parser.add_argument("--config", type=Path, default=Path("config/default.yaml"))
    parser.add_argument(
        "--for-bootstrap",
        action="store_true",
        help="print the environment as `cdk bootstrap` takes it, bootstrapped or not",
    )
    arguments = parser.parse_args()
    try:
        config = load_config(arguments.config)
        session = boto3.Session()
        place = environment(config, session=session)
        if arguments.for_bootstrap:
            print(f"aws://{place.account}/{place.region}")
            return 0
        # Zones and ARNs of another region, where the environment says which one it is.
        config = load_config(arguments.config, region=place.region)
        refuse_unless_bootstrapped(place, session=session, config_path=arguments.config)
        refuse_orphaned_storage(config, place=place, session=session)
        refuse_kubernetes_version(
            config, place=place, session=session, config_path=arguments.config
        )
    except ProfileNotFound as error:
        print(f"AWS_PROFILE: {error}; `aws configure list-profiles` lists them", file=sys.stderr)
        return _REFUSED
    except (AccountError, ConfigError) as error:
        print(error, file=sys.stderr)
        return _REFUSED
    print(f"Account {place.account}, region {place.region}, as {place.caller}")
    return 0


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())


if __name__ == "__main__":
    sys.exit(main())
