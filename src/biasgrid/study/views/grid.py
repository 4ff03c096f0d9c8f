"""Tables, ranks and figures of a grid of metrics, queries and models, measured in memory or in a finished study."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ...core import wefe_names
from ...core.errors import BiasgridError, is_among, not_allowed, quote, unknown_name
from ...core.keywords import checked_keywords
from ...measure.aggregation import OVERALL
from ..study import Study
from .frames import frame_of, left_out, states_of

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from matplotlib.figure import Figure

    Aggregation = str | Callable[[np.ndarray], float]
    Correlation = str | Callable[[np.ndarray, np.ndarray], float]

By = Literal["distance", "value"]
Ties = Literal["average", "min", "max", "dense", "first"]


@dataclass(frozen=True, repr=False, eq=False)
class Grid:
    """Metrics on queries and models, with tables and figures of their values.

    `measure_grid` and `open_study` return it. It can be pickled. Tables are computed on demand.

    Attributes
    ----------
    study
        The study with the results; for a grid in memory, a study without files.
    """

    study: Study

    @property
    def scores(self) -> pd.DataFrame:
        """Return every value of the grid: one row per criterion, (sub-)query, metric, model and debias method.

        Returns
        -------
        pandas.DataFrame
            The columns of a study's scores.csv. `value` lies in its metric's range; if it is NaN, `status` is
            the reason, otherwise "ok".
        """
        return self.frame("scores")

    def frame(self, name: str) -> pd.DataFrame:
        """Return a table of a study in long form, such as "rankings", "inference" or "words", as in its CSV file.

        Parameters
        ----------
        name
            The table's name; `biasgrid/tables` declares each, column by column.

        Raises
        ------
        BiasgridError
            The table is unknown, or the grid does not have it.
        """
        return frame_of(self.study, name, absent=True)

    @property
    def criteria(self) -> list[str]:
        """Return the criteria, in the order in which they were given."""
        return list(self.study.config.criteria)

    @property
    def metrics(self) -> list[str]:
        """Return the metrics' keys, in the order in which they were given."""
        return list(dict.fromkeys(key for name in self.criteria for key in self.study.metrics(name)))

    @property
    def models(self) -> list[str]:
        """Return the models' names; "<model> under <debias method>" for a debiased model."""
        from ...tables.published.study_values import unit

        return [unit(*state) for state in states_of(self.study)]

    def without(self, *queries: str) -> Grid:
        """Return the grid without some queries; nothing is measured again.

        Parameters
        ----------
        queries
            Keys of queries in the config, or their names.

        Raises
        ------
        BiasgridError
            The grid does not have a query, or none would be left.

        Examples
        --------
        >>> open_study("results/embedded").without("eth_1").rank()  # doctest: +SKIP
        """
        from ..results.partial_study import without

        return Grid(without(self.study, queries))

    def table(self, metric: str, criterion: str | None = None) -> pd.DataFrame:
        """Return a metric's values as models by queries, like WEFE's `run_queries`.

        Parameters
        ----------
        metric
            A metric's key.
        criterion
            One criterion; by default, all.

        Returns
        -------
        pandas.DataFrame
            Rows are models, columns (sub-)queries, both in order of first appearance. Without `criterion`,
            columns of a grid with several criteria are pairs of criterion and query. NaN if a value could not
            be computed: `scores` has the reason.
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
        """Return one number per model and metric, such as the mean absolute score.

        Parameters
        ----------
        how
            "abs_avg", "avg", "abs_sum" or "sum" (mean or sum, of values or of absolute values), or a function
            of an array of values; by default the grid's own, mostly "abs_avg". "standardized": mean
            standardised bias over queries, on ranked criteria of a grid with `random_groups`.
        criterion
            One criterion, or "Overall", all ranked ones together; by default, all.

        Returns
        -------
        pandas.DataFrame
            Rows are models, columns metrics. Without `criterion`, columns of a grid with several criteria are
            pairs of criterion and metric. Scores without a value are left out; NaN if none has a value.
            `frame("aggregates")` gives the number of scores left out, and the intervals of standardised bias.
        """
        from ...measure.statistics.scale import EXCESS
        from ...tables.aggregates import STANDARDIZED, aggregates, of_ranking

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
        """Rank the models under each metric: 1 is the least biased.

        Parameters
        ----------
        aggregation
            As in `aggregate`.
        by
            "distance": by the scores' distance from the metric's no-bias value; "value": by the scores, the
            smallest first, as WEFE does. Default: the grid's own, mostly "distance".
        ties
            Rank of equal values, as in pandas.Series.rank: "average", "min", "max", "dense" or "first" (by the
            models' names). Default: the grid's own, mostly "average".
        criterion
            One ranked criterion, or "Overall"; by default, all.

        Returns
        -------
        pandas.DataFrame
            Rows are models, columns as in `aggregate`. NaN if a model does not have a score.
        """
        return self._by_metric(self._rankings(aggregation, by, ties), "rank", criterion)

    def least_biased(self, criterion: str | None = None, *, debiased: bool = False) -> pd.DataFrame:
        """Return the least biased model according to each metric, and whether the result is clear.

        A model is clearly the least biased (`decided`) if it is significantly less biased than every other
        model that it can be compared with. Two models can be compared on five common queries, or on all
        queries of a criterion that has fewer. p-values are adjusted over all pairs of models. The level of 5
        % holds for each metric on each criterion: of 28 results, one or two may be wrong. Metrics of vectors
        compare models by standardised bias, which needs `random_groups`. A model with values on less than
        `ranking: coverage` of the queries is not ranked.

        Parameters
        ----------
        criterion
            One ranked criterion, or "Overall"; by default, all.
        debiased
            Whether to add a row for each debiased version of a model, which is compared only with that model.

        Returns
        -------
        pandas.DataFrame
            One row per criterion and metric. `model_label` is the model that is below most others, `decided`
            whether it is clearly the least biased, for these queries and other words. `p_adjusted` is the
            largest p-value among its comparisons. `undecided` lists the models from which it does not differ
            significantly. `smallest_difference` is detectable with 80 % power. `not_ranked` lists the models
            that are not ranked, with their number of queries. `queries` of `queries_of` were compared. For a
            debiased model, `decided` is whether it is less biased than the original. When printed,
            `model_label` is the "lowest model" and `decided` the "clear winner", as in a notebook.

        Raises
        ------
        BiasgridError
            The grid does not have a bootstrap.
        """
        from .least_biased import least_biased

        if not isinstance(debiased, bool):
            raise BiasgridError(not_allowed("debiased", debiased, "True, False"))
        names = self._criterion_names(criterion, overall=True)
        return least_biased(self.study, names, self.metrics, debiased)

    def reliability(self, criterion: str | None = None) -> pd.DataFrame:
        """Return how reliable each score is: reliability.csv (docs/intervals.md).

        Parameters
        ----------
        criterion
            One criterion; by default, all.

        Returns
        -------
        pandas.DataFrame
            Rows per (sub-)query, metric, model and `question`: "score", would another list change its sign?
            "words", are its words ordered reliably? "metrics", does another metric agree on them? `verdict`
            is the answer in one word, from the interval; `note` explains a missing answer.

        Raises
        ------
        BiasgridError
            The grid does not have `reliability` and a bootstrap.
        """
        table = self.frame("reliability")
        names = self._criterion_names(criterion)
        return table[table["criterion"].isin(names)].reset_index(drop=True)

    def summary(self) -> str:
        """Return the study's conclusions as text: the finding, and answers to four questions, by rule.

        Is there bias, and on which queries? Which model has least, and is that clear? Would other words
        change it? Does debiasing help? Then follow missing values, open questions, and the number of
        published numbers that are reproduced. The study's report begins with the same answers, and a run ends
        with them. Questions that the study does not ask are left out.

        Returns
        -------
        str
            Lines of at most 80 characters, which a prompt shows unchanged.

        Examples
        --------
        >>> study = open_study("results/embedded")  # doctest: +SKIP
        >>> study.summary()  # doctest: +SKIP
        """
        from ...tables.read_conclusions import conclusion_of
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
        """Compute how much the metrics agree: the correlations of their ranks of the models.

        Parameters
        ----------
        method
            "spearman", "kendall" (tau-b), "pearson", or a function of two arrays of ranks.
        aggregation, by, ties, criterion
            As in `rank`.

        Returns
        -------
        pandas.DataFrame
            Metrics by metrics, from -1 to 1; 0 means unrelated. Without `criterion`, rows of a grid with
            several criteria are pairs of criterion and metric. NaN if fewer than two models have a rank, or
            all have the same.
        """
        from ...tables.correlations import METHODS, correlations

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
        """Compare the grid's numbers with published ones, with a check of each.

        Parameters
        ----------
        published
            A CSV file of published numbers (data/published/README.md lists its columns), a DataFrame of that
            form, or a list of these; by default, the numbers that the study names.
        published_as
            Model's name -> the published model for the comparison; by default, the one with its own name.
        beside
            Model's name -> one or several published models of other vectors, whose numbers are shown without
            a check.

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
        """Return the words that a model lacks: one row per model, debias method, criterion, query, set and word."""
        from .lost_words import lost_words

        return lost_words(self.study)

    @property
    def left_out(self) -> pd.DataFrame:
        """Return the queries that do not fit a metric's template: criterion, query, metric, reason."""
        import pandas as pd

        return pd.DataFrame(
            left_out(self.study), columns=["criterion", "query", "metric", "reason"], dtype="str"
        )

    def to_markdown(self, table: str | pd.DataFrame | None = None, digits: int = 3) -> str:
        """Return a table in Markdown.

        Parameters
        ----------
        table
            A metric's key (`table`), or a frame, such as `grid.rank()`; by default, `aggregate()`.
        digits
            Decimals of numbers.
        """
        from .frame_texts import markdown

        return markdown(self._table(table), self._digits(digits))

    def to_latex(self, table: str | pd.DataFrame | None = None, digits: int = 3) -> str:
        """Return a table in LaTeX with booktabs rules; `table` and `digits` are as in `to_markdown`."""
        from .frame_texts import latex

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
        """Draw a figure of the grid.

        Parameters
        ----------
        kind
            "bias", "models", "scores", "rankings", "correlations", "rank-intervals", "null" and more:
            `biasgrid list figures`.
        path
            A file to write, with the suffix .png, .svg or .pdf; by default, no file is written.
        width
            The figure's width in a journal: a "page" (7 inches) or one "column" (3.4 inches). At this width,
            its text is at least 7 points high.
        published
            For kinds that compare with published numbers: as in `compare`.
        criterion, query, metric, model, debias, words
            The selection if there are several figures of the kind; `query` is a query's id, `words` a set's
            name. By default the first figure is drawn, and a warning lists the others. A figure of several
            metrics shows only the metrics in `metric`. "bias" shows the first metric, or `metric`;
            "rank-intervals" shows all criteria together, or `criterion`.
        page
            The page of a figure that has more rows than fit on 7 by 9 inches, from 1. By default the first page is
            drawn, and a warning says how many there are.

        Returns
        -------
        matplotlib.figure.Figure
            A figure outside pyplot; its `show()` shows it below a notebook's cell, or in a window.

        Raises
        ------
        BiasgridError
            The kind is unknown, or the grid lacks something that it needs, which the message names.
        """
        from ...figures.frame import as_wide_as
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
        from ...tables.rankings import rankings
        from ...tables.scales import ranking
        from ..in_memory.study_from_arguments import check_ranking

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
        """Return a long table of criteria and metrics as models by metrics."""
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

        from ...tables.published.study_values import unit

        states = states_of(self.study)
        wide = long.pivot(index=["model", "debias"], columns=list(columns), values=value)
        wide = wide.reindex(index=pd.MultiIndex.from_tuples(states)).reindex(
            columns=pd.MultiIndex.from_tuples(places, names=columns)
        )
        wide.index = pd.Index([unit(*state) for state in states], name="model")
        return wide.droplevel(0, axis=1) if criterion or len(self.criteria) == 1 else wide

    def _criterion_names(self, criterion: str | None, overall: bool = False) -> list[str]:
        """Return the requested criteria; with `overall` and several criteria also "Overall"."""
        overall_criterion = [OVERALL] * (overall and len(self.criteria) > 1)
        if criterion is None:
            return [*self.criteria, *overall_criterion]
        self._check("criterion", criterion, [*self.criteria, *([OVERALL] if overall else [])])
        return [criterion]

    @staticmethod
    def _check(what: str, name: Any, names: Iterable[str]) -> None:
        if not is_among(name, names := list(names)):
            raise BiasgridError(unknown_name(what, name, names))
