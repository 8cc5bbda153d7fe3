"""The theory behind Privacy Streamliner on a handful of people, to be played with.

Liu & Wang 2012, "Privacy Streamliner: a two-stage approach to improving algorithm efficiency". Everything is computed
by enumeration and in exact fractions. The methods do not use this room; ``docs/theory/publishing_sets.md`` walks
through it, and the tests check the paper's lemmas with it.
"""

from undercover.methods.streamliner.theory.arranging import arrange, arrangements, deal_candidate, deal_candidates
from undercover.methods.streamliner.theory.candidates import (
    Candidate,
    are_candidates,
    candidate_from_bijections,
    check_candidates,
    few_of_a_colour,
    find_bijection,
    form_l_candidate,
    meets_theorem_2,
    partners_differ,
)
from undercover.methods.streamliner.theory.colours import HighestRatio, MicroTable, diversity, group_ratio
from undercover.methods.streamliner.theory.cover import (
    exchanged,
    find_l_cover,
    is_balanced,
    is_cover,
    is_l_cover,
    is_l_cover_of_colour,
)
from undercover.methods.streamliner.theory.disclosure import Guess, MentalImage, disclosure_set
from undercover.methods.streamliner.theory.partitions import (
    all_partitions,
    bell_number,
    coarsenings,
    common_refinement,
    is_coarsening,
    parse,
    partition_of,
    text,
    texts,
)
from undercover.methods.streamliner.theory.publishing import (
    is_globally_safe,
    is_strongly_globally_safe,
    largest_strongly_globally_safe_set,
    locally_safe_set,
    maximal_strongly_globally_safe_sets,
    strongly_globally_safe_sets,
)
from undercover.methods.streamliner.theory.self_contained import (
    is_family_set,
    is_self_contained,
    is_self_contained_group,
    largest_family_set,
    minimal_self_contained_partition,
)

__all__ = [
    "Candidate",
    "Guess",
    "HighestRatio",
    "MentalImage",
    "MicroTable",
    "all_partitions",
    "are_candidates",
    "arrange",
    "arrangements",
    "bell_number",
    "candidate_from_bijections",
    "check_candidates",
    "coarsenings",
    "common_refinement",
    "deal_candidate",
    "deal_candidates",
    "disclosure_set",
    "diversity",
    "exchanged",
    "few_of_a_colour",
    "find_bijection",
    "find_l_cover",
    "form_l_candidate",
    "group_ratio",
    "is_balanced",
    "is_coarsening",
    "is_cover",
    "is_family_set",
    "is_globally_safe",
    "is_l_cover",
    "is_l_cover_of_colour",
    "is_self_contained",
    "is_self_contained_group",
    "is_strongly_globally_safe",
    "largest_family_set",
    "largest_strongly_globally_safe_set",
    "locally_safe_set",
    "maximal_strongly_globally_safe_sets",
    "meets_theorem_2",
    "minimal_self_contained_partition",
    "parse",
    "partition_of",
    "partners_differ",
    "strongly_globally_safe_sets",
    "text",
    "texts",
]
