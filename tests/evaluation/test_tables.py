"""Tables in every format: means and deviations, ways of drawing, the paper's figures, names that need escaping."""

import csv
import io
import json
import statistics

import pytest

from gra2seq.errors import UserError
from gra2seq.evaluation.published import NO_CLUSTERS, PAPER, RANDOM_LINKS, paper_row
from gra2seq.evaluation.tables import FORMATS, beside_paper, summary, to_csv, to_json, to_latex, to_markdown


def row(**changes):
    return {
        "model": "sp-gra2seq",
        "data": "OPEN8",
        "categories": ["bird", "car"],
        "mask": 0.1,
        "seed": 0,
        "sketches": 500,
        "gallery": 500,
        "direction": "redrawn",
        "rec": 0.5,
        "ceiling": 0.9,
        "ret": {"1": 0.1, "10": 0.25, "50": 0.625},
        "chamfer": 0.0312,
        **changes,
    }


SEEDS = [row(seed=seed, rec=rec, chamfer=0.03) for seed, rec in enumerate((0.5, 0.6, 0.75))]


def test_summary_has_mean_and_deviation_over_seeds():
    [found] = summary(SEEDS)
    assert found["seeds"] == [0, 1, 2]
    assert found["rec"] == pytest.approx(statistics.mean((0.5, 0.6, 0.75)))
    assert found["rec_std"] == pytest.approx(statistics.stdev((0.5, 0.6, 0.75)))
    assert found["chamfer_std"] == pytest.approx(0, abs=1e-12)
    assert summary([row()])[0]["rec_std"] is None


def test_rows_of_other_settings_are_not_averaged():
    others = [row(mask=0.3), row(direction="original"), row(data="DS1"), row(gallery=400), row(model="sketch-rnn")]
    assert len(summary([row(), *others])) == 6


def test_ways_of_drawing_are_named_and_not_averaged():
    ways = [
        {"sees": "code", "best_of": 1, "candidates": 1},
        {"sees": "guided", "best_of": 8, "good_enough": 0.02, "candidates": 1},
        {"sees": "guided", "best_of": 1, "candidates": 4},
        {"sees": "code", "best_of": 8},
        {"sees": "code", "repaired": True},
        {"sees": "code", "kept": True},
        {"sees": "guided", "ink_predicted": True, "candidates": 8},
        {},
    ]
    rows = [row(rec=0.1 * number, **way) for number, way in enumerate(ways)]
    assert [found["rec"] for found in summary(rows)] == pytest.approx([0.1 * number for number in range(8)])
    text = to_markdown(rows)
    for words in (
        "guided by the visible ink, the best of 8 drawings each unless the first lies within 0.02 of the longer side",
        "guided by the visible ink, the best of 4 pen moves at every step",
        "drawn from the code only, the best of 8 drawings each by their own codes",
        "drawn from the code only, codes repaired",
        "guided by the visible ink, the best of 8 pen moves at every step, lost ink predicted",
        "visible lines kept, only the lost region is drawn",
    ):
        assert text.count(words) == 1, words
    column = [cells(line)[3] for line in text.splitlines()[2:10]]
    assert column[:4] == ["code", "guided", "guided", "code"]
    assert column[4:] == ["code, repaired", "code, lines kept", "guided, ink predicted", "–"]
    assert {"sees", "best_of", "good_enough", "candidates", "repaired", "ink_predicted", "kept"} <= set(
        to_csv(rows).split("\n")[0].split(",")
    )


def test_lost_squares_stay_apart_from_masks():
    rows = [row(mask=0.0, square=0.4), row(mask=0.0, square=0.0), row(mask=0.0)]
    assert [found["square"] for found in summary(rows)] == [0.4, 0.0]
    text = to_markdown(rows)
    assert "| square 0.4 | sp-gra2seq |" in text
    assert "square" not in beside_paper(rows), "the paper has none"


