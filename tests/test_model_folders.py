"""Folders of models: packed, loaded, refused; and the model in the package."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

import gra2seq
from gra2seq.data.doodles import CATEGORIES, doodles
from gra2seq.errors import UserError
from gra2seq.folder import PACKAGE_FOLDER, PACKED, pack
from gra2seq.models.model_files import save_weights
from gra2seq.sketch.distance import chamfer

DRAWINGS = Path(__file__).parent.parent / "examples" / "drawings"


def test_packed_model_is_half_as_large_and_gives_the_same_codes(tiny_run, tmp_path):
    folder = pack(tiny_run, tmp_path / "packed", {"best_of": 3})
    whole, packed = gra2seq.load(tiny_run), gra2seq.load(folder)
    assert packed.drawing.best_of == 3
    assert (packed.preparation, packed.categories) == (whole.preparation, whole.categories)
    sketches = list(doodles(8))
    assert np.abs(packed.encode(sketches) - whole.encode(sketches)).max() < 2e-3
    sizes = [(path / "model.safetensors").stat().st_size for path in (folder, tiny_run)]
    assert sizes[0] < 0.6 * sizes[1]
    for name in ("config.json", "model.safetensors"):
        assert str(tiny_run.parent).encode() not in (folder / name).read_bytes(), "no path of the machine"
    assert pack(tiny_run, folder) == folder, "packed again in the same place"
    assert gra2seq.load(folder).drawing.best_of == 1


def test_folder_with_other_files_is_not_packed_into(tiny_run, tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(UserError, match="other files"):
        pack(tiny_run, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_packing_changes_only_how_a_model_draws(tiny_run, tmp_path):
    with pytest.raises(UserError, match="hidden belongs to the training"):
        pack(tiny_run, tmp_path / "packed", {"hidden": 7})
    with pytest.raises(UserError, match="best_of=0 must be at least 1"):
        pack(tiny_run, tmp_path / "packed", {"best_of": 0})
    assert not (tmp_path / "packed").exists()


def test_weights_too_large_for_16_bits_are_an_error(tiny_run, tmp_path):
    run = tmp_path / "run"
    shutil.copytree(tiny_run, run)
    model = gra2seq.load(run)
    model.network.decoder.out.weight.data[0, 0] = 1e6
    save_weights(run / "model.safetensors", model.network, {})
    with pytest.raises(UserError, match="16 bits"):
        pack(run, tmp_path / "packed")
    assert not (tmp_path / "packed" / "model.safetensors").exists()


def test_package_model_is_small_complete_and_without_paths():
    assert sorted(path.name for path in PACKAGE_FOLDER.iterdir()) == sorted(PACKED)
    assert sum(path.stat().st_size for path in PACKAGE_FOLDER.iterdir()) < 20e6
    config = json.loads((PACKAGE_FOLDER / "config.json").read_text())
    assert len(config["categories"]) == 345
    assert not config["config"].get("data")
    weights = load_file(PACKAGE_FOLDER / "model.safetensors")
    numbers = [tensor for tensor in weights.values() if tensor.dtype.kind == "f"]
    assert all(tensor.dtype == (np.float16 if tensor.ndim > 1 else np.float32) for tensor in numbers)
    assert "CC BY 4.0" in (PACKAGE_FOLDER / "README.md").read_text()


def test_package_model_redraws_drawings_it_has_not_seen():
    """Each redrawn drawing is nearer to its own original than to others."""
    model = gra2seq.load()
    own = [sketch for path in sorted(DRAWINGS.glob("*.svg")) for sketch in gra2seq.read(path)]
    assert len(own) == 3
    sketches = own + list(doodles(len(CATEGORIES)))
    redrawn = model.redraw(sketches, best_of=2)
    near = chamfer(redrawn, sketches)
    far = np.mean([chamfer(redrawn, sketches[k:] + sketches[:k]) for k in range(1, len(sketches))], axis=0)
    assert np.mean(near < far) >= 0.8
    assert near.mean() < 0.75 * far.mean()


@pytest.mark.parametrize("scale", [0, -3.0, float("nan"), float("inf"), "wide", None])
def test_model_without_a_unit_is_not_loaded(tiny_run, tmp_path, scale):
    folder = tmp_path / "odd"
    shutil.copytree(tiny_run, folder)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "scale": scale}))
    with pytest.raises(UserError):
        gra2seq.load(folder)


def test_model_of_version_0_1_is_refused_with_a_remedy(tiny_run, tmp_path):
    folder = tmp_path / "old"
    shutil.copytree(tiny_run, folder)
    config = json.loads((folder / "config.json").read_text())
    config["options"] = config.pop("config")
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(UserError, match=r"gra2seq 0\.1.*train it again"):
        gra2seq.load(folder)


def test_package_model_is_loaded_by_name_or_without_one(tiny_run, tmp_path, monkeypatch):
    assert gra2seq.load("package").categories == gra2seq.load().categories
    shutil.copytree(tiny_run, tmp_path / "package")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match="there is a folder of that name"):
        gra2seq.load("package")
    assert gra2seq.load(tmp_path / "package").config.preset == "tiny"
