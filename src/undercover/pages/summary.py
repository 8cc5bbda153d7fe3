"""What the holder is told of a run, as one dict: pages, cards and JSON are all made from it.

The dict holds figures at full precision; rounding to the safe side is left to whoever shows them. It is private: it
speaks of input rows, of the seed and of classes one by one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from undercover.forms import read
from undercover.forms.classes import Classes
from undercover.guarantees.verify import Verification
from undercover.io.plain import plain
from undercover.model.about import about_of
from undercover.model.figures import counted, number
from undercover.model.finding import Finding, shown
from undercover.model.run import Run
from undercover.model.schema import ALL_OTHERS
from undercover.model.verdict import Verdict
from undercover.model.view import View, Viewable
from undercover.pages.again import again
from undercover.pages.datasheet import datasheet_summary
from undercover.pages.pictures import pictures
from undercover.pages.samples import samples_of, samples_view
from undercover.pages.sections import class_sizes, earlier_view, riskiest, riskiest_view, sizes_of, sizes_view, stages
from undercover.pages.words import (
    algorithm_words,
    asked_parameters,
    declaration,
    declared_by,
    limits,
    looks_at,
    promise_title,
    promise_words,
    release_title,
    robustness_words,
    unspoken,
)
from undercover.utility.measures import Measures
from undercover.utility.views import by_column

__all__ = ["datasheet_summary", "headline", "summarize"]

_ROUNDING = 1e-9
_FROM_ORIGINAL = (
    "values-of-the-original",
    "rows-preserved",
    "sensitive-values-preserved",
    "quasi-identifiers-preserved",
    "column-preserved",
    "dealt-as-kept",
    "rows-covered",
)


def summarize(
    run: Run, *, verification: Verification, attacks: Sequence[Viewable] = (), measures: Measures | None = None
) -> dict[str, Any]:
    """Everything the report says; without ``measures`` where the original is not at hand.

    ``sections`` is what is shown of sizes, attacks, rows at risk and costs, each a view: its pictures are made by
    whoever draws them, and ``report.json`` has none, since the figures they show stand in it elsewhere.
    """
    reading = read(run.release)
    classes, charged = reading.classes, reading.charged
    counts = _counts(run, charged or classes)
    if charged is None:
        counts["classes"] = run.groups.count
    found_attacks = [plain(attack.to_dict()) for attack in attacks]
    found_measures = None if measures is None else measures.to_dict()
    sizes = sizes_of(run.groups.sizes, "group") if charged is None else class_sizes(charged)
    at_risk, top = riskiest(run, found_attacks), judged_headline(found_attacks, run.verdict)
    findings = [_finding(finding, classes) for finding in verification.findings]
    who = {str(found["attack"]): each.who for each, found in zip(attacks, found_attacks, strict=True) if each.who}
    sections = [_attacks_view(attacks), riskiest_view(at_risk, who), _cost_view(measures)]
    noted, samples = run.diagnostics.get("earlier"), samples_of(run)
    if noted:
        sections.insert(1, earlier_view(noted))
    return {
        "private": True,
        "title": release_title(run.release),
        "about": _about(run),
        "version": run.release.version,
        **run.verdict.to_dict(),
        "meaning": run.verdict.meaning,
        "promises": _promises(verification),
        "asked": _asked(run, verification),
        "done": _done(
            run, counts, stages(run, counts, classes, _promises(verification)["text"], found_attacks, found_measures)
        ),
        "holds": {
            "holds": verification.holds,
            "findings": findings,
            "unspoken": unspoken(run.release, findings),
            "problems": list(verification.problems),
        },
        "earlier": plain(noted),
        "class_sizes": sizes,
        "beside": list(about_of(run.release.method).beside(run)),
        "attacks": found_attacks,
        "riskiest": at_risk,
        "headline": top,
        "sampling": plain(reading.sampling),
        "cards": card_colours(run.verdict, top),
        "cost": None if found_measures is None else {**plain(found_measures), "columns": by_column(found_measures)},
        "warnings": _warnings(run),
        "limits": limits(run.release),
        "not_published": _not_published(run),
        "again": again(run),
        "pictures": pictures(run),
        "samples": samples,
        "sections": [samples_view(samples), sizes_view(sizes), *sections],
    }


def headline(attacks: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """The figures for the top of a page: the worst row, before and after, beside guessing.

    From the first attack on original and release, which is linkage; where values were drawn, from whoever found more
    rows (matching on some columns, the nearest row), for there a row that fits is seldom the person's own. What is
    believed of values is taken from attacks that weigh them by the law of the release; where none does, ``outcome``
    says that the figures of values are how often guesses were right.
    """
    linkage = _before_and_after(attacks)
    if linkage is None:
        return None
    before, after, guessing = linkage["before"], linkage["after"], linkage["baseline"]
    # Only where values were drawn does he do better by matching on less; else these curves would add their sampling.
    drawn = [attack for attack in attacks if attack.get("drawn", True)]
    swept = [(attack, entry) for attack in drawn for entry in attack.get("sweep", ()) if "p" in entry]
    others = [entry for _, entry in swept]
    others += [attack["strongest"] for attack in attacks if "strongest" in attack]
    beliefs = linkage.get("beliefs", True)
    weighed = [
        entry for attack in drawn if attack.get("beliefs", True) for entry in attack.get("sweep", ()) if "p" in entry
    ]
    values = _values(after, weighed) if beliefs else _believed(after, attacks)
    identity = {key: max(entry["identity"][key] for entry in (after, *others)) for key in ("mean", "max")}
    identity = after["identity"] if not others else identity
    sampled = "of" in linkage
    attributes = [
        {
            "column": name,
            "before": before["attribute"][name]["max"],
            "after": figures["max"],
            "before_mean": before["attribute"][name]["mean"],
            "after_mean": figures["mean"],
            "baseline": guessing["attribute"][name]["guess_success"],
            "baseline_mean": guessing["attribute"][name]["mean"],
            **({"outcome": True} if figures.get("outcome") else _looked_for(figures, sampled and beliefs)),
        }
        for name, figures in values.items()
    ]
    return {
        "identity": {
            "before": before["identity"]["max"],
            "after": identity["max"],
            "before_mean": before["identity"]["mean"],
            "after_mean": identity["mean"],
            "baseline": guessing["identity"],
            **_looked_for(identity, sampled),
        },
        "attribute": max(attributes, key=lambda entry: float(entry["after"]), default=None),
    }


def _before_and_after(attacks: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """The first attack that was made on the original and on the release."""
    return next((attack for attack in attacks if "before" in attack and "after" in attack), None)


def judged_headline(attacks: Sequence[Mapping[str, Any]], verdict: Verdict) -> dict[str, Any] | None:
    """The same with the figures of the verdict wherever it has one: one number per risk, the same everywhere.

    What is believed of a column comes with how many people count, and how many are excused.
    """
    found = headline(attacks)
    if found is None:
        return None
    over = [reason for reason in verdict.reasons if reason.kind == "found" and reason.actual is not None]
    if over:
        found["identity"]["after"] = max(reason.actual for reason in over if reason.actual is not None)
    inferred = [reason for reason in verdict.reasons if reason.column and reason.highest is not None]
    surest = max(inferred, key=lambda reason: (bool(reason.people), reason.highest or 0.0), default=None)
    if surest is None or found["attribute"] is None:
        return found
    linkage = _before_and_after(attacks)
    assert linkage is not None  # whatever the headline was made of
    before, guessing = (linkage[key]["attribute"][surest.column] for key in ("before", "baseline"))
    found["attribute"] |= {
        "column": surest.column,
        "before": before["max"],
        "after": surest.highest,
        "before_mean": before["mean"],
        "baseline": guessing["guess_success"],
        "baseline_mean": guessing["mean"],
        "people": surest.people,
        "excused": surest.excused,
    }
    found["attribute"].pop("outcome", None)  # the verdict judges beliefs
    if linkage.get("beliefs", True) and surest.column in linkage["after"]["attribute"]:
        found["attribute"]["after_mean"] = linkage["after"]["attribute"][surest.column]["mean"]
    return found


def _looked_for(figures: Mapping[str, Any], sampled: bool) -> dict[str, bool]:
    """Of a sample, that others may be worse off; not where what bounds everybody says that nobody is."""
    return {"of_a_sample": True} if sampled and figures["max"] < figures.get("at_most", 1.0) - _ROUNDING else {}


def card_colours(verdict: Verdict, found: Mapping[str, Any] | None) -> dict[str, dict[str, Any]]:
    """For each figure of the headline what the policy allows, and whether it is good or bad news.

    A figure within its limit is good, one beyond it bad; but never against the verdict, which may have let it pass (the
    value is no harmful one, or was believed before) or was given by another attack.
    """
    cards: dict[str, dict[str, Any]] = {}
    limits = (("identity", "found", verdict.policy.found), ("attribute", "exposed", verdict.policy.belief))
    stops = {reason.kind for reason in verdict.weighing("stop")}
    for figure, kind, limit in limits:
        cards[figure] = {"limit": None if limit is None else float(limit), "news": ""}
        if found is None or found[figure] is None or limit is None:
            continue
        after, most = float(found[figure]["after"]), float(limit)
        within = after < most - _ROUNDING if kind == "exposed" else after <= most + _ROUNDING
        if within is (kind not in stops):
            cards[figure]["news"] = "good" if within else "bad"
    return cards


def _values(after: Mapping[str, Any], others: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """The largest beliefs of several attackers: where values were moved, matching on everything is not the best."""
    if not others:
        found: Mapping[str, Any] = after["attribute"]
        return found
    return {
        name: {key: max(entry["attribute"][name][key] for entry in (after, *others)) for key in ("mean", "max")}
        for name in after["attribute"]
    }


def _believed(after: Mapping[str, Any], attacks: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What attackers believe who know how values were moved; where there is none, how often guesses were right."""
    found = {}
    for name, outcome in after["attribute"].items():
        told = [attack["believed"][name] for attack in attacks if name in attack.get("believed", {})]
        right = {"mean": outcome["mean"], "max": outcome["guess_success"], "outcome": True}
        found[name] = {key: max(each[key] for each in told) for key in ("mean", "max")} if told else right
    return found


