"""Compare k against loss and risk, to choose before anything is published.

Make the releases in private and publish one of them: two releases of the same people can be joined.
Run it with ``python examples/compare_k.py``.
"""

from __future__ import annotations

import undercover as uc


def main() -> None:
    """Print a line per k."""
    people = uc.datasets.census(5000)
    schema = uc.Schema(quasi_identifiers=["age", "sex", "education", "race"], sensitive="income", drop="*")
    print("  k  classes   loss  found at worst  income guessed  verdict")
    for k in (2, 5, 10, 20, 50):
        run = uc.publish(people, schema, uc.Mondrian(k=k))
        costs = uc.measure(people, run)
        risk = uc.attack(run).to_dict()["after"]
        print(
            f"{k:3d}  {costs.classes:7,}  {costs.loss['arx'].arithmetic:.3f}  {risk['identity']['max']:14.1%}  "
            f"{risk['attribute']['income']['guess_success']:14.1%}  {run.verdict.title}"
        )


if __name__ == "__main__":
    main()
