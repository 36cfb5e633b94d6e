"""What of two ranks' records is compared where one ran on cpu and the other on meta."""

CLOCKS = {"duration_ns", "start_mono_ns", "step_time_ns", "unix_ns"}
VALUES = {"loss", "loss_bits", "grad_norm", "aux_losses"}  # meta has none
# Without values there are none to send: row and token counts, losses. What carries activations is compared on axis cp, where nothing else goes.
NOT_COMPARED = CLOCKS | VALUES | {"communication"}
BALANCED = {"moe_router_force_load_balancing": True}


def flat(record, path=""):
    """Each value that is compared, by its path in the record."""
    if not isinstance(record, (dict, list)):
        return {path: record}
    items = record.items() if isinstance(record, dict) else enumerate(record)
    return {name: value for key, inner in items if key not in NOT_COMPARED for name, value in flat(inner, f"{path}/{key}").items()}


def differences(cpu, meta):
    ours, theirs = flat(meta), flat(cpu)
    return {path: {"cpu": theirs.get(path), "meta": ours.get(path)} for path in ours.keys() | theirs.keys() if ours.get(path) != theirs.get(path)}


def balanced(labels):
    """Fields under which the experts of a model with these labels, if it has experts, get their rows in turns, as they do on meta."""
    return BALANCED if "moe" in labels else {}
