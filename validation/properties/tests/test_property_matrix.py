"""The committed property matrix is what the code computes: of every metric, in every setting of the catalogue."""

import csv

import pytest
from biasgrid_plugin_properties import examine_metrics, files, search, settings
from conftest import ROOT

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """What refutes a property is in the catalogue, which is tried first; 1,200 settings drawn beyond it take long."""
    folder = tmp_path_factory.mktemp("properties")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(settings, "DRAWN", 3)
        patch.setattr(search, "DESCENTS", 1)
        patch.setattr(files, "save", lambda figure, stem: [])
        files.write(examine_metrics(), folder)
    return folder


def test_the_docs_have_the_matrix_that_the_code_computes(written):
    made = (written / "properties.md").read_text(encoding="utf-8")
    committed = (ROOT / "docs" / "property-matrix.md").read_text(encoding="utf-8")
    assert made == committed, "make properties makes it anew"
    examples = (written / "counterexamples.csv").read_text(encoding="utf-8")
    assert examples == (ROOT / "docs" / "property-counterexamples.csv").read_text(encoding="utf-8")
    # what a descent ends at may hang on a machine's last bit
    assert "found by" not in examples


def test_the_picture_of_the_docs_is_drawn_from_the_same_answers(written):
    """docs/images/properties.csv, which `make pictures` takes from results/properties."""

    def answers(path):
        with path.open(newline="", encoding="utf-8") as file:
            rows = csv.DictReader(file)
            return {
                (row["label"], row["level"], row["property"], row["condition"]): row["holds"] for row in rows
            }

    drawn = answers(ROOT / "docs" / "images" / "properties.csv")
    assert len(drawn) > 100
    assert drawn == answers(written / "properties.csv")
