"""Container images are named by their digests: a tag can become another image."""

from pathlib import Path

import pytest

from hyperpod_cdk.facts.deep_learning_containers import BASE_IMAGES
from tests.support.configs import REPOSITORY
from tools.images import Image, files, images_in, refreshed

# AWS publishes no digests of its Deep Learning Containers: docs/images.md.
_BY_TAG = {base.repository for base in BASE_IMAGES.values()}
_OLD, _NEW = "sha256:" + "0" * 64, "sha256:" + "1" * 64


@pytest.mark.parametrize(
    "text",
    [
        "image: quay.io/a/b:v1",
        "etcdImage: 'quay.io/a/b:v1'",
        'IMAGE = "quay.io/a/b:v1"',
        "FROM quay.io/a/b:v1 AS first",
        "FROM ${REGISTRY}/a/b:v1",
        "CONTAINER=${CONTAINER-quay.io#a/b:v1}",
        "docker run quay.io/a/b:v1 true",
        "docker://quay.io/a/b:v1",
    ],
)
def test_an_image_without_a_digest_is_seen_wherever_it_is_named(text: str) -> None:
    (image,) = images_in(text)
    assert (image.repository, image.tag, image.digest) == ("a/b", "v1", None)


@pytest.mark.parametrize(
    "text",
    [
        f"image: quay.io/a/b:v1@{_OLD}",
        f"image: quay.io/a/b@{_OLD}",
        f"CONTAINER=quay.io#a/b:{_OLD}",
        f'IMAGE = (\n    "quay.io/a/b:v1"\n    "@{_OLD}"\n)',
    ],
)
def test_a_digest_is_seen(text: str) -> None:
    assert [image.digest for image in images_in(text)] == [_OLD]


def test_what_is_no_image_of_anybody_is_passed_over() -> None:
    text = "https://a.example.com:8443/x registry.example/a:1 111122223333.dkr.ecr.x.com/a:1"
    assert [*images_in(text)] == []


def test_each_image_of_the_project_is_named_by_its_digest() -> None:
    seen = [(path, image) for path, text in files() for image in images_in(text)]
    named = {image.repository for _, image in seen}
    assert {"coreos/etcd", "hpc-cloud/nccl-tests", "docker/library/busybox", *_BY_TAG} <= named
    folders = {path.relative_to(REPOSITORY).parts[0] for path, _ in seen}
    assert {"charts", "constructs", "docs", "examples", "images"} <= folders
    by_tag = {
        (path.relative_to(REPOSITORY).as_posix(), image.repository)
        for path, image in seen
        if image.digest is None
    }
    assert {each for each in by_tag if each[1] not in _BY_TAG} == set()


def test_an_image_has_one_digest_in_the_whole_project() -> None:
    pinned: dict[str, set[str]] = {}
    for _, text in files():
        for image in images_in(text):
            if image.digest is not None:
                pinned.setdefault(f"{image.host}/{image.repository}", set()).add(image.digest)
    assert {name: digests for name, digests in pinned.items() if len(digests) > 1} == {}


def test_a_tag_that_has_become_another_image_gets_the_digest_of_that_one() -> None:
    texts = {
        Path("values.yaml"): f"image: quay.io/a/b:v1@{_OLD}",
        Path("run.sh"): f"IMAGE=quay.io#a/b:{_OLD}",
        Path("other.yaml"): "image: quay.io/c/d:v1",
    }
    changed, (line,) = refreshed(texts, resolve=lambda _: _NEW)
    assert changed == {
        Path("values.yaml"): f"image: quay.io/a/b:v1@{_NEW}",
        Path("run.sh"): f"IMAGE=quay.io#a/b:{_NEW}",
    }
    assert line == f"quay.io/a/b:v1: is {_NEW} now"


def test_without_a_network_a_digest_stays_and_it_is_said() -> None:
    def unreachable(_image: Image) -> str:
        raise OSError("no network")

    texts = {Path("values.yaml"): f"image: quay.io/a/b:v1@{_OLD}"}
    changed, (line,) = refreshed(texts, resolve=unreachable)
    assert changed == {}
    assert line == "quay.io/a/b:v1: keeps its digest; its registry was not asked (no network)"
