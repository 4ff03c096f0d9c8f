# Cells, their inference and evaluations -> tables; each is declared in src/biasgrid/tables. Tables that need the same
# models and evaluations are one job; so are the models' ranks in every bootstrap resample, which some are made from.
TABLES = [steps.table_step(STUDY, name) for name in STUDY.tables]
if any(str(STUDY.paths.ranks_file) in step.files for step in TABLES):
    TABLES.append(steps.rank_samples_step(STUDY))

for batch in batches(STUDY, TABLES):

    rule:
        name:
            rule_of("table", batch, batch.steps[0].output.stem)
        input:
            **roles_of(batch),
        output:
            [
                update(
                    report(
                        str(step.output),
                        caption=captions.file(workflow, captions.of_table(step.output.stem)),
                        category="Tables",
                        labels={"table": step.output.name},
                    )
                    if step.output.suffix == ".csv"
                    else str(step.output)
                )
                for step in batch.steps
            ],
        log:
            batch.logs(LOGS),
        threads: engine.processors(workflow, len(batch.steps))
        resources:
            mem_mb=memory_of,
            runtime=minutes_of(len(batch.steps)),
        params:
            depends_on=batch.depends_on,
        run:
            RUN.make(workflow, BATCHES[rule])


# How frequent the words of a model's queries are, which the table of frequency is made from.
rule frequency:
    input:
        unpack(inputs_of(frequency_step)),  # queries, model
    output:
        f"{RESULTS}/frequency/{{model}}.json",
    log:
        f"{LOGS}/frequency/{{model}}.txt",
    params:
        depends_on=dependence_of(frequency_step),
    run:
        RUN.perform(frequency_step(wildcards), log[0])
