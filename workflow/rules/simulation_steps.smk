# The steps of a simulation, by the wildcards of its rules.
def cell_step(wildcards):
    return steps.cell_step(STUDY, STUDY.cells["{metric}/{words}/{bias}".format(**wildcards)])


def pool_step(wildcards):
    return steps.pool_step(STUDY, wildcards.model)


def real_step(wildcards):
    return steps.real_step(STUDY, STUDY.real_cells["{model}/{kind}".format(**wildcards)])


def frequency_cell(wildcards):
    return STUDY.frequency_cells["{training}/{corpora}/{number}".format(**wildcards)]


def vectors_step(wildcards):
    return steps.vectors_step(STUDY, frequency_cell(wildcards))


def frequency_step(wildcards):
    return steps.frequency_step(STUDY, frequency_cell(wildcards))


def table_step(wildcards):
    return TABLES[wildcards.table]


def figure_step(wildcards):
    return DRAWINGS[wildcards.figure]
