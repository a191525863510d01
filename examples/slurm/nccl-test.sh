#!/bin/bash
#SBATCH --job-name=nccl-test
#SBATCH --partition=p5
#SBATCH --nodes=32
#SBATCH --ntasks-per-node=8
#SBATCH --gres=gpu:8
#SBATCH --exclusive
#SBATCH --time=00:30:00
#SBATCH --output=%x-%j.log
#
# Measures all-reduce over all GPUs of the nodes (docs/slurm-jobs.md). `hyperpod-cdk train` fills in what
# depends on the cluster.
#
#   sbatch nccl-test.sh [ARGUMENT OF all_reduce_perf]...     which wins over those below
#
# Variables, from the shell that submits:
#   CONTAINER       what pyxis starts, as REGISTRY#IMAGE:TAG, or :DIGEST; empty: PROGRAM of the node
#   PROGRAM         all_reduce_perf of nccl-tests, built with MPI
#   SLURM_MPI_TYPE  how tasks find each other

set -euo pipefail

# cuda13.0.2-efa1.48.0-ofiv1.19.0-ncclv2.30.4-1-testsv2.18.3, by its digest, as Enroot has it:
# https://github.com/awslabs/awsome-distributed-ai/blob/1072473d/examples/use-cases/gpu-cluster-failure-patterns/pins.env
CONTAINER=${CONTAINER-public.ecr.aws#hpc-cloud/nccl-tests:sha256:a5390d3f0eb50f3e5854085e2ae0fef90b9eb4f3b7486ed4cab0d47864809d4c}
PROGRAM=${PROGRAM-/opt/nccl-tests/build/all_reduce_perf}
export FI_PROVIDER=efa # else a fabric that does not work is measured over TCP
# Which transport NCCL takes stands in the log: `Selected provider is efa`.
export NCCL_DEBUG=${NCCL_DEBUG-INFO} NCCL_DEBUG_SUBSYS=${NCCL_DEBUG_SUBSYS-INIT,NET}
export SLURM_MPI_TYPE=${SLURM_MPI_TYPE-pmix}

srun ${CONTAINER:+--container-image="$CONTAINER"} \
  "$PROGRAM" --minbytes 1G --maxbytes 16G --stepfactor 2 --ngpus 1 --iters 20 --check 1 "$@"
