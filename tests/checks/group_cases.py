"""Rules on single instance groups."""

from hyperpod_cdk.checks.continuous_provisioning import continuous_provisioning
from hyperpod_cdk.checks.custom_images import custom_images
from hyperpod_cdk.checks.deep_health_checks import deep_health_checks
from hyperpod_cdk.checks.ebs_volumes import ebs_volumes
from hyperpod_cdk.checks.inputs import Taint, Volume
from hyperpod_cdk.checks.region_offers import region_offers
from hyperpod_cdk.checks.threads_per_core import threads_per_core
from hyperpod_cdk.checks.undescribed_types import undescribed_types
from hyperpod_cdk.helm.hyperpod_components import HyperPodComponents
from tests.checks.deployments import (
    CPU,
    ERROR,
    GPU,
    GPU_WITHOUT_EFA,
    KEY,
    TRAINIUM,
    UNDESCRIBED,
    WARNING,
    deployment,
    group,
    in_group,
    one,
)

_TAINT = Taint(key="team", value="a", effect="NoSchedule")
_CHECKS = ("InstanceStress",)
_AMI = "ami-0123456789abcdef0"

_ARM, _X86 = "ml.m7g.large", "ml.m5.large"
_ROOT, _SECOND = Volume(root_volume=True, kms_key_id=KEY), Volume(kms_key_id=KEY)
_CONTINUOUS = "needs cluster.node_provisioning_mode: Continuous"

THREADS = [
    one(threads_per_core, title, deployment(group(name, threads_per_core=threads)), *expected)
    for title, name, threads, expected in (
        ("left out", GPU, None, ()),
        ("two on a GPU type", GPU, 2, ()),
        ("one on a CPU type", CPU, 1, ()),
        ("two on G5, of which EC2 lists no values", "ml.g5.12xlarge", 2, ()),
        ("of an undescribed type", UNDESCRIBED, 2, ()),
        (
            "one on a GPU type",
            GPU,
            1,
            (in_group(WARNING, "threads_per_core", "leaves 96 of the 192 vCPUs of ml.p5.48"),),
        ),
        (
            "two without multithreading",
            "ml.g7.2xlarge",
            2,
            (in_group(ERROR, "threads_per_core", "must be 1 for ml.g7.2xlarge: it has no multi"),),
        ),
        ("one without multithreading", "ml.g7.2xlarge", 1, ()),
    )
] + [
    one(
        threads_per_core,
        "two, which one type of several lacks",
        deployment(group(None, instance_types=(CPU, "ml.m8a.16xlarge"), threads_per_core=2)),
        in_group(ERROR, "threads_per_core", "must be 1 for ml.m8a.16xlarge"),
    ),
]

DEEP_HEALTH_CHECKS = [
    one(deep_health_checks, "alone", deployment(group(GPU, deep_health_checks=_CHECKS))),
    one(deep_health_checks, "taint alone", deployment(group(GPU, taints=(_TAINT,)))),
    one(
        deep_health_checks,
        "with a taint",
        deployment(group(GPU, deep_health_checks=_CHECKS, taints=(_TAINT,))),
        in_group(ERROR, "deep_health_checks", "must be empty beside taints"),
    ),
    one(
        deep_health_checks,
        "without their component",
        deployment(
            group(GPU, deep_health_checks=_CHECKS),
            components=HyperPodComponents(
                health_monitoring_agent=False,
                deep_health_check=False,
                job_auto_restart=False,
                i_know_this_breaks_resiliency=True,
            ),
        ),
        in_group(ERROR, "deep_health_checks", "deep_health_check is false: nothing runs them"),
    ),
]

CONTINUOUS = [
    one(
        continuous_provisioning,
        "everything with continuous provisioning",
        deployment(
            group(None, instance_types=(GPU, TRAINIUM), min_instance_count=1, capacity="Spot"),
            auto_scaling="Karpenter",
        ),
    ),
    one(
        continuous_provisioning,
        "nothing without",
        deployment(group(capacity="OnDemand", ebs_volumes=(Volume(),)), continuous=False),
    ),
    one(
        continuous_provisioning,
        "everything without",
        deployment(
            group(min_instance_count=1, capacity="Spot", ebs_volumes=(_ROOT, Volume())),
            group(None, index=1, instance_types=(CPU,)),
            auto_scaling="Karpenter",
            continuous=False,
        ),
        in_group(ERROR, "min_instance_count", _CONTINUOUS),
        in_group(ERROR, "capacity", _CONTINUOUS),
        in_group(ERROR, "ebs_volumes[0].kms_key_id", _CONTINUOUS),
        in_group(ERROR, "instance_types", _CONTINUOUS, index=1),
        (ERROR, "cluster.auto_scaling", _CONTINUOUS),
    ),
]

