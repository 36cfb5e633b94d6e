"""The figures of scripts/compare_pytorch, folded and put into words. reports/METRICS.md defines every number."""
import statistics

WHAT_IS_COMPARED = """\
One rank, the same `trial.json` for both, the same initial weights and data to the bit. PyTorch is plain `nn.Module` code
(`scripts/pytorch_twin/model.py`): flash attention by `F.scaled_dot_product_attention` (values padded to the width of the keys), a loop
over the experts, fused AdamW on fp32 master weights, and `torch.utils.checkpoint` for the recompute arms. It runs twice, since PyTorch's
own bf16 product is slow on a CPU without bf16 instructions:

- **bf16**: as is; every product is computed in bf16.
- **fp32 products**: parameters and activations are kept in bf16, linear layers and attention are computed in fp32, as rematch-train does on a CPU.
  This is the stricter opponent in time; it holds fp32 copies for the backward, so that the peaks are set against **bf16**.
"""
WHAT_PEAKS_INCLUDE = """\
Both count the bytes of live tensors in blocks of 512 bytes: weights, gradients, fp32 master weights, moments, activations. rematch-train
takes each operation for one kernel and does not charge what it holds inside (fp32 copies, tiles of attention); of PyTorch every tensor that
an operator returns is counted, and so are the intermediate results of functions that PyTorch composes of several operators (`F.rms_norm`,
the cast before the loss); memory inside an operator is not.
rematch-train keeps its gradients in a buffer that lives from step to step; PyTorch drops them between steps (`zero_grad`), its default.
RSS is the peak of the whole process; PyTorch's holds the interpreter and the CUDA libraries that its wheel loads (RSS after import: {imported}).
"""


def median_step_ns(steps, warmup):
    return statistics.median(step["step_time_ns"] for step in steps[warmup:])


def step_time_ns(rounds, warmup):
    return statistics.median(median_step_ns(steps, warmup) for steps in rounds)


def quickest_step_ns(rounds, warmup):
    return min(step["step_time_ns"] for steps in rounds for step in steps[warmup:])


def ratios(ours, theirs, warmup):
    """The quotient of the step times, the smallest and largest of the rounds taken one by one, and that of the quickest steps."""
    by_round = [median_step_ns(a, warmup) / median_step_ns(b, warmup) for a, b in zip(ours, theirs)]
    return {"step_time_ratio": step_time_ns(ours, warmup) / step_time_ns(theirs, warmup), "lowest_round": min(by_round),
            "highest_round": max(by_round), "quickest_step_ratio": quickest_step_ns(ours, warmup) / quickest_step_ns(theirs, warmup)}


def loss_difference(ours, theirs):
    return max(abs(a["loss"] / b["loss"] - 1) for a, b in zip(ours, theirs))


def table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|---" * len(header) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def milliseconds(nanoseconds):
    return f"{nanoseconds / 1e6:.1f} ms"


def megabytes(count):
    return f"{count / 1e6:.3f} MB"


def ratio_cells(ratio):
    return [f"**{ratio['step_time_ratio']:.2f}** ({ratio['lowest_round']:.2f} to {ratio['highest_round']:.2f})", f"{ratio['quickest_step_ratio']:.2f}"]


def time_rows(figures):
    for arm in figures["arms"]:
        for run in arm["timings"]:
            ours, fp32, bf16 = (milliseconds(run[side]["step_time_ns"]) for side in ("rematch", "fp32", "bf16"))
            yield [arm["arm"], str(run["omp_num_threads"]), ours, fp32, bf16, *ratio_cells(run["fp32"]), *ratio_cells(run["bf16"])]


def peak_rows(figures):
    for arm in figures["arms"]:
        peaks = arm["peaks"]
        yield [arm["arm"], *(megabytes(peaks[side]["peak_allocated_bytes"]) for side in ("rematch", "bf16", "fp32")),
               f"**{peaks['peak_ratio']:.2f}**", *(megabytes(peaks[side]["held_after_forward_bytes"]) for side in ("rematch", "bf16", "fp32")),
               *(f"{peaks[side]['peak_rss_bytes'] / 1e6:.0f} MB" for side in ("rematch", "bf16", "fp32"))]


def loss_rows(figures):
    for arm in figures["arms"]:
        losses = arm["losses"]
        first_and_last = [f"{losses[side][0]:.4f} to {losses[side][-1]:.4f}" for side in ("rematch", "fp32", "bf16")]
        yield [arm["arm"], *first_and_last, f"{100 * arm['largest_loss_difference']:.2f} %"]


def markdown(figures):
    model = figures["trial"]["model"]["fields"]
    sizes = ", ".join(f"{name} {model[name]}" for name in figures["trial"]["model"]["overridden"])
    training, measure = figures["trial"]["training"], figures["measure"]
    skipped = "".join(f"\n`{arm['arm']}` is not here: {arm['reason']}\n" for arm in figures["skipped"])
    imported = f"{figures['imported_rss_bytes'] / 1e6:.0f} MB"
    return f"""\
# rematch-train beside plain PyTorch

Written by `scripts/compare_pytorch`; raw samples in `compare_pytorch.json`. {figures['cpu']}, {figures['num_cpus']} CPUs, load average
{figures['load_average']:.1f} at the start (a busy machine adds noise: read the range of the rounds). PyTorch {figures['torch_version']},
trainer on LibTorch {figures['libtorch_version']}.

{WHAT_IS_COMPARED}
Moonlight with {sizes}; {figures['num_parameters']} parameters; {training['seq_length']} tokens a sequence, {training['global_batch_size']} sequence a step.
{measure['rounds']} rounds that alternate the three, {measure['steady_steps']} steps of each after {measure['warmup_steps']} of warm-up.
{skipped}
## Step time

A ratio is rematch-train / PyTorch, in brackets the lowest and the highest of the rounds; wanted: at most 1.00. Beside it the ratio of the quickest steps, which other work on the machine
lengthens least.

{table(["arm", "threads", "rematch-train", "PyTorch fp32 products", "PyTorch bf16", "ratio to fp32 products", "quickest steps", "ratio to bf16", "quickest steps"],
       time_rows(figures))}
## Peaks

{table(["arm", "rematch-train", "PyTorch bf16", "PyTorch fp32 products", "peak ratio", "held after forward: rematch-train", "PyTorch bf16", "PyTorch fp32 products",
        "peak RSS: rematch-train", "PyTorch bf16", "PyTorch fp32 products"], peak_rows(figures))}
{WHAT_PEAKS_INCLUDE.format(imported=imported)}
## The same work

Loss of the first and of the last step, and the largest difference of any step to either PyTorch (over 1 % is an error).

{table(["arm", "rematch-train", "PyTorch fp32 products", "PyTorch bf16", "largest difference"], loss_rows(figures))}
"""
