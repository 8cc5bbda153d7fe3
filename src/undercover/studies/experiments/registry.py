"""Experiments by name. Their modules are imported when they are asked for."""

from __future__ import annotations

from importlib import import_module

from undercover.errors import ParameterError, unknown
from undercover.studies.experiments.experiment import Experiment
from undercover.studies.experiments.request import Request

# name on the command line -> module with `build(request) -> Experiment`
EXPERIMENTS: dict[str, str] = {
    "cross-bucket": "undercover.studies.experiments.papers.cross_bucket.experiment",
    "perturbed-generalization": "undercover.studies.experiments.papers.perturbed_generalization.experiment",
    "mutual-cover": "undercover.studies.experiments.papers.mutual_cover.experiment",
    "noncentralized": "undercover.studies.experiments.papers.noncentralized.experiment",
    "streamliner": "undercover.studies.experiments.papers.streamliner.experiment",
}


def build_experiment(name: str, request: Request) -> Experiment:
    """The experiment of that name, ready to run.

    >>> build_experiment("streamlines", Request())
    Traceback (most recent call last):
    undercover.errors.ParameterError: Experiment `streamlines` is not known. Did you mean `streamliner`? ...
    """
    if name not in EXPERIMENTS:
        raise ParameterError(unknown("Experiment", name, EXPERIMENTS))
    experiment: Experiment = import_module(EXPERIMENTS[name]).build(request)
    return experiment
