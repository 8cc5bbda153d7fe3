"""What a release costs: discernibility, class sizes and information loss."""

from undercover.utility.discernibility import average_class_size, discernibility
from undercover.utility.loss import Loss, losses
from undercover.utility.measures import Measures, measure

__all__ = ["Loss", "Measures", "average_class_size", "discernibility", "losses", "measure"]
