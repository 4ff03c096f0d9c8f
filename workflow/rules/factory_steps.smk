# The steps of a planted-bias benchmark, by the wildcards of its rules.
def model_step(wildcards):
    name = "{trainer}/{mu}/{sigma}/{replicate}".format(**wildcards)
    return steps.model_step(FACTORY, FACTORY.models[name])


def table_step(wildcards):
    return TABLES[wildcards.table]


def figure_step(wildcards):
    return DRAWINGS[wildcards.figure]
