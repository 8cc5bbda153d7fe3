"""What a release costs: discernibility, class sizes, information loss and query error."""

from undercover.forms.loss import Loss, losses
from undercover.utility.discernibility import average_class_size, discernibility, optimal_discernibility
from undercover.utility.measures import Measures, measure
from undercover.utility.queries.counts import QueryError, QueryErrorResult, query_errors
from undercover.utility.queries.sums import SumError, SumErrorResult

__all__ = [
    "Loss",
    "Measures",
    "QueryError",
    "QueryErrorResult",
    "SumError",
    "SumErrorResult",
    "average_class_size",
    "discernibility",
    "losses",
    "measure",
    "optimal_discernibility",
    "query_errors",
]
