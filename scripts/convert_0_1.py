"""Convert a model or judge folder of gra2seq 0.1 (flat options, old names of weights) to the present form.

    python scripts/convert_0_1.py OLD_FOLDER NEW_FOLDER

The network computes the same; what it sees of damaged drawings is prepared in another way now. This script goes when
nothing trained with 0.1 is in use any more.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

SECTIONS = {
    "model": {
        "model": "name", "paper": "blank_value", "ink": "ink_value", "links": "links", "rounds": "rounds",
        "normalise": "normalise", "corner": "corner", "picture": "picture", "glance": "picture_branch",
        "stroke_hidden": "stroke_hidden", "embedding": "embedding", "code": "code", "channels": "channels",
        "start_log_variance": "start_log_variance", "mend": "code_repair", "clusters": "clusters",
        "cluster_rate": "cluster_rate", "cluster_weight": "cluster_weight", "cluster_form": "cluster_form",
        "hidden": "hidden", "mixtures": "mixtures", "position": "pen_position", "least_log_std": "min_log_std",
    },
    "preparation": {
        "side": "side", "pen": "pen", "nodes": "nodes", "spread": "spread", "max_points": "max_points", "mask": "mask",
        "mask_to": "mask_to", "holes": "rectangle", "stretch": "stretch", "jitter": "jitter",
    },
    "drawing": {
        "least_pen_temperature": "min_pen_temperature", "tries": "best_of", "well": "good_enough",
        "steer": "candidates", "keep": "keep_lines",
    },
    "training": {
        "batch": "batch", "learning_rate": "learning_rate", "fall": "lr_schedule", "decay": "decay",
        "least_learning_rate": "min_learning_rate", "warm_up": "warm_up", "average": "average", "clip": "clip",
        "clip_at": "clip_at", "max_steps": "max_steps",
    },
}  # fmt: skip
WEIGHTS = (
    ("encoder.graph.where.", "encoder.synonyms.graph.position."),
    ("encoder.graph.", "encoder.synonyms.graph."),
    ("encoder.code.", "encoder.synonyms.code."),
    ("encoder.centroids.", "encoder.synonyms.centroids."),
    ("encoder.glance.see.", "encoder.branch.cnn."),
    ("encoder.glance.tell.", "encoder.branch.project."),
    ("mend.see.", "repair.cnn."),
    ("mend.guess.", "repair.hidden."),
    ("mend.tell.", "repair.project."),
    ("mend.", "repair."),
)
GIVEN = 7  # place of the decoder's new input, behind stroke-5 and the pen's place


def convert(old: Path, new: Path, given: bool) -> None:
    about = json.loads((old / "config.json").read_text())
    options = about.pop("options")
    config = {
        section: {after: options[before] for before, after in names.items() if before in options}
        for section, names in SECTIONS.items()
    }
    if options["model"] == "sp-gra2seq":
        where = {"untold": "none"}.get(options["where"], options["where"])
        config["model"] |= {"name": "gra2seq-plus", "node_position": where, "given_input": given}
    config |= {"preset": options["preset"], "dataset": options["dataset"], "seed": options["seed"]}
    with safe_open(old / "model.safetensors", framework="pt") as file:
        metadata = file.metadata()
    tensors = {}
    for name, tensor in load_file(old / "model.safetensors").items():
        for before, after in WEIGHTS if options["model"] == "sp-gra2seq" else ():
            if name.startswith(before):
                name = after + name.removeprefix(before)
                break
        if given and name == "decoder.lstm.weight_ih_l0":
            tensor = torch.cat([tensor[:, :GIVEN], torch.zeros_like(tensor[:, :1]), tensor[:, GIVEN:]], dim=1)
        tensors[name] = tensor.contiguous()
    new.mkdir(parents=True, exist_ok=True)
    save_file(tensors, new / "model.safetensors", metadata)
    text = json.dumps({**about, "version": 2, "config": config}, indent=2, sort_keys=True)
    (new / "config.json").write_text(text + "\n")


if __name__ == "__main__":
    convert(Path(sys.argv[1]), Path(sys.argv[2]), given="--given" in sys.argv)
