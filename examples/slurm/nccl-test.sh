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
#   CONTAINER       what pyxis starts, as REGISTRY#IMAGE:TAG; empty: PROGRAM of the node
#   PROGRAM         all_reduce_perf of nccl-tests, built with MPI
#   SLURM_MPI_TYPE  how tasks find each other

set -euo pipefail

CONTAINER=${CONTAINER-public.ecr.aws#hpc-cloud/nccl-tests:cuda13.0.2-efa1.48.0-ofiv1.19.0-ncclv2.30.4-1-testsv2.18.3}
PROGRAM=${PROGRAM-/opt/nccl-tests/build/all_reduce_perf}
export FI_PROVIDER=efa # else a fabric that does not work is measured over TCP
# Which transport NCCL takes stands in the log: `Selected provider is efa`.
export NCCL_DEBUG=${NCCL_DEBUG-INFO} NCCL_DEBUG_SUBSYS=${NCCL_DEBUG_SUBSYS-INIT,NET}
export SLURM_MPI_TYPE=${SLURM_MPI_TYPE-pmix}

srun ${CONTAINER:+--container-image="$CONTAINER"} \
  "$PROGRAM" --minbytes 1G --maxbytes 16G --stepfactor 2 --ngpus 1 --iters 20 --check 1 "$@"
