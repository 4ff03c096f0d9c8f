# Cells -> scores -> aggregates, rankings, correlations, comparison with published numbers; how sure all of that is.
from biasgrid import tables


rule scores:
    input:
        cells=[str(STUDY.cell_file(cell)) for cell in STUDY.cells.values()],
        inferences=[str(STUDY.inference_file(group[0])) for group in STUDY.inference_groups.values()],
        code=[source("tables.py")] + [source("families.py")] * bool(STUDY.inferences),
    output:
        f"{RESULTS}/scores.csv",
    log:
        f"{LOGS}/scores.txt",
    params:
        shown=SHOWN,
    run:
        step("scores", log[0], tables.make, STUDY, "scores")


rule aggregates:
    input:
        scores=rules.scores.output[0],
        code=source("tables.py"),
    output:
        f"{RESULTS}/aggregates.csv",
    log:
        f"{LOGS}/aggregates.txt",
    params:
        ranked=json.dumps(sorted(STUDY.ranked)),
    run:
        step("aggregates", log[0], tables.make, STUDY, "aggregates")


rule rankings:
    input:
        scores=rules.scores.output[0],
        samples=VALUE_SAMPLES,
        code=RANKED_BY,
    output:
        f"{RESULTS}/rankings.csv",
        RANK_SAMPLES,
    log:
        f"{LOGS}/rankings.txt",
    params:
        ranking=json.dumps(STUDY.ranking, sort_keys=True),
        sampled=SAMPLED,
    run:
        step("rankings", log[0], tables.make, STUDY, "rankings")


rule correlations:
    input:
        rankings=rules.rankings.output,
        code=RANKED_BY,
    output:
        f"{RESULTS}/correlations.csv",
    log:
        f"{LOGS}/correlations.txt",
    params:
        methods=json.dumps(STUDY.config["correlations"]),
        sampled=SAMPLED,
    run:
        step("correlations", log[0], tables.make, STUDY, "correlations")


# scores.csv's tests, intervals and sensitivity in full; not the cells' rule, which is called inference
rule inference_table:
    input:
        inferences=rules.scores.input.inferences,
        code=[source(f"{name}.py") for name in ("uncertainty", "families", "tables")],
    output:
        f"{RESULTS}/inference.csv",
    log:
        f"{LOGS}/inference_table.txt",
    params:
        ranges=json.dumps(sorted([*names, *ends] for names, ends in STUDY.ranges.items())),
    run:
        step("inference table", log[0], tables.make, STUDY, "inference")


rule influence:
    input:
        inferences=rules.scores.input.inferences,
        code=[source("uncertainty.py"), source("tables.py")],
    output:
        f"{RESULTS}/influence.csv",
    log:
        f"{LOGS}/influence.txt",
    run:
        step("influence", log[0], tables.make, STUDY, "influence")


rule rank_intervals:
    input:
        rankings=rules.rankings.output,
        code=RANKED_BY,
    output:
        f"{RESULTS}/rank_intervals.csv",
    log:
        f"{LOGS}/rank_intervals.txt",
    params:
        sampled=SAMPLED,
    run:
        step("rank intervals", log[0], tables.make, STUDY, "rank_intervals")


rule order:
    input:
        rankings=rules.rankings.output,
        code=RANKED_BY,
    output:
        f"{RESULTS}/order.csv",
    log:
        f"{LOGS}/order.txt",
    run:
        step("order", log[0], tables.make, STUDY, "order")


# what metrics say besides their value
rule scalars:
    input:
        cells=rules.scores.input.cells,
        code=source("tables.py"),
    output:
        f"{RESULTS}/scalars.csv",
    log:
        f"{LOGS}/scalars.txt",
    run:
        step("scalars", log[0], tables.make, STUDY, "scalars")