def test_lost_regions_have_a_table_of_their_own():
    healed = {"square": 0.4, "mask": 0.0, "region_chamfer": 0.0312, "lines_outside": 0, "diversity": 0.375}
    rows = [row(**healed, seed=seed, ends_met=met) for seed, met in enumerate((0.98, 1.0))]
    text = to_markdown(rows)
    (line,) = [line for line in text.splitlines() if line.startswith("| square 0.4 | sp-gra2seq | 9")]
    assert cells(line)[2:] == ["99.00 ± 1.41", "3.12 ± 0.00", "0", "0.375"]
    assert "Diversity: distance between the samples" in text
    (first, _) = csv.DictReader(io.StringIO(to_csv(rows)))
    assert (first["ends_met"], first["diversity"]) == ("0.98", "0.375")
    assert "Lost regions" not in to_markdown([row()])
    assert "diversity" not in to_csv([row()])
    assert "Diversity:" not in to_markdown([row(**(healed | {"diversity": None}), ends_met=1.0)])


def test_deviation_is_over_trainings_where_there_are_several():
    """Each training counts once, as the mean over its drawings."""
    rows = [
        row(train_seed=training, seed=seed, rec=rec)
        for training, both in enumerate(((0.1, 0.3), (0.5, 0.7)))
        for seed, rec in enumerate(both)
    ]
    [found] = summary(rows)
    assert (found["seeds"], found["train_seeds"]) == ([0, 1], [0, 1])
    assert found["rec"] == pytest.approx(0.4)
    assert found["rec_std"] == pytest.approx(statistics.stdev((0.2, 0.6)))
    assert "trained with seeds 0, 1" in to_markdown(rows)


def test_systems_without_paper_figures_have_dashes_beside_the_paper():
    text = beside_paper([row(model=name) for name in ("sp-gra2seq", "dc-gra2seq", "gra2seq-plus")])
    lines = {cells(line)[0]: cells(line)[-4:] for line in text.splitlines() if line.startswith("|")}
    assert lines["sp-gra2seq"] == ["83.38", "40.20", "63.40", "77.52"]
    assert lines["dc-gra2seq"] == lines["gra2seq-plus"] == ["–"] * 4


def test_csv_has_a_line_for_every_row():
    lines = list(csv.DictReader(io.StringIO(to_csv([row(), row(seed=1, rec=None, ceiling=None, model='a,"b"')]))))
    assert lines[0]["categories"] == "bird; car"
    assert float(lines[0]["ret_50"]) == 0.625
    assert float(lines[0]["mask"]) == 0.1
    assert lines[1]["model"] == 'a,"b"'
    assert lines[1]["rec"] == ""


def test_json_has_every_row_and_the_summary():
    rows = [*SEEDS, row(rec=None, ceiling=None, mask=0.0)]
    whole = json.loads(to_json(rows))
    assert whole["rows"] == rows
    assert whole["summary"][1]["rec"] is None


def cells(line):
    return [cell.strip() for cell in line.strip().strip("|").split(" | ")]


def test_markdown_gives_per_cent_and_explains_the_data():
    text = to_markdown([*SEEDS, row(rec=None, ceiling=None, mask=0.3)]).splitlines()
    head, healed, blind = cells(text[0]), cells(text[2]), cells(text[3])
    assert len(head) == len(cells(text[1])) == len(healed) == len(blind)
    found = dict(zip(head, healed, strict=True))
    assert found["Damage"] == "mask 10 %"
    assert found["Rec %"] == "61.67 ± 12.58"
    assert found["Ceiling %"] == "90.00 ± 0.00"
    assert found["Ret@50 %"] == "62.50 ± 0.00"
    assert found["Chamfer x 100"] == "3.00 ± 0.00"
    assert (found["Seeds"], found["Queries"]) == ("0, 1, 2", "redrawn")
    assert dict(zip(head, blind, strict=True))["Rec %"] == "–"
    assert text[5].startswith("OPEN8 (bird, car): 500 sketches in a gallery of 500, the redrawn sketch queries")


def test_bar_in_a_name_is_escaped_in_markdown():
    assert "a\\|b" in to_markdown([row(model="a|b")])


