"""A build in a closed network reaches the Python packages that it installs."""

from urllib.parse import urlsplit

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.schema.errors import Findings, error

# https://docs.pypi.org/api/index-api/; files are on the second.
_PYPI = ("pypi.org", "files.pythonhosted.org")
_KEY = ("workloads", "package_index")


def package_index(config: Config) -> Findings:
    """Find a build in the VPC that cannot reach PyPI, or whose index does not resolve there.

    https://docs.aws.amazon.com/codebuild/latest/userguide/vpc-support.html
    """
    if config.workloads is None or not config.builds_in_network:
        return
    index = config.workloads.package_index
    if index is None and config.network.closed:
        message = (
            "must be set: a build in a closed network does not reach PyPI; name an index that the "
            "VPC reaches, or write build_in_network: false"
        )
        yield error(_KEY, index, message)
        return
    hosts = _PYPI if index is None else [urlsplit(index).hostname or ""]
    for host in hosts:
        if not config.network.resolves(host):
            message = f"must be of a domain in network.allowed_domains: add {host} there"
            yield error(_KEY, index, message)
