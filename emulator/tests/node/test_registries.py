"""From which registries the nodes of a VPC pull."""

import pytest

from hyperpod_emulator.node.registries import Registries

ECR = "111122223333.dkr.ecr.us-west-2.amazonaws.com/a:1"
FAR_ECR = "111122223333.dkr.ecr.us-east-1.amazonaws.com/a:1"
AWS_ALONE = (("ALLOW", ("*.amazonaws.com", "registry.corp.example")), ("BLOCK", ("*",)))


@pytest.mark.parametrize(
    ("image", "leads_out", "rules", "why"),
    [
        ("nvcr.io/nvidia/a:1", True, (), ""),
        ("busybox", True, (), ""),
        ("nvcr.io/nvidia/a:1", True, AWS_ALONE, "lookup nvcr.io: no such host"),
        ("mpioperator/a:1", True, AWS_ALONE, "lookup registry-1.docker.io: no such host"),
        (FAR_ECR, True, AWS_ALONE, ""),
        (ECR, False, AWS_ALONE, ""),
        (FAR_ECR, False, AWS_ALONE, "i/o timeout"),
        ("nvcr.io/nvidia/a:1", False, (), "i/o timeout"),
        ("registry.corp.example/a:1", False, AWS_ALONE, ""),
    ],
)
def test_an_image_is_pulled_by_a_name_that_resolves_and_a_way(
    image: str, *, leads_out: bool, rules: tuple[tuple[str, tuple[str, ...]], ...], why: str
) -> None:
    registries = Registries(region="us-west-2", leads_out=leads_out, has_ecr=True, rules=rules)

    assert registries.error(image).rpartition("dial tcp: ")[2] == why


def test_ecr_needs_its_endpoints() -> None:
    registries = Registries(region="us-west-2", leads_out=False, has_ecr=False, rules=())

    assert "i/o timeout" in registries.error(ECR)
