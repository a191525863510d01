#!/bin/bash
#SBATCH --job-name=llama3_train
#SBATCH --partition=p5
#SBATCH --nodes=32
#SBATCH --ntasks-per-node=8
#SBATCH --gres=gpu:8
#SBATCH --exclusive
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=%x-%j.log
#
# Trains Llama 3 70B, from the last checkpoint there is, with a task for each GPU (docs/slurm-jobs.md).
# `hyperpod-cdk train` fills in what depends on the cluster.
#
#   sbatch llama3-70b.sh [ARGUMENT OF hyperpod_training]...     which wins over those below
#
# Variables, from the shell that submits:
#   FSX        the folder that all nodes share
#   CONTAINER  what pyxis starts: a squash file, or REGISTRY#IMAGE:TAG; empty: `python` of the PATH trains

set -euo pipefail

FSX=${FSX-/fsx}
: "${FSX:?is empty: name a folder that all nodes share}"
CONTAINER=${CONTAINER-$FSX/images/training.sqsh}
export FI_PROVIDER=efa # else a fabric that does not work is a job that is slow over TCP
# Processes that share a node's CPUs would start a thread for each CPU.
export OMP_NUM_THREADS=${OMP_NUM_THREADS-1}
# Models, and the token of `hf auth login`.
export HF_HOME=${HF_HOME-$FSX/hugging-face}

# This runs on the first node, and so does the first task. The port is the job's own.
MASTER_ADDR=$(hostname)
export MASTER_ADDR MASTER_PORT=$((29500 + SLURM_JOB_ID % 100))

# HyperPod's flag for a step. As an option of sbatch it does nothing.
srun --auto-resume=1 --kill-on-bad-exit=1 \
  ${CONTAINER:+--container-image="$CONTAINER" --container-mounts="$FSX:$FSX"} \
  python -m hyperpod_training \
  --checkpoints "$FSX/checkpoints/$SLURM_JOB_NAME" \
  --model meta-llama/Meta-Llama-3-70B \
  --dataset allenai/c4 \
  --sequence-length 8192 \
  --micro-batch-size 4 \
  --max-steps 1000 \
  --checkpoint-every 100 \
  --global-batch-size 1024 \
  --activation-checkpointing \
  "$@"
