"""Plays the pipeline of a template on the local AWS, which has no CodePipeline."""

from hyperpod_rehearsal.pipeline.rehearsal import PipelineRehearsal as PipelineRehearsal