VOLUMES = [
    one(ebs_volumes, "two volumes", deployment(group(ebs_volumes=(_ROOT, _SECOND)))),
    one(ebs_volumes, "none but an instance store", deployment(group(GPU))),
    one(ebs_volumes, "none of an undescribed type", deployment(group(UNDESCRIBED))),
    one(
        ebs_volumes,
        "root volume alone",
        deployment(group(ebs_volumes=(_ROOT,))),
        in_group(WARNING, "volume_size_gib", "ml.m5.2xlarge, which has no instance store"),
    ),
    one(
        ebs_volumes,
        "key in a restricted group",
        deployment(group(GPU, restricted=True, ebs_volumes=(_SECOND,))),
        in_group(ERROR, "ebs_volumes[0].kms_key_id", "takes no key"),
    ),
]

IMAGES = [
    one(
        custom_images,
        "release of HyperPod's own",
        deployment(group(image_release_version="1.2.3", image_id="default")),
    ),
    one(
        custom_images,
        "custom AMI everywhere",
        deployment(group(image_id=_AMI), group(index=1, image_id=_AMI)),
    ),
    one(
        custom_images,
        "inherited where nothing is inherited",
        deployment(group(image_id=_AMI), group(index=1), continuous=False),
    ),
    one(
        custom_images,
        "restricted group, which chooses no image",
        deployment(group(image_id=_AMI), group(GPU, index=1, restricted=True)),
    ),
    one(
        custom_images,
        "release of a custom AMI",
        deployment(group(image_id=_AMI, image_release_version="1.2.3")),
        in_group(ERROR, "image_release_version", "leave one of them out"),
    ),
    one(
        custom_images,
        "one AMI for two architectures",
        deployment(group(None, instance_types=(_ARM, _X86), image_id=_AMI)),
        in_group(ERROR, "image_id", "one AMI for types of arm64 and x86_64"),
    ),
    one(
        custom_images,
        "inherited",
        deployment(group(image_id=_AMI), group(index=1)),
        in_group(WARNING, "image_id", "group-0 has a custom one", index=1),
    ),
]

REGIONS = [
    one(region_offers, "offered", deployment(group(GPU))),
    one(region_offers, "region unknown", deployment(group(TRAINIUM), region=None)),
    one(
        region_offers,
        "region without a list",
        deployment(group(TRAINIUM), region="us-gov-west-1"),
    ),
    one(region_offers, "hole in a family", deployment(group("ml.m6i.4xlarge"))),
    one(
        region_offers,
        "family offered elsewhere",
        deployment(group("ml.m8a.16xlarge"), region="us-west-1"),
        in_group(WARNING, "instance_type", "not in SageMaker's price list of us-west-1"),
    ),
    one(region_offers, "type on no list", deployment(group("ml.p5e.48xlarge"))),
    one(
        region_offers,
        "offered elsewhere",
        deployment(group(TRAINIUM)),
        in_group(WARNING, "instance_type", "not in SageMaker's price list of us-west-2; it is in"),
    ),
    one(
        region_offers,
        "second of two types offered elsewhere",
        deployment(group(None, instance_types=(GPU, TRAINIUM))),
        in_group(WARNING, "instance_types[1]", "it is in us-east-2"),
    ),
]

UNDESCRIBED_TYPES = [
    one(undescribed_types, "described", deployment(group(GPU), group(GPU_WITHOUT_EFA, index=1))),
    one(
        undescribed_types,
        "undescribed",
        deployment(group(UNDESCRIBED)),
        in_group(WARNING, "instance_type", "has no published facts here"),
    ),
]

CASES = [
    *THREADS,
    *DEEP_HEALTH_CHECKS,
    *CONTINUOUS,
    *VOLUMES,
    *IMAGES,
    *REGIONS,
    *UNDESCRIBED_TYPES,
]
