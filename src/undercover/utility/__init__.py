"""What a release costs: discernibility, class sizes, information loss and query error."""

from undercover.utility.discernibility import average_class_size, discernibility, optimal_discernibility
from undercover.utility.loss import Loss, losses
from undercover.utility.measures import Measures, measure
from undercover.utility.query_error import QueryError, QueryErrorResult, query_errors
from undercover.utility.sum_error import SumError, SumErrorResult

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
