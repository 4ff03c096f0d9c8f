# The steps of a planted-bias benchmark, by the wildcards of its rules.
def model_step(wildcards):
    name = "{trainer}/{mu}/{sigma}/{replicate}".format(**wildcards)
    return steps.model_step(STUDY, STUDY.models[name])


def fine_tuning_step(wildcards):
    return steps.fine_tuning_step(
        STUDY, STUDY.models["{trainer}/{mu}/{sigma}/{replicate}".format(**wildcards)]
    )


def table_step(wildcards):
    return TABLES[wildcards.table]


def figure_step(wildcards):
    return DRAWINGS[wildcards.figure]