def _counts(run: Run, classes: Classes) -> dict[str, int]:
    read = run.source.get("rows")
    read = len(run.rows) if not isinstance(read, int) else read
    set_aside = 0 if run.original is None else run.original.set_aside
    return {
        "read": read,
        "dropped": read - set_aside - len(run.rows) - run.release.suppressed_rows,
        "published": len(classes.labels) if classes.sampled else classes.rows,
        "classes": classes.count,
        "suppressed": run.release.suppressed_rows,
    }


def _promises(verification: Verification) -> dict[str, Any]:
    held = sum(finding.holds is True for finding in verification.findings)
    everything = len(verification.findings)
    if not everything:
        text = "Nothing was promised."
    else:
        which = f"{held} of {everything} promises hold"
        if held == everything:
            which = "The promise holds" if everything == 1 else f"All {everything} promises hold"
        private = any(finding.needs == "private" and finding.holds for finding in verification.findings)
        text = f"{which}, recomputed from {'the private run' if private else 'the published tables'}."
    undecided = sum(finding.holds is None for finding in verification.findings)
    if undecided:
        text += f" {undecided} cannot be told from published tables alone."
    if verification.problems:
        text += f" Problems found: {len(verification.problems)}."
    return {"holds": verification.holds, "held": held, "promises": everything, "undecided": undecided, "text": text}


