"""DescribeCluster of EKS shows the tags of now, whoever set them."""

from emulator.aws.local_aws import LocalAws
from tests.support.local_aws import client, delete, deploy, eks_cluster, network, role


def test_a_cluster_shows_tags_that_were_set_later(aws: LocalAws) -> None:
    cluster = eks_cluster()
    cluster["Properties"] |= {"Name": "tagged", "Tags": [{"Key": "team", "Value": "a"}]}
    wanted = {**network(), "ClusterRole": role("eks.amazonaws.com"), "Cluster": cluster}
    stack = deploy(aws, wanted, {"Arn": {"Fn::GetAtt": ["Cluster", "Arn"]}})
    eks = client(aws, "eks")
    eks.tag_resource(resourceArn=stack.outputs["Arn"], tags={"hyperpod-cdk:x": "1"})
    tags = eks.describe_cluster(name="tagged")["cluster"]["tags"]
    assert (tags["team"], tags["hyperpod-cdk:x"]) == ("a", "1")

    eks.untag_resource(resourceArn=stack.outputs["Arn"], tagKeys=["hyperpod-cdk:x"])
    assert "hyperpod-cdk:x" not in eks.describe_cluster(name="tagged")["cluster"]["tags"]
    delete(aws, stack)
