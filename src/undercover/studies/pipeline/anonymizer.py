"""A method as a scikit-learn transformer: rows in the order of their input, so that they stay beside their y.

Published rows are shuffled, since an order tells whose row is whose; a pipeline needs the order. What the transformer
hands on is therefore *not* the release but working material of the holder, as private as the table itself. The release
is ``anonymizer.run_.release``, shuffled as ever, and ``undercover.save(anonymizer.run_, folder)`` is what publishes.

scikit-learn is not imported here: its protocol is followed, and it may be absent.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any, Literal, Self, get_args

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from undercover.errors import DataError, InputError, ParameterError, listed, unknown
from undercover.forms import read as read_release
from undercover.guarantees.checking import Checkable
from undercover.io.source import Input, read, tidy
from undercover.model.frames.cells import CellsAs
from undercover.model.frames.rows import rows_of
from undercover.model.policy import Policy
from undercover.model.protocols import Method
from undercover.model.run import Run
from undercover.model.schema import Schema, check_schema
from undercover.studies.pipeline.places import known_rows, nearest_places, own_places
from undercover.verbs.apply import apply, check_fit, recipe_of
from undercover.verbs.publish import publish

_UNSEEN = ("refuse", "apply", "nearest")
_CELLS = get_args(CellsAs)
_FRAMES = ("pandas", "polars")


class Anonymizer:
    """A scikit-learn transformer: every row becomes the row that was published of it, in the order of the input.

    **What it returns is private.** Whoever sees the order knows whose row is whose. To publish, save ``run_``: its
    release has the same rows in a secret order. A fitted anonymizer holds the table it was fitted on, and so does a
    pipeline that is written to a file with it.

    A row is the published one that shows the person's own sensitive value, so that rows and y belong together as they
    do in the release. It has the quasi-identifiers and insensitive columns; sensitive columns are left to y. A row that
    was suppressed is ``*`` in generalised columns and missing in others and in numbers. Methods whose releases have no
    such row (buckets, a row for several people) are refused.

    Parameters
    ----------
    method, schema
        As in :func:`undercover.publish`. The sensitive column may be missing from X: it is y then.
    cells
        Generalised cells as ``"text"``, as numbers for an estimator (``"midpoint"``, or ``"bounds"`` in two columns),
        or as ``"interval"``; see :meth:`undercover.Release.table`.
    unseen
        What becomes of people it was not fitted on: ``"refuse"``; ``"apply"``, their table is anonymised by the same
        recipe, as in :func:`undercover.apply`, if it carries over; ``"nearest"``, they get the cells of the release
        that cover them or are nearest, as any recipient could give them.
    require, policy, seed
        As in :func:`undercover.publish`. ``policy="none"`` judges nothing, which is faster in searches.

    Attributes
    ----------
    run_
        The private run of the last fit: ``run_.release`` may be published, ``run_.verdict`` says whether it should.
    feature_names_in_, n_features_in_
        The columns of X.

    Examples
    --------
    >>> import pandas as pd
    >>> import undercover as uc
    >>> X = pd.DataFrame({"age": [31, 58, 34, 52]})
    >>> schema = uc.Schema(quasi_identifiers="age", sensitive="ill")
    >>> anonymizer = uc.Anonymizer(uc.Mondrian(k=2), schema, cells="midpoint", policy="none")
    >>> anonymizer.fit_transform(X, ["flu", "cold", "flu", "gout"])["age"].tolist()
    [32.5, 55.0, 32.5, 55.0]
    >>> anonymizer.run_.release.table()["age"].tolist()
    ['[31, 34]', '[31, 34]', '[52, 58]', '[52, 58]']
    """

    run_: Run

    def __init__(
        self,
        method: Method,
        schema: Schema,
        *,
        cells: CellsAs = "text",
        unseen: Literal["refuse", "apply", "nearest"] = "refuse",
        require: Sequence[Checkable | Mapping[str, Any]] = (),
        policy: Policy | str | Mapping[str, Any] | None = None,
        seed: int | None = None,
    ) -> None:
        self.method = method
        self.schema = schema
        self.cells = cells
        self.unseen = unseen
        self.require = require
        self.policy = policy
        self.seed = seed

    def fit(self, X: Any, y: Any = None) -> Self:
        """Anonymise X, with y as its sensitive column where X does not have it; warns where it is to be withheld."""
        check_schema(self.schema)
        for what, said, there in (("Unseen people:", self.unseen, _UNSEEN), ("Kind of cells", self.cells, _CELLS)):
            if said not in there:
                raise ParameterError(unknown(what, str(said), there))
        given = _frame(X)
        known = _with_values(given, self.schema, y)
        run = publish(known, self.schema, self.method, require=self.require, seed=self.seed, policy=self.policy)
        self._places = own_places(run, given.data.num_rows)
        self.feature_names_in_ = np.array(given.data.column_names, dtype=object)
        self.n_features_in_ = len(self.feature_names_in_)
        self._fitted, self.run_ = given.data, run
        if run.verdict.withheld:
            why = " ".join(reason.sentence() for reason in run.verdict.weighing("stop"))
            warnings.warn(f"Do not publish the release of this fit: {why}", UserWarning, stacklevel=2)
        return self

    def transform(self, X: Any) -> Any:
        """The rows of X as they were published, in the order of X: private."""
        self._must_be_fitted()
        given = _frame(X)
        check_fit(given, _of_people(recipe_of(self.run_).schema))
        places = self._known(given)
        if places is not None:
            return self._out(self.run_, places, X, given)
        if self.unseen == "nearest":
            return self._out(self.run_, nearest_places(self.run_, given.data), X, given)
        again = apply(self._recipe(given), given, seed=self.seed, policy="none")
        return self._out(again, own_places(again, given.data.num_rows), X, given)

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
        """Fit, and the rows as they were published, in the order of X: private."""
        self.fit(X, y, **fit_params)
        return self._out(self.run_, self._places, X, _frame(X))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """The columns of what is returned: published columns that are not sensitive."""
        self._must_be_fitted()
        none = rows_of(self.run_.release, np.empty(0, np.int64), self.cells, "pyarrow")
        return np.array(none.column_names, dtype=object)

    def set_output(self, *, transform: Literal["default", "pandas", "polars"] | None = None) -> Self:
        """Return frames of one kind; by default of the kind that was given."""
        if transform not in (None, "default", *_FRAMES):
            raise ParameterError(unknown("Kind of output", str(transform), ("default", *_FRAMES)))
        if transform is not None:
            self._sklearn_output_config = {"transform": transform}
        return self

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters; ``deep`` has those of the method, too: ``method__k``."""
        names = ("method", "schema", "cells", "unseen", "require", "policy", "seed")
        found = {name: getattr(self, name) for name in names}
        if deep and is_dataclass(self.method):
            found |= {f"method__{own.name}": getattr(self.method, own.name) for own in fields(self.method) if own.init}
        return found

    def set_params(self, **params: Any) -> Self:
        """Change parameters, of the method by ``method__k=10``."""
        for name in params:
            if name not in self.get_params():
                raise ParameterError(unknown("Parameter of Anonymizer", name, tuple(self.get_params())))
        own = {name: value for name, value in params.items() if "__" not in name}
        for name, value in own.items():
            setattr(self, name, value)
        inner = {name.removeprefix("method__"): value for name, value in params.items() if name not in own}
        if inner:
            self.method = replace(self.method, **inner)  # type: ignore[type-var]
        return self

    def __repr__(self) -> str:
        defaults = {"cells": "text", "unseen": "refuse", "require": (), "policy": None, "seed": None}
        changed = [f"{name}={getattr(self, name)!r}" for name, one in defaults.items() if getattr(self, name) != one]
        return f"Anonymizer({', '.join([repr(self.method), repr(self.schema), *changed])})"

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "run_")

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags, TransformerTags

        takes = InputTags(two_d_array=False, string=True, categorical=True, allow_nan=True)
        keeps = TransformerTags(preserves_dtype=[])
        return Tags(None, TargetTags(required=False), keeps, input_tags=takes, non_deterministic=self.seed is None)

    def _must_be_fitted(self) -> None:
        if not self.__sklearn_is_fitted__():
            raise InputError("The anonymizer has seen nobody yet. Call fit or fit_transform first.")

    def _known(self, given: Input) -> NDArray[np.int64] | None:
        """The published rows of people it was fitted on; none where others are among them and may be."""
        shared = [name for name in self._fitted.column_names if name in given.data.column_names]
        fitted, new = self._fitted.select(shared), given.data.select(shared)
        if new.equals(fitted):
            return self._places
        alike = read_release(self.run_.release).rows_alike(()).labels
        rows, torn = known_rows(fitted, new, np.where(self._places < 0, -1, alike[self._places]))
        strangers = int((rows < 0).sum())
        if (strangers or torn) and self.unseen != "refuse":
            return None
        if strangers:
            raise InputError(
                f"{strangers:,} of the {len(rows):,} rows are of people the anonymizer was not fitted on, and what was "
                'made of others is not about them. Say unseen="apply" to anonymise their table by the same recipe, '
                'unseen="nearest" to give them the nearest cells of the release, or fit it on them.'
            )
        if torn:
            raise DataError(
                f"{torn:,} of the {len(rows):,} rows fit several people who were published differently. Hand over the "
                "table it was fitted on as it was, or with an identifier in both."
            )
        return self._places[rows]

    def _recipe(self, given: Input) -> Run:
        """The run whose recipe is applied to new people; sensitive columns that they lack are left out."""
        lacking = [name for name in self.run_.schema.sensitive if name not in given.data.column_names]
        return replace(self.run_, schema=_leaving_out(self.run_.schema, lacking)) if lacking else self.run_

    def _out(self, run: Run, places: NDArray[np.int64], X: Any, given: Input) -> Any:
        """Published rows in the kind of frame that is wanted, labelled as X where both are of pandas."""
        wanted = getattr(self, "_sklearn_output_config", {}).get("transform")
        learning: Any = sys.modules.get("sklearn")
        if wanted is None and learning is not None:
            wanted = learning.get_config()["transform_output"]
        kind = wanted if wanted in _FRAMES else given.frame
        found = rows_of(run.release, places, self.cells, kind)
        names = found.column_names if kind == "pyarrow" else list(found.columns)
        fitted = self.get_feature_names_out().tolist()
        if names != fitted:
            raise InputError(
                f"The recipe does not carry over: it was fitted with the columns {listed(fitted)}, and of these people "
                f'{listed(names)} were made. Ask for smaller groups, or say cells="text".'
            )
        return found.set_axis(X.index, axis=0) if kind == given.frame == "pandas" else found


