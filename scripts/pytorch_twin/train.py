"""One rank of plain PyTorch on the CPU, from the trial.json of a rematch-train run. Writes its samples as JSON.

train.py --trial trial.json --products bf16|fp32 --out FILE [--count-bytes]
--count-bytes watches every operation for live bytes; its times are then of no use.
"""
import argparse
import json
import pathlib
import resource
import time

import live_bytes
import mock_data
import model as twin
import torch


class MasterAdamW:
    """bf16 parameters and gradients; fp32 weights, moments and, while the step lasts, gradients."""

    def __init__(self, model, spec):
        self.parameters = list(model.parameters())
        self.masters = [parameter.detach().float() for parameter in self.parameters]
        decayed = [master for master in self.masters if master.dim() > 1]
        others = [master for master in self.masters if master.dim() < 2]
        groups = [{"params": decayed, "weight_decay": spec["weight_decay"]}, {"params": others, "weight_decay": 0.0}]
        self.adam = torch.optim.AdamW(groups, lr=spec["lr"], betas=(spec["adam_beta1"], spec["adam_beta2"]), eps=spec["adam_eps"], fused=True)
        self.clip_grad = spec["clip_grad"]

    def zero_grad(self):
        for parameter in self.parameters:
            parameter.grad = None
        self.adam.zero_grad()

    @torch.no_grad()
    def step(self):
        for master, parameter in zip(self.masters, self.parameters):
            master.grad = torch.zeros_like(master) if parameter.grad is None else parameter.grad.float()
        grad_norm = torch.nn.utils.clip_grad_norm_(self.masters, self.clip_grad or float("inf"), foreach=True)
        self.adam.step()
        torch._foreach_copy_(self.parameters, self.masters)
        return grad_norm.item()


class Job:
    def __init__(self, trial, products, counter):
        fields, self.training = trial["model"]["fields"], trial["training"]
        self.model = twin.MlaMoe(fields, self.training["seq_length"], twin.Products(products), twin.Recompute(trial["recompute"]))
        mock_data.initialise(self.model, self.training["seed"], fields["init_method_std"])
        self.optimizer = MasterAdamW(self.model, trial["optimizer"])
        self.num_micro_batches = self.training["global_batch_size"] // self.training["micro_batch_size"]
        self.vocabulary = fields["padded_vocab_size"]
        self.counter = counter

    def end_phase(self, peaks, phase):
        if self.counter:
            peaks[phase] = max(peaks.get(phase, 0), self.counter.take_peak())

    def run_step(self, step):
        batches = [mock_data.micro_batch(self.training, self.vocabulary, step, index) for index in range(self.num_micro_batches)]
        start_ns, losses, peaks, held_bytes = time.monotonic_ns(), [], {}, None
        self.optimizer.zero_grad()
        for ids_SB, labels_SB in batches:
            loss, balance_loss = self.model(ids_SB, labels_SB)
            losses.append(loss.detach())
            loss = (loss + balance_loss) / len(batches)
            held_bytes = self.counter and self.counter.live_bytes
            self.end_phase(peaks, "forward")
            loss.backward()
            del loss, balance_loss
            self.end_phase(peaks, "backward")
        self.model.finish_step()
        grad_norm = self.optimizer.step()
        mean_loss = (sum(losses) / len(losses)).item()
        self.end_phase(peaks, "optimizer")
        return {"step": step, "step_time_ns": time.monotonic_ns() - start_ns, "loss": mean_loss, "grad_norm": grad_norm, "peaks": peaks,
                "held_after_forward_bytes": held_bytes}


def peak_rss_bytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def run(trial, products, counter):
    imported_rss_bytes = peak_rss_bytes()
    job = Job(trial, products, counter)
    steps = [job.run_step(step) for step in range(trial["training"]["train_iters"])]
    return {"torch_version": torch.__version__, "products": products, "steps": steps, "imported_rss_bytes": imported_rss_bytes,
            "peak_rss_bytes": peak_rss_bytes(), "num_parameters": sum(parameter.numel() for parameter in job.model.parameters())}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trial", type=pathlib.Path, required=True)
    parser.add_argument("--products", choices=["bf16", "fp32"], required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--count-bytes", action="store_true")
    arguments = parser.parse_args()
    trial = json.loads(arguments.trial.read_text())
    torch.set_num_threads(trial["omp_num_threads"])
    if arguments.count_bytes:
        with live_bytes.LiveBytes() as counter:
            result = run(trial, arguments.products, counter)
    else:
        result = run(trial, arguments.products, None)
    arguments.out.write_text(json.dumps(result))


if __name__ == "__main__":
    main()