def test_latex_has_the_form_of_the_papers_tables():
    rows = [row(data=data, mask=mask, model=model, rec=rec) for data in ("DS1", "DS_2") for mask in (0.1, 0.3)
            for model, rec in (("one", 0.4), ("two & more", 0.8))]  # fmt: skip
    text = to_latex(rows)
    body = [line for line in text.splitlines() if line.endswith("\\\\")]
    assert "\\multicolumn{5}{c}{DS\\_2}" in body[0]
    width = 2 + 5 * 2
    assert all(line.count(" & ") - line.count("\\&") in (width - 1, width - 2) for line in body[3:])
    assert body[3].startswith("10 \\% & one & 40.00 &")
    assert body[4].startswith(" & two \\& more & \\textbf{80.00} &")
    assert text.count("{") == text.count("}")
    assert "ceiling of Rec 90.00 \\%" in text


def test_missing_figure_is_a_dash_in_latex():
    text = to_latex([row(rec=None, ceiling=None), row(model="other", data="DS1")])
    assert "10 \\% & sp-gra2seq & -- & 10.00 & 25.00 & 62.50 & 3.12 & -- & -- & -- & -- & -- \\\\" in text


def test_latex_refuses_two_rows_for_one_cell():
    with pytest.raises(UserError, match="make a table of each"):
        to_latex([row(), row(direction="original")])


@pytest.mark.parametrize("form", FORMATS)
def test_row_without_a_needed_value_is_refused(form):
    broken = row()
    del broken["gallery"], broken["ret"]
    with pytest.raises(UserError, match="lacks gallery, ret"):
        FORMATS[form]([broken])


def test_paper_has_all_rows_of_its_four_tables():
    """Nine systems, five of them healing at two masks, two ablations at three; twelve shares each."""
    assert len(PAPER) == 9 + 5 * 2 + 2 * 3
    for figures in PAPER.values():
        assert len(figures) == 12
        for start in (0, 4, 8):
            top1, top10, top50 = figures[start + 1 : start + 4]
            assert 0 < top1 < top10 < top50 < 100


@pytest.mark.parametrize(
    ("model", "dataset", "mask", "rec", "ret"),
    [
        ("SP-gra2seq", "DS1", 0, 0.9591, (0.9488, 0.9911, 0.9972)),
        ("sp-gra2seq", "DS3", 0.3, 0.7107, (0.0565, 0.1740, 0.3290)),
        ("sketch-rnn", "DS2", 0.0, 0.4628, (0.1093, 0.2373, 0.4838)),
        ("song", "DS1", 0.0, 0.9177, (0.1641, 0.3643, 0.5222)),
        ("sketch-healer", "DS1", 0.1, 0.7038, (0.1425, 0.2791, 0.4551)),
        ("sketch-lattice-plus", "DS2", 0.3, 0.8176, (0.1043, 0.2644, 0.4290)),
        ("SketchLattice+", "DS3", 0.1, 0.7828, (0.2256, 0.4489, 0.6211)),
        (RANDOM_LINKS, "DS2", 0.0, 0.9023, (0.3156, 0.6180, 0.8022)),
        (NO_CLUSTERS, "DS3", 0.1, 0.8384, (0.3903, 0.6223, 0.7674)),
    ],
)
def test_paper_row_has_the_printed_figures(model, dataset, mask, rec, ret):
    found = paper_row(model, dataset, mask)
    assert found["rec"] == rec
    assert tuple(found["ret"].values()) == ret
    assert found["sketches"] == 2500 * len(found["categories"])
    assert set(found) == set(row())


@pytest.mark.parametrize(
    ("model", "dataset", "mask"),
    [
        ("sketch-rnn", "DS1", 0.1),
        ("sp-gra2seq", "DS1", 0.2),
        ("sp-gra2seq", "OPEN8", 0),
        ("dc-gra2seq", "DS1", 0),
        ("gra2seq-plus", "DS1", 0),
        ("nobody", "DS1", 0),
    ],
)
def test_paper_row_is_none_where_the_paper_has_none(model, dataset, mask):
    assert paper_row(model, dataset, mask) is None


@pytest.mark.parametrize("form", FORMATS)
def test_rows_of_the_paper_and_ours_share_a_table(form):
    text = FORMATS[form]([paper_row("SketchHealer", "DS1", 0.1), row(data="DS1")])
    assert "SketchHealer" in text
    assert "sp-gra2seq" in text
