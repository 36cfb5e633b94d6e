"""Bytes that each label drops at the end of forward, and that full recompute still holds, on one rank and for one micro-batch: the formulas of
reports/METRICS.md, as code.

Every tensor is rounded up to the allocator's 512 bytes. R, the rows that a rank's experts receive, is measured per MoE layer.
"""
from parallel_layout import ParallelLayout

ALIGNMENT = 512
BOOL, BF16, FP32, INT32, INT64 = 1, 2, 4, 4, 8


def tensor(*extents, size):
    count = 1
    for extent in extents:
        count *= extent
    return -(-count * size // ALIGNMENT) * ALIGNMENT


def layer_kinds(family, fields):
    """Of each layer, the mixer's kind and the MLP's; either may be missing in a hybrid."""
    count = fields["num_layers"]
    if family == "dense_gqa":
        return [("gqa", "dense")] * count
    if family == "mla_moe":
        return [("mla", "moe" if flag else "dense") for flag in fields["moe_layer_freq"][:count]]
    if family == "gdn_moe":
        return [("gdn" if flag else "gqa", "moe") for flag in fields["linear_attention_freq"][:count]]
    kinds = {"M": ("mamba", None), "*": ("gqa", None), "E": (None, "moe"), "-": (None, "dense")}
    return [kinds[symbol] for symbol in fields["hybrid_layer_pattern"][:count]]


class Shapes:
    """What one rank sees: `tokens` where heads or columns are split over the tensor-parallel ranks, `rows` of the residual stream, which under
    sequence parallelism are a share of them; `tp` the tensor-parallel degree."""

    def __init__(self, document, rows_received, rank=0):
        self.f, training, self.layout = document["model"]["fields"], document["training"], ParallelLayout(document, rank)
        self.family, self.backend = document["model"]["family"], document["backend"]["attention"]
        all_kinds = layer_kinds(self.family, self.f)
        chunks = list(self.layout.chunks())
        kinds = [all_kinds[layer] for layers, _, _ in chunks for layer in layers]
        self.has_embedding, self.has_head = any(first for _, first, _ in chunks), any(last for _, _, last in chunks)
        self.layers_of_chunks = [len(layers) for layers, _, _ in chunks]
        self.mixers, self.mlps = [mixer for mixer, _ in kinds], [mlp for _, mlp in kinds]
        self.num_layers, self.num_dense, self.rows_received = len(kinds), self.mlps.count("dense"), rows_received
        self.sequence, self.batch = training["seq_length"] // self.layout.context, training["micro_batch_size"]
        self.tp, self.etp = self.layout.tensor, self.layout.expert_tensor
        self.tokens = self.sequence * self.batch
        self.rows = self.tokens // (self.tp if self.layout.sequence_parallel else 1)
        self.exchanges = self.layout.expert * self.etp > 1
        self.fc1_factor = 1 if self.f.get("activation_func") == "squared_relu" else 2
        self.gradient_in_place = document["features"]["cross_entropy_gradient"] == "in_place"
        self.overlaps_shared_experts = document["features"]["moe_shared_expert_overlap"]


def norm(s, width):
    return tensor(s.rows, width, size=BF16) + tensor(s.rows, size=FP32)


def core_attn(s):
    num_attention = s.mixers.count("gqa") + s.mixers.count("mla")
    heads = s.f["num_attention_heads"] // s.tp
    if s.backend == "fused":
        return num_attention * tensor(s.batch, heads, s.sequence, size=FP32)  # the log-sum-exp
    scores = (s.batch, heads, s.sequence, s.sequence)
    dropped = tensor(*scores, size=FP32) + tensor(*scores, size=BF16)  # softmax, and what multiplies the values
    if s.f["attention_dropout"] > 0:
        dropped += tensor(*scores, size=BOOL)
    return num_attention * (dropped + repeated_keys_and_values(s))


def repeated_keys_and_values(s):
    """Unfused attention keeps copies of k and v for every head; a checkpoint keeps the originals instead."""
    groups, heads = s.f.get("num_query_groups"), s.f["num_attention_heads"]
    if groups is None or groups == heads:
        return 0
    groups, heads = groups // s.tp, heads // s.tp
    one = lambda count: 2 * tensor(s.batch, count, s.sequence, s.f["kv_channels"], size=BF16)
    return one(heads) - one(groups)


def mla_up_proj(s):
    heads, width = s.f["num_attention_heads"] // s.tp, s.f["qk_head_dim"] + s.f["qk_pos_emb_head_dim"]
    q_k = 2 * tensor(s.tokens, heads, width, size=BF16)
    value = tensor(s.tokens, heads, s.f["v_head_dim"], size=BF16)
    query_norm = 0 if s.f["q_lora_rank"] is None else norm(s, s.f["q_lora_rank"])
    return s.num_layers * (q_k + value + norm(s, s.f["kv_lora_rank"]) + query_norm - gathered_key(s))


def gathered_key(s):
    """The rotary key of all rows, which mla_up_proj keeps where it has to be gathered."""
    return tensor(s.tokens, s.f["qk_pos_emb_head_dim"], size=BF16) if s.layout.sequence_parallel else 0


def layernorm(s):
    input_norms = s.mixers.count("mla")
    return (input_norms + len(s.rows_received)) * norm(s, s.f["hidden_size"])


def moe_act(s):
    return sum(tensor(rows, s.f["moe_ffn_hidden_size"] // s.etp, size=BF16) for rows in s.rows_received)


def mlp_inside(s, width):
    return tensor(s.tokens, s.fc1_factor * width // s.tp, size=BF16) + tensor(s.tokens, width // s.tp, size=BF16)


def mlp(s):
    return s.num_dense * (norm(s, s.f["hidden_size"]) + mlp_inside(s, s.f["ffn_hidden_size"]))


def shared_experts(s):
    width = s.f["moe_shared_expert_intermediate_size"]
    if width == 0:
        return 0
    gate = tensor(s.rows, size=BF16) + tensor(s.rows, s.f["hidden_size"], size=BF16) if s.f["moe_shared_expert_gate"] else 0
    gathered = tensor(s.tokens, s.f["hidden_size"], size=BF16) if s.overlaps_shared_experts and s.tp > 1 else 0
    return len(s.rows_received) * (mlp_inside(s, width) + gate + gathered)


def router(s):
    everything = (s.rows, s.f["num_moe_experts"])
    kept = 2 * tensor(*everything, size=FP32) + tensor(*everything, size=BOOL)  # scores, probabilities, map
    if s.f["moe_router_load_balancing_type"] != "none":
        groups = s.batch if s.f["moe_router_load_balancing_type"] == "seq_aux_loss" else 1
        kept += tensor(*everything, size=FP32) + tensor(groups, s.f["num_moe_experts"], size=FP32)
    if s.f["moe_input_jitter_eps"]:
        kept += 2 * tensor(s.rows, s.f["hidden_size"], size=BF16)
    return kept


def moe(s):
    choices, width = s.rows * s.f["moe_router_topk"], s.f["moe_ffn_hidden_size"] // s.etp
    per_layer = router(s) + 2 * tensor(choices, size=INT32)
    experts = sum(tensor(rows, s.f["hidden_size"], size=BF16) + tensor(rows, s.fc1_factor * width, size=BF16) +
                  tensor(rows, width, size=BF16) + tensor(rows, size=FP32) + (2 * tensor(rows, size=INT32) if s.exchanges else 0)
                  for rows in s.rows_received)
    return len(s.rows_received) * per_layer + experts + shared_experts(s)


def gdn_norm_out(s):
    heads, width = s.f["linear_num_value_heads"] // s.tp, s.f["linear_value_head_dim"]
    return s.mixers.count("gdn") * (tensor(s.tokens, heads, width, size=BF16) + tensor(s.tokens, heads, size=FP32))


FORMULAS = {function.__name__: function
            for function in (core_attn, mla_up_proj, layernorm, moe_act, mlp, shared_experts, moe, gdn_norm_out)}
INSIDE_MOE = {"moe_act", "shared_experts"}  # already dropped where `moe` is; they change its replay only


def full(s, layers_per_group=1):
    """What uniform full recompute holds at the end of forward: each group's input, and what lies outside the layers."""
    num_groups = sum(-(-count // layers_per_group) for count in s.layers_of_chunks)
    return num_groups * tensor(s.rows, s.f["hidden_size"], size=BF16) + outside_layers(s)


def outside_layers(s):
    stream = (s.rows, s.f["hidden_size"])
    dropout_mask = tensor(*stream, size=BOOL) if s.f["hidden_dropout"] > 0 and s.has_embedding else 0  # of the embedding's output
    token_ids = tensor(s.tokens, size=INT64)
    labels = tensor(s.tokens, size=INT64)
    if not s.has_head:
        return dropout_mask + (token_ids if s.has_embedding else 0)
    final_norm = tensor(*stream, size=BF16) + norm(s, s.f["hidden_size"])  # its input, output and reciprocal deviations
    loss = logits_kept(s) + tensor(1, size=FP32)
    return dropout_mask + final_norm + loss + labels + (token_ids if s.has_embedding else 0)


def logits(s, size):
    return tensor(s.tokens, s.f["padded_vocab_size"] // s.tp, size=size)


def made_for_the_loss(s):
    """The logits' fp32 gradient, or what makes it again: two numbers a token."""
    return tensor(s.tokens, 2, size=FP32) if s.gradient_in_place else logits(s, FP32)


def logits_kept(s):
    return made_for_the_loss(s) + (logits(s, BF16) if s.gradient_in_place else 0)


def gathered_stream(s):
    return tensor(s.tokens, s.f["hidden_size"], size=BF16) if s.layout.sequence_parallel else 0


def head_forward_peak(s):
    """Of logits and loss, and what they take for a while: the output layer's input, three numbers a token and rank, the loss and the sum of losses."""
    gathered_numbers = tensor(s.tokens, 3, size=FP32) + tensor(s.tp, s.tokens, 3, size=FP32) if s.tp > 1 else 0
    scalar = tensor(1, size=FP32)
    at_the_loss = logits(s, BF16) + made_for_the_loss(s) + scalar + gathered_numbers
    return max(logits(s, BF16) + gathered_stream(s), at_the_loss, logits_kept(s) + 2 * scalar)


def head_backward_peak(s):
    """The gradient in bf16 beside the fp32 one; or with the gradients of the output layer's input and weight, and its input again."""
    num_words, width = s.f["padded_vocab_size"] // s.tp, s.f["hidden_size"]
    in_the_layer = gathered_stream(s) + tensor(s.rows, width, size=BF16) + tensor(num_words, width, size=BF16)
    return logits(s, BF16) + max(made_for_the_loss(s), in_the_layer)


def inside_the_replay_of_moe(labels, s, layer):
    """What moe_act and shared_experts beside moe take from the peak of that layer's replay, where it lies at the combine."""
    dropped = {"moe_act": tensor(s.rows_received[layer], s.f["moe_ffn_hidden_size"] // s.etp, size=BF16),
               "shared_experts": shared_experts(s) // len(s.rows_received)}
    return sum(dropped[label] for label in labels)


def dropped_bytes(labels, shapes):
    return sum(FORMULAS[label](shapes) for label in labels if not ("moe" in labels and label in INSIDE_MOE))
