"""The settings of sweeps/published as trial documents of the meta device."""
import pathlib

import yaml

from trainer_runs import trial_document

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "sweeps" / "published"


def published_document(sweep, modules, num_layers, **changes):
    """An arm of the sweep in its own widths, but only so many of its layers; `changes` as trial_document takes them."""
    settings = yaml.safe_load((FOLDER / f"{sweep}.yaml").read_text())
    degrees = settings["parallel"]
    layout = {
        "preset": settings["model"]["preset"], "shrink": False, "fields": {"num_layers": num_layers}, "world_size": degrees["world_size"],
        "parallel": degrees, "training": {**settings["training"], "train_iters": 2}, "optimizer": settings["optimizer"],
        "features": settings["features"], "attention": settings["backend"]["attention"], "device": "meta"}
    return trial_document(modules, **{**layout, **changes})
