"""Protect: policies and what they mean for a table, methods with their parameters, how far these can go."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import File, UploadFile
from pydantic import BaseModel, Field

from undercover import plugins
from undercover.io.plain import plain
from undercover.model.about import about_of
from undercover.model.policy import POLICIES
from undercover.parameters import Parameter, describe
from undercover.web.access.asking import Of, Who
from undercover.web.api.said import Strict
from undercover.web.api.said import router as part
from undercover.web.desks.desk import Missing
from undercover.web.protecting.feasible import holding_of, policy_asked
from undercover.web.protecting.methods import cards, expected
from undercover.web.protecting.others import add_file, others_of
from undercover.web.protecting.policies import limits, meaning

router = part("protect")


class PolicyFacts(BaseModel):
    """What must not happen to people."""

    name: str = Field(examples=["standard"])
    limits: dict[str, Any]
    means: list[str] = Field(description="For this table, one sentence each.")


class ParameterFacts(BaseModel):
    """A parameter of a method, as it is declared."""

    name: str
    kind: str
    words: str = Field(description="What values it takes.")
    about: str
    required: bool
    default: Any
    choices: list[Any]


class MethodFacts(BaseModel):
    """A method of anonymisation."""

    name: str
    title: str
    parameters: list[ParameterFacts]


class Card(BaseModel):
    """A method, and whether it can be used on a table."""

    name: str
    title: str
    fits: bool
    reasons: list[str] = Field(description="Why it cannot run.")
    protects_rows_only: bool
    proposed: dict[str, Any] | None = Field(description="Parameters by which it may satisfy the policy.")


class Parameters(Strict):
    """Parameters of a method, as a spec has them."""

    parameters: dict[str, Any] = Field({}, examples=[{"k": 5}])


class Reaches(BaseModel):
    """How far a parameter can go on a table."""

    parameter: str
    least: float | None
    most: float | None
    why: str


class Consequences(BaseModel):
    """What is to be expected of parameters on a table."""

    wrong: bool
    problems: list[str]
    by_parameter: dict[str, list[str]]
    beyond: dict[str, str] = Field(description="Parameters beyond what the table has room for, and why.")
    told: list[Any]
    algorithm_safe: bool | None
    corruption_robust: bool | None
    reach: list[Reaches]


@router.get("/methods")
def methods() -> list[MethodFacts]:
    """Every method there is, with its declared parameters."""
    return [
        MethodFacts(name=name, title=about_of(name).title, parameters=[_told(one) for one in _parameters(name)])
        for name in plugins.names("methods")
    ]


@router.get("/tables/{key}/policies")
def policies(project: Of, asked: Who) -> list[PolicyFacts]:
    """The built-in policies, and what each means for the people of a table."""
    holding, profile = holding_of(project), project.profile or {}
    return [
        PolicyFacts(
            name=name,
            limits={one.name: plain(getattr(policy, one.name)) for one in limits()},
            means=[
                asked.texts(key, **values) for key, values in meaning(policy, holding, profile, asked.texts.language)
            ],
        )
        for name, policy in POLICIES.items()
    ]


@router.get("/tables/{key}/methods")
def fitting(project: Of) -> list[Card]:
    """Every method, whether it can be used on a table under its policy, and with which parameters."""
    return [
        Card(
            name=one.name,
            title=one.about.title,
            fits=one.fits,
            reasons=list(one.reasons),
            protects_rows_only=one.rows_only,
            proposed=plain(one.first),
        )
        for one in cards(holding_of(project), policy_asked(project))
    ]


@router.post("/tables/{key}/methods/{method}")
def consequences(project: Of, method: str, said: Parameters) -> Consequences:
    """What parameters of a method would lead to on a table, and how far each can go; nothing is written."""
    if method not in plugins.names("methods"):
        raise Missing("There is no such method here.")
    holding = holding_of(project)
    found = expected(method, said.parameters, holding)
    return Consequences(
        wrong=found.wrong,
        problems=list(found.problems),
        by_parameter={name: list(problems) for name, problems in found.beside.items()},
        beyond=dict(found.beyond),
        told=plain(list(found.told)),
        algorithm_safe=found.safe,
        corruption_robust=found.robust,
        reach=[
            Reaches(
                parameter=one.parameter,
                least=None if one.least is None else float(one.least),
                most=None if one.most is None else float(one.most),
                why=one.why,
            )
            for one in about_of(method).reach(said.parameters, holding)
        ],
    )


class Other(BaseModel):
    """What somebody else published about the same people."""

    name: str
    path: str = Field(description="By which a spec names it.")


@router.get("/tables/{key}/others")
def other_tables(project: Of) -> list[Other]:
    """Tables of others that are taken into account."""
    return [Other(name=str(one["name"]), path=str(one["path"])) for one in others_of(project)]


@router.post("/tables/{key}/others", status_code=201)
def add_other(
    project: Of, asked: Who, file: Annotated[UploadFile, File(description="A public folder as zip, or a CSV file.")]
) -> list[Other]:
    """Add a table that somebody else published about the same people."""
    return other_tables(add_file(project, file.filename or "", file.file, asked.service.settings.most_bytes))


def _parameters(name: str) -> list[Parameter]:
    return describe(plugins.load("methods", name))


def _told(one: Parameter) -> ParameterFacts:
    return ParameterFacts(
        name=one.name,
        kind=one.kind,
        words=str(one),
        about=one.doc,
        required=one.required,
        default=plain(one.default),
        choices=plain(list(one.choices)),
    )
