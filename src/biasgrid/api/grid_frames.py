"""What a grid of metrics, queries and models says: in memory (`measure_grid`), or of a finished study."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from .. import wefe_names
from ..errors import BiasgridError, is_among, not_allowed, quote, unknown_name
from ..keywords import checked_keywords
from ..plan.study import Study
from ..statistics.aggregation import OVERALL
from .measured_study import frame_of, left_out, states_of

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from matplotlib.figure import Figure

    from .measured_study import MeasuredStudy
    from .study import FinishedStudy

    Aggregation = str | Callable[[np.ndarray], float]
    Correlation = str | Callable[[np.ndarray, np.ndarray], float]

By = Literal["distance", "value"]
Ties = Literal["average", "min", "max", "dense", "first"]


@dataclass(frozen=True, repr=False, eq=False)
class Grid:
    """Metrics on queries on models, with what follows from their values: `measure_grid` and `open_study` make it.

    It can be pickled. Tables are made when they are asked for.

    Attributes
    ----------
    study
        The study that it is of: for a grid in memory, one without files.
    """

    study: Study

    @property
    def scores(self) -> pd.DataFrame:
        """Every value of the grid: one row per criterion, (sub-)query, metric, model and debias method.

        Returns
        -------
        pandas.DataFrame
            The columns of a study's scores.csv. `value` lies in its metric's range; where it is NaN, `status` is the
            reason, else "ok".
        """
        return self.frame("scores")

    def frame(self, name: str) -> pd.DataFrame:
        """A table of a study in long form, such as "rankings", "inference" or "words", as its CSV file has it.

        Parameters
        ----------
        name
            The table's; `biasgrid/tables` declares each, column by column.

        Raises
        ------
        BiasgridError
            For an unknown table, and one that the grid does not have.
        """
        return frame_of(self.study, name, absent=True)

    @property
    def criteria(self) -> list[str]:
        """The criteria, in the order in which they were given."""
        return list(self.study.config.criteria)

    @property
    def metrics(self) -> list[str]:
        """The metrics' keys, in the order in which they were given."""
        return list(dict.fromkeys(key for name in self.criteria for key in self.study.metrics(name)))

    @property
    def models(self) -> list[str]:
        """The models' names; "<model> under <debias method>" for a debiased one."""
        from ..comparison.study_values import unit

        return [unit(*state) for state in states_of(self.study)]

    def without(self, *queries: str) -> Grid:
        """The same grid without some queries: what the others say. Nothing is measured.

        Parameters
        ----------
        queries
            Keys of queries in the config, or their names.

        Raises
        ------
        BiasgridError
            For a query that the grid does not have, and where none would be left.

        Examples
        --------
        >>> open_study("results/embedded").without("eth_1").rank()  # doctest: +SKIP
        """
        from .partial_study import without

        return Grid(without(cast("FinishedStudy | MeasuredStudy", self.study), queries))

    def table(self, metric: str, criterion: str | None = None) -> pd.DataFrame:
        """A metric's values, models by queries: WEFE's `run_queries`.

        Parameters
        ----------
        metric
            A metric's key.
        criterion
            One criterion; left out: all.

        Returns
        -------
        pandas.DataFrame
            Rows are models, columns (sub-)queries, both in order of first appearance; of a grid with several
            criteria, and none given, columns are pairs of criterion and query. NaN where there is no value: `scores`
            has the reason.
        """
        self._check("metric", metric, self.metrics)
        scores = frame_of(self.study, "scores")
        places = [
            (name, sub.name)
            for name in self._criterion_names(criterion)
            if metric in self.study.metrics(name)
            for query in (self.study.queries[key] for key in self.study.config.criteria[name].queries)
            for template in [self.study.metric(name, metric).template]
            if query.fits(template)
            for sub in query.subqueries(template)
        ]
        long = scores[
            (scores["metric"] == metric) & scores["criterion"].isin(self._criterion_names(criterion))
        ]
        return self._wide(long, ["criterion", "query"], "value", list(dict.fromkeys(places)), criterion)

    def aggregate(self, how: Aggregation | None = None, criterion: str | None = None) -> pd.DataFrame:
        """Each model's scores in one number per metric.

        Parameters
        ----------
        how
            "abs_avg", "avg", "abs_sum" or "sum" (mean or sum, of values or of absolute values), or a function of an
            array of values; left out: the grid's own, mostly "abs_avg". "standardized": mean standardised bias over
            queries, on ranked criteria of a grid with `random_groups`.
        criterion
            One criterion, or "Overall", all ranked ones together; left out: all.

        Returns
        -------
        pandas.DataFrame
            Rows are models, columns metrics; of a grid with several criteria, and none given, pairs of criterion and
            metric. Scores without a value are left out; NaN where none has a value. `frame("aggregates")` says how
            many were left out, and has the intervals of standardised bias.
        """
        from ..statistics.scale import EXCESS
        from ..tables.aggregates import STANDARDIZED, aggregates, of_ranking

        if how == "excess":
            raise BiasgridError(EXCESS)
        if how == STANDARDIZED:
            long = of_ranking(frame_of(self.study, "aggregates"), self.study.config.aggregation)
            return self._by_metric(long, STANDARDIZED, criterion)
        how = self.study.config.aggregation if how is None else how
        long = aggregates(frame_of(self.study, "scores"), sorted(self.study.ranked_criteria), [how])
        return self._by_metric(long, "value", criterion)

    @checked_keywords(wefe_names.RANKING)
    def rank(
        self,
        aggregation: Aggregation | None = None,
        *,
        by: By | None = None,
        ties: Ties | None = None,
        criterion: str | None = None,
    ) -> pd.DataFrame:
        """The models' ranks under each metric: 1 is the least biased.

        Parameters
        ----------
        aggregation
            As in `aggregate`.
        by
            "distance": by the distance of the scores from the metric's neutral value; "value": by the scores, the
            smallest first, as WEFE does. Left out: the grid's own, mostly "distance".
        ties
            Rank of equal values, as in pandas.Series.rank: "average", "min", "max", "dense" or "first" (by the
            models' names). Left out: the grid's own, mostly "average".
        criterion
            One ranked criterion, or "Overall"; left out: all.

        Returns
        -------
        pandas.DataFrame
            Rows are models, columns as those of `aggregate`. NaN where a model has no score.
        """
        return self._by_metric(self._rankings(aggregation, by, ties), "rank", criterion)

    def least_biased(self, criterion: str | None = None, *, debiased: bool = False) -> pd.DataFrame:
        """Which model each metric finds the least biased, and whether that is decided.

        A model is decided to be the least biased if it is significantly less biased than every other model that it
        can be compared with (on five queries that both have, or on all of a criterion that has fewer): p-values are
        adjusted over all pairs of models. 5 % holds for each metric on each criterion: of 28 decisions, one or two
        may be wrong. Metrics of vectors compare models by standardised bias, which needs `random_groups`. A model
        with values on less than `ranking: coverage` of the queries is not ranked.

        Parameters
        ----------
        criterion
            One ranked criterion, or "Overall"; left out: all.
        debiased
            Whether a row follows for each debiased state of a model, which is compared with that model alone.

        Returns
        -------
        pandas.DataFrame
            One row per criterion and metric. `model_label` is the model that is below most others, `decided` says
            whether it is decided to be the least biased, for these queries and other words. `p_adjusted` is the
            largest p-value over the models that it was compared with; `undecided` has those of which it is not
            decided, `smallest_difference` what would be found with 80 % power, `not_ranked` the models that are not
            ranked, with the number of queries that they have. `queries` of `queries_of` were compared. Of a debiased
            state `decided` says whether it is less biased than its model.
            Printed, `model_label` is the "lowest model" and `decided` says "clear winner"; a notebook shows the same.

        Raises
        ------
        BiasgridError
            For a grid without a bootstrap.
        """
        from .least_biased import least_biased

        if not isinstance(debiased, bool):
            raise BiasgridError(not_allowed("debiased", debiased, "True, False"))
        names = self._criterion_names(criterion, overall=True)
        return least_biased(self.study, names, self.metrics, debiased)

    def reliability(self, criterion: str | None = None) -> pd.DataFrame:
        """How far each score can be trusted: reliability.csv (docs/reliability.md).

        Parameters
        ----------
        criterion
            One criterion; left out: all.

        Returns
        -------
        pandas.DataFrame
            Rows per (sub-)query, metric, model and `question`: "score", would another list turn it? "words", are its
            words ordered reliably? "metrics", does another metric agree on them? `verdict` says it in a word, from
            the interval; `note` why there is none.

        Raises
        ------
        BiasgridError
            Of a grid without `reliability` and a bootstrap.
        """
        table = self.frame("reliability")
        names = self._criterion_names(criterion)
        return table[table["criterion"].isin(names)].reset_index(drop=True)

    def summary(self) -> str:
        """Return what the study says: the finding, and answers to four questions, by rule.

        Is there bias, and on which queries? Which model has least, and is that clear? Would other words change it?
        Does debiasing help? Then what is missing, what cannot be told, and how many published numbers are
        reproduced. The page of a study begins with the same answers, and a run ends with them. A question that the
        study does not ask is left out.

        Returns
        -------
        str
            Lines of at most 80 characters, which a prompt shows as they are.

        Examples
        --------
        >>> study = open_study("results/embedded")  # doctest: +SKIP
        >>> study.summary()  # doctest: +SKIP
        """
        from ..tables.answers import conclusion_of
        from .summary_text import SummaryText

        return SummaryText.of(conclusion_of(self.study))

    def correlate(
        self,
        method: Correlation = "spearman",
        *,
        aggregation: Aggregation | None = None,
        by: By | None = None,
        ties: Ties | None = None,
        criterion: str | None = None,
    ) -> pd.DataFrame:
        """How much the metrics agree: the correlation of the ranks that they give the models.

        Parameters
        ----------
        method
            "spearman", "kendall" (tau-b), "pearson", or a function of two arrays of ranks.
        aggregation, by, ties, criterion
            As in `rank`.

        Returns
        -------
        pandas.DataFrame
            Metrics by metrics, from -1 to 1; 0 is no relation. Of a grid with several criteria, and none given, rows
            are pairs of criterion and metric. NaN where fewer than two models have a rank, or all have one rank.
        """
        from ..tables.correlations import METHODS, correlations

        if not callable(method) and not is_among(method, METHODS):
            raise BiasgridError(unknown_name("method", method, METHODS, "or a function of two arrays"))
        long = correlations(self._rankings(aggregation, by, ties), [method])
        names = self._criterion_names(criterion, overall=True)
        long = long[long["criterion"].isin(names)]
        wide = long.pivot(index=["criterion", "metric_a"], columns="metric_b", values="correlation")
        keys = [key for key in self.metrics if key in wide.columns]
        order = [(name, key) for name in names for key in keys if (name, key) in wide.index]
        wide = wide.reindex(order)[keys].rename_axis(index=["criterion", "metric"], columns="metric")
        return wide.droplevel("criterion") if len(names) == 1 else wide

    def compare(
        self,
        published: Any = None,
        *,
        published_as: Mapping[str, str] | None = None,
        beside: Mapping[str, str | Sequence[str]] | None = None,
    ) -> pd.DataFrame:
        """The grid's numbers beside published ones, with a verdict on each.

        Parameters
        ----------
        published
            A CSV file of published numbers (data/published/README.md has its columns), a DataFrame of that form, or
            a list of these; left out: those that the study names.
        published_as
            Model's name -> the published model that its numbers are compared with; left out: one of its own name.
        beside
            Model's name -> a published model of other vectors, or a list of several, whose numbers are shown and not
            judged.

        Returns
        -------
        pandas.DataFrame
            The columns of a study's comparison.csv: one row per published number of a model that the grid has.
        """
        from .drawings import compare_with

        if published is None:
            return self.frame("comparison")
        return compare_with(self.study, published, published_as, beside)

    @property
    def lost_words(self) -> pd.DataFrame:
        """The words that a model lacks: one row per model, debias method, criterion, query, set and word."""
        from .lost import lost_words

        return lost_words(self.study)

    @property
    def left_out(self) -> pd.DataFrame:
        """The queries that do not fit a metric's template and are not measured: criterion, query, metric, reason."""
        import pandas as pd

        return pd.DataFrame(
            left_out(self.study), columns=["criterion", "query", "metric", "reason"], dtype="str"
        )

    def to_markdown(self, table: str | pd.DataFrame | None = None, digits: int = 3) -> str:
        """A table in Markdown.

        Parameters
        ----------
        table
            A metric's key (`table`), or a frame, such as `grid.rank()`; left out: `aggregate()`.
        digits
            Decimals of numbers.
        """
        from .texts import markdown

        return markdown(self._table(table), self._digits(digits))

    def to_latex(self, table: str | pd.DataFrame | None = None, digits: int = 3) -> str:
        """A table in LaTeX, with the rules of the package booktabs; `table` and `digits` as in `to_markdown`."""
        from .texts import latex

        return latex(self._table(table), self._digits(digits))

    @checked_keywords()
    def plot(
        self,
        kind: str = "scores",
        *,
        path: Path | str | None = None,
        width: Literal["page", "column"] = "page",
        published: Any = None,
        criterion: str | None = None,
        query: str | None = None,
        metric: str | Sequence[str] | None = None,
        model: str | None = None,
        debias: str | None = None,
        words: str | None = None,
        page: int | None = None,
    ) -> Figure:
        """A figure of the grid.

        Parameters
        ----------
        kind
            "bias", "models", "scores", "rankings", "correlations", "rank-intervals", "null" and more:
            `biasgrid list figures`.
        path
            A file to write, whose suffix (.png, .svg, .pdf) says the format; left out: none is written.
        width
            What the figure is to fill: a journal's "page" (7 inches) or one "column" of it (3.4 inches), at which its
            text is 7 points high at least.
        published
            Of kinds that compare with published numbers: as in `compare`.
        criterion, query, metric, model, debias, words
            Which figure, where there are several of the kind; `query` is a query's id, `words` a set's name. If left
            out, the first, and a warning says what others there are. A figure of several metrics is drawn of those in
            `metric` alone; "bias" is drawn of the first metric, or of `metric`; "rank-intervals" of all criteria
            together, or of `criterion`.
        page
            Which page of a figure that has more rows than fit onto 7 by 9 inches, from 1. Left out: the first, and a
            warning if there are more.

        Returns
        -------
        matplotlib.figure.Figure
            It is unknown to pyplot; its `show()` shows it: below a notebook's cell, or in a window.

        Raises
        ------
        BiasgridError
            For an unknown kind, and one that the grid lacks something for: what that is.
        """
        from ..figures.frame import as_wide_as
        from .drawings import plot_study

        for key in () if metric is None else metric if isinstance(metric, (list, tuple)) else [metric]:
            self._check("metric", key, self.metrics)
        which = {
            "criterion": criterion,
            "query": query,
            "metric": metric,
            "model": model,
            "debias": debias,
            "words": words,
        }
        conditions = {name: value for name, value in which.items() if value is not None}
        for name, value in conditions.items():
            if name != "metric" and not isinstance(value, str):
                raise BiasgridError(not_allowed(name, value, "text"))
        with as_wide_as(width):
            return plot_study(self.study, kind, conditions, path, published, page)

    def __repr__(self) -> str:
        return f"<Grid {self._summary()}>"

    def _repr_html_(self) -> str:
        from .grid_html import grid_html

        return grid_html(self.study, f"Grid of {self._summary()}")

    def _summary(self) -> str:
        values = frame_of(self.study, "scores")["value"]
        count = f"{len(values)} score{'s' * (len(values) != 1)}"
        if missing := int(values.isna().sum()):
            count += f" ({missing} without a value)"
        queries = sum(len(entry.queries) for entry in self.study.config.criteria.values())
        sizes = [(len(self.metrics), "metrics"), (queries, "queries"), (len(self.models), "models")]
        singular = {"metrics": "metric", "queries": "query", "models": "model"}
        counts = ", ".join(f"{n} {what if n != 1 else singular[what]}" for n, what in sizes)
        return f"{counts}: {count}"

    def _rankings(self, aggregation: Aggregation | None, by: str | None, ties: str | None) -> pd.DataFrame:
        from ..tables.rankings import rankings
        from ..tables.scales import ranking
        from .grid_config import check_ranking

        settings = ranking(self.study)
        choices = {"aggregation": aggregation, "by": by, "ties": ties}
        settings |= {name: value for name, value in choices.items() if value is not None}
        check_ranking(settings["by"], settings["ties"])
        return rankings(frame_of(self.study, "scores"), **settings)

    def _table(self, table: str | pd.DataFrame | None) -> pd.DataFrame:
        if table is None:
            return self.aggregate()
        if isinstance(table, str):
            return self.table(table)
        if not hasattr(table, "columns"):
            raise BiasgridError(f"table: expected a metric's key or a DataFrame, not {quote(table)}")
        return table

    @staticmethod
    def _digits(digits: int) -> int:
        if isinstance(digits, bool) or not isinstance(digits, int) or not 0 <= digits <= 17:
            raise BiasgridError(not_allowed("digits", digits, "whole numbers from 0 to 17"))
        return digits

    def _by_metric(self, long: pd.DataFrame, value: str, criterion: str | None) -> pd.DataFrame:
        """A long table of criteria and metrics, models by metrics."""
        pairs = set(zip(long["criterion"], long["metric"], strict=True))
        names = self._criterion_names(criterion, overall=True)
        places = [(name, key) for name in names for key in self.metrics if (name, key) in pairs]
        return self._wide(long, ["criterion", "metric"], value, places, criterion)

    def _wide(
        self,
        long: pd.DataFrame,
        columns: Sequence[str],
        value: str,
        places: Sequence[tuple[str, str]],
        criterion: str | None,
    ) -> pd.DataFrame:
        import pandas as pd

        from ..comparison.study_values import unit

        states = states_of(self.study)
        wide = long.pivot(index=["model", "debias"], columns=list(columns), values=value)
        wide = wide.reindex(index=pd.MultiIndex.from_tuples(states)).reindex(
            columns=pd.MultiIndex.from_tuples(places, names=columns)
        )
        wide.index = pd.Index([unit(*state) for state in states], name="model")
        return wide.droplevel(0, axis=1) if criterion or len(self.criteria) == 1 else wide

    def _criterion_names(self, criterion: str | None, overall: bool = False) -> list[str]:
        """The criteria that are asked for; "Overall" where it is not the same as the only one."""
        overall_criterion = [OVERALL] * (overall and len(self.criteria) > 1)
        if criterion is None:
            return [*self.criteria, *overall_criterion]
        self._check("criterion", criterion, [*self.criteria, *([OVERALL] if overall else [])])
        return [criterion]

    @staticmethod
    def _check(what: str, name: Any, names: Iterable[str]) -> None:
        if not is_among(name, names := list(names)):
            raise BiasgridError(unknown_name(what, name, names))