rule contrasts:
    input:
        cells=[str(STUDY.cell_file(cell)) for cell in STUDY.contrasting],
        code=source("tables.py"),
    output:
        f"{RESULTS}/contrasts.csv",
    log:
        f"{LOGS}/contrasts.txt",
    run:
        step("contrasts", log[0], tables.make, STUDY, "contrasts")


rule analogies:
    input:
        evaluations=[str(STUDY.evaluation_file(e)) for e in STUDY.questioned],
        code=[source(f"{name}.py") for name in ("analogy", "tables", "mitigation")],
    output:
        f"{RESULTS}/analogies.csv",
    log:
        f"{LOGS}/analogies.txt",
    run:
        step("analogies", log[0], tables.make, STUDY, "analogies")


rule analogy_summary:
    input:
        evaluations=rules.analogies.input.evaluations,
        code=rules.analogies.input.code,
    output:
        f"{RESULTS}/analogy_summary.csv",
    log:
        f"{LOGS}/analogy_summary.txt",
    run:
        step("analogy summary", log[0], tables.make, STUDY, "analogy_summary")


# how far apart the directions lie that groups can be said to differ in
rule directions:
    input:
        cells=[str(STUDY.cell_file(cell)) for cell in STUDY.directed],
        code=source("tables.py"),
    output:
        f"{RESULTS}/directions.csv",
    log:
        f"{LOGS}/directions.txt",
    run:
        step("directions", log[0], tables.make, STUDY, "directions")


# what metrics say of each word, where a criterion asks for it
rule words:
    input:
        cells=[str(STUDY.cell_file(cell)) for cell in STUDY.worded],
        code=source("tables.py"),
    output:
        f"{RESULTS}/words.csv",
    log:
        f"{LOGS}/words.txt",
    run:
        step("words", log[0], tables.make, STUDY, "words")


# how that goes with ratings of the words by people
rule ratings:
    input:
        words=rules.words.output[0],
        ratings=RATINGS,
        code=[source("ratings.py"), source("tables.py")],
    output:
        f"{RESULTS}/ratings.csv",
    log:
        f"{LOGS}/ratings.txt",
    params:
        rated=RATED,
    run:
        step("ratings", log[0], tables.make, STUDY, "ratings")


rule comparison:
    input:
        tables=[f"{RESULTS}/{name}.csv" for name in ("aggregates", "rankings", "correlations")],
        cells=rules.scores.input.cells,
        inferences=rules.scores.input.inferences,
        evaluations=[str(STUDY.evaluation_file(e)) for e in STUDY.evaluations.values()],
        ratings=rules.ratings.output[0] if STUDY.rated else [],
        published=STUDY.compared,
        code=[source("comparison.py"), source("mitigation.py")],
    output:
        f"{RESULTS}/comparison.csv",
    log:
        f"{LOGS}/comparison.txt",
    params:
        published_as=json.dumps(sorted([*unit, other] for unit, other in STUDY.published_as.items())),
        beside=json.dumps(STUDY.config["beside"], sort_keys=True),
        computed=STUDY.config["computed"],
    run:
        step("comparison", log[0], tables.make, STUDY, "comparison")


rule mitigation:
    input:
        scores=rules.scores.output[0],
        evaluations=[str(STUDY.evaluation_file(e)) for e in STUDY.evaluations.values()],
        code=[source("mitigation.py"), source("tables.py")],
    output:
        f"{RESULTS}/mitigation.csv",
    log:
        f"{LOGS}/mitigation.txt",
    params:
        neutral=json.dumps(sorted([*names, value] for names, value in STUDY.neutrals.items())),
    run:
        step("mitigation", log[0], tables.make, STUDY, "mitigation")


rule quality:
    input:
        evaluations=[str(STUDY.evaluation_file(e)) for e in STUDY.quality.values()],
        code=[source(f"{name}.py") for name in ("quality", "tables", "mitigation", "evaluation/similarity")],
    output:
        f"{RESULTS}/quality.csv",
    log:
        f"{LOGS}/quality.txt",
    run:
        step("quality", log[0], tables.make, STUDY, "quality")
