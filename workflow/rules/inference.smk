# How sure the values of a metric's cells are: a step for all queries of a metric on a state of a model, as the engine
# takes longer over a step than most cells do over their inference. The step reads its former output, and makes only
# what is not in it: an edited query costs its own cell. And whether what models are ranked by is further from no bias
# than that of random groups. All of a state is one job, whose steps the run's workers share.


# The words that random groups of a model are made of, and their neighbours.
rule pool:
    input:
        model=f"{RESULTS}/models/{{model}}.json",
    output:
        f"{RESULTS}/pools/{{model}}.npz",
    log:
        f"{LOGS}/pool/{{model}}.txt",
    resources:
        mem_mb=lambda w, attempt: stores.memory(STUDY, w.model, 1, attempt),
        runtime=lambda w, attempt: 5 * attempt,
    params:
        depends_on=dependence_of(pool_step),
    run:
        RUN.perform(pool_step(wildcards), log[0])


# states of models that have the same metrics have one rule
for number, (made, models) in enumerate(inference_rules(STUDY), 1):

    rule:
        name:
            rule_of("inference", None, number)
        input:
            unpack(inputs_of(inference_of)),  # cells, queries, model, transform, pool
        output:
            [update(f"{RESULTS}/{file}") for file in made],
        log:
            [f"{LOGS}/{file.removesuffix('.json')}.txt" for file in made if file.endswith(".json")],
        wildcard_constraints:
            model=models,
        threads: engine.processors(workflow, len(made))
        resources:
            mem_mb=memory_of,
            runtime=minutes_of(len(made)),
        params:
            depends_on=dependence_of(inference_of),
        run:
            RUN.make(workflow, inference_of(wildcards))