def _frame(X: Any) -> Input:
    if isinstance(X, np.ndarray | list):
        raise DataError(
            f"An anonymizer takes a pandas, polars or pyarrow frame, whose columns have names. Got {type(X).__name__} "
            "instead; make it the first step of a pipeline."
        )
    return read(X)


def _with_values(given: Input, schema: Schema, y: Any) -> Input:
    """The table with y as its sensitive column, where it lacks one."""
    lacking = [name for name in schema.sensitive if name not in given.data.column_names]
    if len(lacking) != 1:
        return given
    if y is None:
        raise DataError(f"The sensitive column `{lacking[0]}` is not in X. Add it, or hand it over as y.")
    if hasattr(y, "to_arrow"):
        y = y.to_arrow()
    own = isinstance(y, pa.Array | pa.ChunkedArray)
    values = y if own else pa.array(np.ravel(y) if isinstance(y, np.ndarray) else y, from_pandas=True)
    if len(values) != given.data.num_rows:
        raise DataError(f"X has {given.data.num_rows:,} rows and y {len(values):,}. They must be of the same people.")
    column = tidy(pa.table({lacking[0]: values}), where="y").column(0)
    return replace(given, data=given.data.append_column(lacking[0], column))


def _leaving_out(schema: Schema, names: Sequence[str]) -> Schema:
    """The schema without some sensitive columns."""
    columns = {name: one for name, one in schema.columns.items() if name not in names}
    return replace(schema, sensitive=tuple(name for name in schema.sensitive if name not in names), columns=columns)


def _of_people(schema: Schema) -> Schema:
    """What somebody new must have."""
    own = (*schema.quasi_identifiers, *schema.insensitive)
    columns = {name: schema.column(name) for name in own}
    return Schema(quasi_identifiers=schema.quasi_identifiers, insensitive=schema.insensitive, columns=columns)
