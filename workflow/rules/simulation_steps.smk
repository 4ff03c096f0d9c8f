# The steps of a simulation, by the wildcards of its rules.
def cell_step(wildcards):
    return steps.cell_step(STUDY, STUDY.cells["{metric}/{words}/{bias}".format(**wildcards)])


def pool_step(wildcards):
    return steps.pool_step(STUDY, wildcards.model)


def real_step(wildcards):
    return steps.real_step(STUDY, STUDY.real_cells["{model}/{kind}".format(**wildcards)])


def frequency_step(wildcards):
    name = "{training}/{corpora}/{number}".format(**wildcards)
    return steps.frequency_step(STUDY, STUDY.frequency_cells[name])


def table_step(wildcards):
    return TABLES[wildcards.table]


def figure_step(wildcards):
    return DRAWINGS[wildcards.figure]
