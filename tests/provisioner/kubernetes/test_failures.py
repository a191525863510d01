"""What a failure of helm's leads to: whether it is tried again, and what the user is told."""

import pytest

from provisioner.kubernetes.failures import CommandFailedError

TOO_LONG = 'Secret "sh.helm.release.v1.deps.v1" is invalid: data: Too long: may not be more than'


@pytest.mark.parametrize(
    ("said", "next_step"),
    [
        (f"create: failed to create: {TOO_LONG} 1048576 bytes", "one Secret of at most 1 MiB"),
        ("rpc error: trying to send message larger than max", "one Secret of at most 1 MiB"),
        ("spec.selector: Invalid value: x: field is immutable", "delete the object, or go back"),
        ('admission webhook "x" denied the request: no', "A rule of the cluster forbids it"),
        ('pods "x" is forbidden: exceeded quota: small', "A rule of the cluster forbids it"),
        ('deployments.apps is forbidden: User "x" cannot', "entry with an access policy"),
        ('no matches for kind "PodMonitor" in version "x/v1"', "lacks a CustomResourceDefinition"),
        ("execution error at (c/templates/a.yaml:3:4): set region", "correct helm.values"),
        ("helm upgrade was killed by signal 9", "more memory"),
        ("dial tcp 10.0.0.1:443: i/o timeout", "Check that the cluster's endpoint"),
        ("namespace kubeflow because it is being terminated", "Wait until it is deleted"),
        (
            "pre-upgrade hooks failed: resource Job/a/b not ready. status: InProgress, message: "
            "Job in progress | context deadline exceeded",
            "A hook of the chart did not end",
        ),
        ("something new", "Fix the cause and deploy again"),
    ],
)
def test_next_step_fits_the_cause(said: str, next_step: str) -> None:
    assert next_step in CommandFailedError(f"Error: UPGRADE FAILED: {said}").next_step


@pytest.mark.parametrize(
    ("said", "passes"),
    [
        ("the server has asked for the client to provide credentials", True),
        ("Post https://x: EOF", True),
        ("another operation (install/upgrade/rollback) is in progress", True),
        ('secrets "sh.helm.release.v1.deps.v1" already exists', True),
        ('no matches for kind "Deployment" in version "apps/v1"', True),
        ('no matches for kind "Namespace" in version "v1"', True),
        ('no matches for kind "ClusterRole" in version "rbac.authorization.k8s.io/v1"', True),
        ('no matches for kind "PodMonitor" in version "monitoring.coreos.com/v1"', False),
        ('no matches for kind "PodSecurityPolicy" in version "policy/v1beta1"', False),
        ('configmaps "a" already exists', False),
        ("pre-install hooks failed: resource Job/a/b not ready | context deadline", False),
        ("pre-install hooks failed: Post https://x: connection refused", True),
        ("field is immutable", False),
    ],
)
def test_what_is_worth_another_attempt(said: str, passes: bool) -> None:
    assert CommandFailedError(f"Error: {said}").is_worth_retrying is passes
