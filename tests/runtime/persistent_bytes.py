"""What a rank of an mla_moe model holds through every step, tensor by tensor: the formulas of reports/METRICS.md, "Persistent bytes"."""
import math

from label_formulas import tensor

ELEMENT_BYTES = {"bf16": 2, "fp32": 4}


def layer_shapes(fields, is_moe, num_local_experts, num_parts=1, expert_parts=1):
    """(shape, is_expert) of one layer's parameters in order of declaration; heads and columns are shared by `num_parts` tensor-parallel ranks, those
    of routed experts by `expert_parts`."""
    hidden, heads, latent = fields["hidden_size"], fields["num_attention_heads"] // num_parts, fields["kv_lora_rank"]
    nope, rope, value = fields["qk_head_dim"], fields["qk_pos_emb_head_dim"], fields["v_head_dim"]
    shapes = [(hidden,), (heads * (nope + rope), hidden), (latent + rope, hidden), (latent,), (heads * (nope + value), latent), (hidden, heads * value)]
    if not is_moe:
        ffn = fields["ffn_hidden_size"] // num_parts
        return [(shape, False) for shape in shapes + [(hidden,), (2 * ffn, hidden), (hidden, ffn)]]
    ffn, shared = fields["moe_ffn_hidden_size"] // expert_parts, fields["moe_shared_expert_intermediate_size"] // num_parts
    experts = [(2 * ffn, hidden), (hidden, ffn)] * num_local_experts
    dense = [(shape, False) for shape in shapes + [(hidden,), (fields["num_moe_experts"], hidden)]]
    return dense + [(shape, True) for shape in experts] + [((2 * shared, hidden), False), ((hidden, shared), False)]


def linear_shapes(fields, num_local_experts, num_parts, expert_parts=1):
    """Distinct shapes of the weights that a linear layer multiplies by: not embedding, norms, router."""
    found = {(fields["padded_vocab_size"] // num_parts, fields["hidden_size"])}  # the head's
    for kind in set(fields["moe_layer_freq"][:fields["num_layers"]]):
        router = (fields["num_moe_experts"], fields["hidden_size"])
        found |= {shape for shape, _ in layer_shapes(fields, kind, num_local_experts, num_parts, expert_parts) if len(shape) == 2 and shape != router}
    return found


class Pieces:
    """One buffer's parameters as an optimizer sees them: (elements, decays) of each piece."""

    def __init__(self, shapes, group_size, index, sharded):
        begins, end = [], 0
        for shape in reversed(shapes):
            begins.append(math.ceil(end / 64) * 64 if sharded else end)
            end = begins[-1] + math.prod(shape)
        self.total = math.ceil(end / math.lcm(group_size, 128)) * math.lcm(group_size, 128) if sharded else end
        first = self.total // group_size * index if sharded else 0
        last = first + self.total // group_size if sharded else end
        spans = [(min(last, begin + math.prod(shape)) - max(first, begin), len(shape) > 1) for begin, shape in zip(begins, reversed(shapes))]
        self.pieces = [(count, decays) for count, decays in spans if count > 0]


class PersistentBytes:
    """Of one rank. `late`: made in the first step; `grad_copies`: from the norm to the next zero_grads; `moment_copies`: inside the update."""

    def __init__(self, document, rank):
        fields, options, sizes = document["model"]["fields"], document["optimizer"], document["parallel"]
        world, expert_parallel, num_parts = sizes["world_size"], sizes["expert_model_parallel_size"], sizes["tensor_model_parallel_size"]
        expert_parts = sizes["expert_tensor_parallel_size"]
        expert_ranks, local_experts = expert_parallel * expert_parts, fields["num_moe_experts"] // expert_parallel
        kinds = fields["moe_layer_freq"][:fields["num_layers"]]
        table = ((fields["padded_vocab_size"] // num_parts, fields["hidden_size"]), False)
        layers = [entry for kind in kinds for entry in layer_shapes(fields, kind, local_experts, num_parts, expert_parts)]
        parameters = [table] + layers + [((fields["hidden_size"],), False), table]
        self.num_experts, self.num_moe_layers = fields["num_moe_experts"], sum(kinds)
        self.has_expert_bias = fields["moe_router_enable_expert_bias"]
        self.counts_globally = fields["moe_router_load_balancing_type"] == "global_aux_loss"
        self.sharded = options["use_distributed_optimizer"]
        dense = [shape for shape, is_expert in parameters if not is_expert]
        experts = [shape for shape, is_expert in parameters if is_expert]
        self.buffers = [Pieces(dense, world // num_parts, rank // num_parts, self.sharded), Pieces(experts, world // expert_ranks, rank // expert_ranks, self.sharded)]
        self.shapes = dense + experts
        self.grad_bytes = 4 if options["grad_reduce_in_fp32"] else 2
        engine_holds = options["use_precision_aware_optimizer"] and options["fp8_recipe"] in (None, "delayed")
        self.main_bytes = 0 if engine_holds else 4
        self.late_bytes = [ELEMENT_BYTES[options["exp_avg_dtype"]], ELEMENT_BYTES[options["exp_avg_sq_dtype"]]]
        if engine_holds:
            self.late_bytes.append(2 if options["store_param_remainders"] else 4)
        self.copy_bytes = 4 if not engine_holds and self.grad_bytes == 2 else 0
        self.mixed = options["exp_avg_dtype"] != options["exp_avg_sq_dtype"]
        self.fused_shapes = linear_shapes(fields, local_experts, num_parts, expert_parts) if options["gradient_accumulation_fusion"] else set()

    def of_pieces(self, element_bytes):
        return sum(tensor(count, size=element_bytes) for buffer in self.buffers for count, _ in buffer.pieces)

    def num_elements(self):
        return sum(count for buffer in self.buffers for count, _ in buffer.pieces)

    def params(self):
        if self.sharded:
            return sum(tensor(buffer.total, size=2) for buffer in self.buffers)
        return sum(tensor(*shape, size=2) for shape in self.shapes)

    def grads(self):
        return sum(tensor(buffer.total, size=self.grad_bytes) for buffer in self.buffers)

    def main(self):
        return self.of_pieces(self.main_bytes)

    def late(self):
        return sum(self.of_pieces(element_bytes) for element_bytes in self.late_bytes)

    def dummies(self):
        return sum(tensor(*shape, size=2) for shape in self.fused_shapes)

    def router_counts(self):
        """Expert bias and the token counts behind it; the global counts of global_aux_loss."""
        one = tensor(self.num_experts, size=4)
        return self.num_moe_layers * one * (2 * self.has_expert_bias + self.counts_globally)

    def grad_copies(self):
        return self.of_pieces(self.copy_bytes)

    def moment_copies(self):
        """fp32 copies of one bf16 moment, of the largest of Megatron's parameter groups."""
        groups = [[count for count, decays in buffer.pieces if decays == wanted] for buffer in self.buffers for wanted in (True, False)]
        return max(sum(tensor(count, size=4) for count in group) for group in groups) if self.mixed else 0
