"""What a context-parallel rank sends in one micro-batch: calls and bytes of each pass by operation, as reports/METRICS.md, "Context parallelism",
has them. k and v are the local tokens' keys and values, bf16; a sum of their gradients is fp32."""
import collections

import label_formulas
from label_formulas import BF16, FP32


class ContextShapes(label_formulas.Shapes):
    def __init__(self, document, rows_received=()):
        super().__init__(document, rows_received)
        self.size, self.way = self.layout.context, document["parallel"]["cp_comm_type"]

    def key_value_elements(self, mixer):
        """Of the local tokens' keys and values together, in one layer."""
        if mixer == "mla":
            width = self.f["num_attention_heads"] * (self.f["qk_head_dim"] + self.f["qk_pos_emb_head_dim"] + self.f["v_head_dim"])
        else:
            width = self.f["num_query_groups"] * 2 * self.f["kv_channels"]
        return self.tokens * width // self.tp


def fetch_keys(s, mixer):
    """Every rank's keys and values come once: what attention's forward sends, its replay, and the first half of its backward."""
    elements = s.key_value_elements(mixer) * BF16
    if s.way == "all_gather":
        return collections.Counter({("all_gather", "num_calls"): 2, ("all_gather", "bytes"): s.size * elements})
    return both_ways(2 * (s.size - 1), (s.size - 1) * elements)


def bring_key_gradients(s, mixer):
    elements = s.key_value_elements(mixer) * FP32
    if s.way == "all_gather":
        return collections.Counter({("reduce_scatter", "num_calls"): 2, ("reduce_scatter", "bytes"): s.size * elements})
    return both_ways(2 * s.size, s.size * elements)


def both_ways(num_calls, num_bytes):
    return collections.Counter({(operation, kind): value for operation in ("send", "receive")
                                for kind, value in (("num_calls", num_calls), ("bytes", num_bytes))})


def all_to_all(s, width):
    return collections.Counter({("all_to_all", "num_calls"): 1, ("all_to_all", "bytes"): s.tokens * width // s.tp * BF16})


def projected_to_heads(s):
    """Of a gated delta net: the input projection's columns q, k, v, z, beta and alpha."""
    keys, values = s.f["linear_num_key_heads"] * s.f["linear_key_head_dim"], s.f["linear_num_value_heads"] * s.f["linear_value_head_dim"]
    return all_to_all(s, 2 * keys + 2 * values + 2 * s.f["linear_num_value_heads"])


def normed_to_context(s):
    return all_to_all(s, s.f["linear_num_value_heads"] * s.f["linear_value_head_dim"])


def forward(s):
    total = collections.Counter()
    for mixer in s.mixers:
        total += projected_to_heads(s) + normed_to_context(s) if mixer == "gdn" else fetch_keys(s, mixer)
    return total


def backward(s):
    total = forward(s)
    for mixer in s.mixers:
        if mixer != "gdn":
            total += bring_key_gradients(s, mixer)
    return total


def core_attn(s):
    return sum((fetch_keys(s, mixer) for mixer in s.mixers if mixer != "gdn"), collections.Counter())


def gdn_norm_out(s):
    return sum((normed_to_context(s) for mixer in s.mixers if mixer == "gdn"), collections.Counter())


REPLAYED = {"core_attn": core_attn, "gdn_norm_out": gdn_norm_out}


def replayed(labels, s):
    return sum((REPLAYED[label](s) for label in labels if label in REPLAYED), collections.Counter())


def found(step, which):
    """Of a step's record, on the axis cp."""
    counter = collections.Counter()
    for row in step["communication"]:
        if row["axis"] == "cp" and row["pass"] == which:
            for kind in ("num_calls", "bytes"):
                counter[(row["operation"], kind)] += row[kind]
    return counter
