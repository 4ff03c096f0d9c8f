# Cells -> scores -> aggregates, rankings, correlations, comparison with published numbers.


rule scores:
    input:
        cells=[cell_file(cell) for cell in STUDY.cells.values()],
        code=source("tables.py"),
    output:
        f"{RESULTS}/scores.csv",
    run:
        from biasgrid import tables

        step("scores", lambda: tables.write(tables.scores(input.cells), output[0]))


rule aggregates:
    input:
        scores=rules.scores.output[0],
        code=source("tables.py"),
    output:
        f"{RESULTS}/aggregates.csv",
    params:
        ranked=json.dumps(STUDY.ranked),
    run:
        from biasgrid import tables

        step("aggregates", lambda: tables.write(tables.aggregates(tables.read(input.scores), STUDY.ranked), output[0]))


rule rankings:
    input:
        scores=rules.scores.output[0],
        code=source("tables.py"),
    output:
        f"{RESULTS}/rankings.csv",
    params:
        ranking=json.dumps(STUDY.ranking, sort_keys=True),
    run:
        from biasgrid import tables

        step("rankings", lambda: tables.write(tables.rankings(tables.read(input.scores), **STUDY.ranking), output[0]))


rule correlations:
    input:
        rankings=rules.rankings.output[0],
        code=source("tables.py"),
    output:
        f"{RESULTS}/correlations.csv",
    params:
        methods=json.dumps(STUDY.config["correlations"]),
    run:
        from biasgrid import tables

        step(
            "correlations",
            lambda: tables.write(
                tables.correlations(tables.read(input.rankings), STUDY.config["correlations"]), output[0]
            ),
        )


rule comparison:
    input:
        tables=[f"{RESULTS}/{name}.csv" for name in ("scores", "aggregates", "rankings", "correlations")],
        published=STUDY.config["published"],
        code=source("comparison.py"),
    output:
        f"{RESULTS}/comparison.csv",
    params:
        published_as=json.dumps(STUDY.published_as, sort_keys=True),
    run:
        from biasgrid import comparison, tables

        step("comparison", lambda: tables.write(comparison.of_study(RESULTS, input.published, STUDY.published_as), output[0]))
