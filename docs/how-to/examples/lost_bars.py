"""A figure of how many words each model lacks."""

from biasgrid.figures import Example, Figure
from biasgrid.figures.frame import Frame, styled
from biasgrid.figures.rows import from_tables


@styled
def lost_bars(scores, labels):
    import seaborn

    lost = scores.groupby("model", as_index=False)["words_lost"].max()
    page = Frame(
        f"Up to {lost['words_lost'].max()} words are missing",
        "Words of a query that a model lacks",
        ["A bar is the query that a model lacks most of."],
    )
    axes = page.panel(0.3 * len(lost))
    seaborn.barplot(
        lost.assign(model=lost["model"].map(labels)), x="words_lost", y="model", ax=axes, errorbar=None
    )
    axes.set(xlabel="missing words", ylabel="", xlim=(0, None))
    return page.done()


FIGURES = (
    Figure(
        "lost-bars",
        "How many words of a query each model lacks at most.",
        from_tables(lost_bars),
        heading="Missing words by model",
        asks="How many words does each model lack?",
        learn="You learn which models answer another question than the query asks.",
        reads=("scores",),
        facts=("labels",),
        reading="A bar is a model: how many words it lacks of the query that it lacks most of. The longer a "
        "bar, the less the model's scores are about the query's words.",
        example=Example(
            "embedded",
            "lost-bars",
            {"query_id": "gender_sent_1", "metric": "weat", "debias": "none"},
            shown={"scores": ["words_lost"]},
        ),
    ),
)
