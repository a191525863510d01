"""Roles that pods have by IAM roles for service accounts (IRSA).

They are for add-ons that annotate their service accounts with a role; pods of others get one by EKS
Pod Identity (`PodRole`), which needs no provider of the account.
https://docs.aws.amazon.com/eks/latest/userguide/iam-roles-for-service-accounts.html
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from aws_cdk import Aws, Fn
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_iam as iam
from constructs import Construct

from hyperpod_cdk.synthesis.trust import mark_own

_PROVIDER = "oidc-provider/"


@dataclass(frozen=True, kw_only=True, slots=True)
class TokenIssuer:
    """Who signs the tokens of an EKS cluster's service accounts, as IAM knows it.

    Attributes:
        provider_arn: ARN of the IAM OIDC provider.
        name: URL of the issuer without its scheme, with which the keys of conditions begin.
    """

    provider_arn: str
    name: str


def token_issuer_of(
    scope: Construct,
    construct_id: str,
    *,
    cluster: eks.ICluster,
    oidc_provider_arn: str | None = None,
) -> TokenIssuer:
    """Return the issuer of a cluster; IAM gets to know that of one which is made.

    A cluster that exists needs `oidc_provider_arn`: IAM takes one provider for each issuer.
    """
    if oidc_provider_arn is not None:
        return TokenIssuer(
            provider_arn=oidc_provider_arn, name=oidc_provider_arn.partition(_PROVIDER)[2]
        )
    assert isinstance(cluster, eks.Cluster)  # noqa: S101 - a rule wants the ARN for another one
    url = cluster.cluster_open_id_connect_issuer_url
    provider = eks.OidcProviderNative(scope, construct_id, url=url)
    mark_own(provider)
    return TokenIssuer(
        provider_arn=provider.oidc_provider_arn, name=Fn.select(1, Fn.split("//", url))
    )


class ServiceAccountRole(Construct):
    """A role of the pods of one service account of one EKS cluster, and of AWS services if named.

    Attributes:
        role: The role.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        issuer: TokenIssuer,
        namespace: str,
        service_account: str,
        description: str,
        services: Sequence[str] = (),
    ) -> None:
        super().__init__(scope, construct_id)
        self.role = iam.Role(
            self,
            "Role",
            description=description,
            assumed_by=iam.WebIdentityPrincipal(issuer.provider_arn),
        )
        resource = self.role.node.default_child
        assert isinstance(resource, iam.CfnRole)  # noqa: S101 - what the L2 makes
        statements = [
            {
                "Effect": "Allow",
                "Principal": {"Federated": "${Provider}"},
                "Action": "sts:AssumeRoleWithWebIdentity",
                "Condition": {
                    "StringEquals": {
                        "${Issuer}:aud": "sts.amazonaws.com",
                        "${Issuer}:sub": f"system:serviceaccount:{namespace}:{service_account}",
                    }
                },
            },
            *(
                {
                    "Effect": "Allow",
                    "Principal": {"Service": each},
                    "Action": "sts:AssumeRole",
                    "Condition": {"StringEqualsIfExists": {"aws:SourceAccount": "${Account}"}},
                }
                for each in services
            ),
        ]
        # A key of a template is no token, and the issuer of a cluster that is made is one. The type
        # takes the policy as a text, too.
        resource.assume_role_policy_document = Fn.sub(
            json.dumps({"Version": "2012-10-17", "Statement": statements}),
            {
                "Provider": issuer.provider_arn,
                "Issuer": issuer.name,
                **({"Account": Aws.ACCOUNT_ID} if services else {}),
            },
        )