def _asked(run: Run, verification: Verification) -> dict[str, Any]:
    release, schema, about = run.release, run.schema, about_of(run.release.method)
    columns = []
    for role, names in schema.by_role().items():
        for name in names:
            settings = schema.column(name)
            kind = run.original[name].domain.kind if run.original and name in run.original.columns else settings.kind
            levels = settings.hierarchy.n_levels if settings.hierarchy else None
            columns.append({"name": name, "role": role, "kind": kind, "levels": levels, "weight": settings.weight})
    return {
        "method": {
            "name": release.method,
            "title": about.title,
            "idea": about.idea,
            "when": about.when,
            "parameters": plain(asked_parameters(release.parameters)),
        },
        "requirements": [
            {"name": finding.name, "title": promise_title(finding.name, finding.parameters)}
            for finding in verification.findings
            if finding.name not in _FROM_ORIGINAL
        ],
        "columns": columns,
        "roles": {role: list(names) for role, names in schema.by_role().items()},
        "missing": schema.missing,
    }


def _done(run: Run, counts: Mapping[str, int], told: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {
        "counts": dict(counts),
        "stages": list(told),
        "timings": [{"stage": stage, "seconds": float(value)} for stage, value in run.timings.items()],
        "seconds": float(sum(run.timings.values())),
        "engine": dict(run.engine),
        "randomness": plain(run.randomness),
        "source": plain({key: value for key, value in run.source.items() if key not in ("columns", "digest")}),
    }


def _finding(finding: Finding, classes: Classes) -> dict[str, Any]:
    unit = ("class", "classes") if classes.boxes is None else ("bucket", "buckets")
    if finding.needs == "private" and finding.holds is not None:
        how = "Recomputed from the private run; published tables cannot show it."
    elif finding.needs:
        how = f"Published tables cannot show it; it needs: {finding.needs}."
    elif finding.name in _FROM_ORIGINAL:
        how = "Published tables compared with the original."
    else:
        count, over = classes.count, counted(classes.count, *unit)
        looked_at = looks_at(finding.name)
        if looked_at != "classes" and classes.boxes is not None:
            across = f" and {over}" if looked_at == "both" else ""
            count = classes.boxes.count
            over = f"{counted(count, 'class', 'classes')} of rows written alike{across}"
        how = f"Recomputed over {'' if count == 1 else 'all '}{over} from the published tables alone."
    entry: dict[str, Any] = plain(finding.to_dict())
    infinite, needed = finding.actual is not None and math.isinf(finding.actual), finding.required
    return {
        "name": finding.name,
        "title": promise_title(finding.name, finding.parameters),
        "words": promise_words(finding.name, finding.parameters),
        "parameters": plain(dict(finding.parameters)),
        "sense": finding.sense,
        "required": entry["required"],
        "required_shown": shown(needed, finding.sense) if isinstance(needed, float) else entry["required"],
        "actual": "inf" if infinite else entry["actual"],
        "shown": finding.shown(),
        "holds": finding.holds,
        "needs": finding.needs,
        "note": finding.note,
        "how": how,
        "columns": list(finding.columns),
        "violating_classes": finding.violating_classes,
        "violating_rows": finding.violating_rows,
        "examples": entry["examples"],
    }


def _about(run: Run) -> dict[str, str]:
    """What the table is called, who publishes it and when this was made; nothing of what nobody said."""
    said = {**run.schema.about, "name": run.name, "date": run.made[:10]}
    return {key: str(said[key]) for key in ("name", "date", "publisher", "contact") if said.get(key)}


def _attacks_view(attacks: Sequence[Viewable]) -> View:
    """What every attacker gets; rows at risk have a section of their own."""
    shown = tuple(attack.view().without_private() for attack in attacks)
    return View("attacks", "What an attacker gets", shown or ("No attack was made.",), private=True)


def _cost_view(measures: Measures | None) -> View:
    if measures is None:
        return View("cost", "What it cost", ("Not measured: the original was not at hand.",), private=True)
    return measures.view()


def _warnings(run: Run) -> list[dict[str, str]]:
    """What follows from the run itself, loudest first, then what the run brought along and is not said yet."""
    found = []
    if run.randomness.get("seed") is not None:
        text = "It was made with a seed. Whoever knows or guesses the seed can undo the random choices."
        title = "Reproducible: not for publication"
        found.append({"topic": "reproducible", "level": "danger", "title": title, "text": text})
    for name, rows in (run.original.repeated if run.original else {}).items():
        if rows:
            text = f"{number(rows)} rows share their {name} with another row. The promises are per row, not per person."
            title = f"Several rows per person: {name}"
            found.append({"topic": "repeats", "level": "danger", "title": title, "text": text})
    if not run.release.algorithm_safe or declared_by(run.release.method):
        safe = "Safe" if run.release.algorithm_safe else "Not safe"
        title = f"{safe} against somebody who knows the algorithm"
        text = f"{algorithm_words(run.release)} {declaration(run.release.method)}"
        found.append({"topic": "algorithm-safe", "level": "caution", "title": title, "text": text})
    if run.release.algorithm_safe and not run.release.corruption_robust and run.schema.sensitive:
        title = "Not robust when values of others are known"
        text = robustness_words(robust=False)
        found.append({"topic": "corruption-robust", "level": "caution", "title": title, "text": text})
    said = {warning["topic"] for warning in found}
    more = dict.fromkeys([*run.warnings, *run.release.warnings])
    return found + [
        {"topic": "", "level": "caution", "title": "", "text": text}
        for text in more
        if not any(topic in text.lower() for topic in said)
    ]


def _not_published(run: Run) -> list[dict[str, str]]:
    without_role = [name for name in run.source.get("columns", ()) if name not in run.schema.published]
    rest = [name for name in without_role if name not in run.schema.identifiers]
    said: dict[str, str] = {**dict.fromkeys(run.schema.drop, "dropped"), run.schema.unit_column or "": "unit"}
    otherwise = "dropped" if ALL_OTHERS in run.schema.drop else "no role"
    return [{"name": name, "reason": said.get(name, "identifier")} for name in run.schema.identifiers] + [
        {"name": name, "reason": said.get(name, otherwise)} for name in rest
    ]
