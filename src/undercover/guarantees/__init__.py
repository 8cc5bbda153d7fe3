"""The guarantees, one file each, and the verification that recomputes them from published tables alone."""

from undercover.forms import classes_of
from undercover.forms.against import verify_against
from undercover.forms.classes import Classes, classes_of_table
from undercover.forms.distribution import Distribution
from undercover.guarantees.beta_likeness import BetaLikeness
from undercover.guarantees.breach.growth import DeltaGrowth
from undercover.guarantees.breach.rho import RhoBreach
from undercover.guarantees.delta_disclosure import DeltaDisclosure
from undercover.guarantees.delta_probability import DeltaProbability
from undercover.guarantees.disjoint import DisjointCells
from undercover.guarantees.finding import Checkable, Finding
from undercover.guarantees.joint.diversity import JointDiversity
from undercover.guarantees.joint.tables import Published, foreign_table, released_table, together
from undercover.guarantees.k_anonymity import KAnonymity
from undercover.guarantees.kl_anonymity import KLAnonymity
from undercover.guarantees.l_diversity import LDiversity
from undercover.guarantees.registry import GUARANTEES, guarantee_from_mapping
from undercover.guarantees.requirements import (
    REQUIREMENTS,
    guarantee_from_requirement,
    guarantees_from_entries,
    guarantees_from_requirements,
)
from undercover.guarantees.t_closeness import TCloseness
from undercover.guarantees.verify import Verification, verify, verify_private, verify_table

__all__ = [
    "GUARANTEES",
    "REQUIREMENTS",
    "BetaLikeness",
    "Checkable",
    "Classes",
    "DeltaDisclosure",
    "DeltaGrowth",
    "DeltaProbability",
    "DisjointCells",
    "Distribution",
    "Finding",
    "JointDiversity",
    "KAnonymity",
    "KLAnonymity",
    "LDiversity",
    "Published",
    "RhoBreach",
    "TCloseness",
    "Verification",
    "classes_of",
    "classes_of_table",
    "foreign_table",
    "guarantee_from_mapping",
    "guarantee_from_requirement",
    "guarantees_from_entries",
    "guarantees_from_requirements",
    "released_table",
    "together",
    "verify",
    "verify_against",
    "verify_private",
    "verify_table",
]
