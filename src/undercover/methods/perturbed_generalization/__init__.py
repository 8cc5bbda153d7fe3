"""Perturbed generalization: one row of every cell, its value perturbed."""

from undercover.methods.perturbed_generalization.method import PerturbedGeneralization as PerturbedGeneralization
