"""Bytes that each label drops at the end of forward, on one rank and for one micro-batch: the formulas of reports/METRICS.md, as code.

Every tensor is rounded up to the allocator's 512 bytes. R, the rows that a rank's experts receive, is measured per MoE layer.
"""
ALIGNMENT = 512
BF16, FP32, INT32, INT64 = 2, 4, 4, 8


def tensor(*extents, size):
    count = 1
    for extent in extents:
        count *= extent
    return -(-count * size // ALIGNMENT) * ALIGNMENT


class Shapes:
    def __init__(self, document, rows_received):
        fields, training, parallel = document["model"]["fields"], document["training"], document["parallel"]
        kinds = fields["moe_layer_freq"][:fields["num_layers"]]
        self.f, self.num_dense, self.rows = fields, kinds.count(0), rows_received
        self.num_layers = fields["num_layers"]
        self.sequence, self.batch = training["seq_length"], training["micro_batch_size"]
        self.tokens = self.sequence * self.batch
        self.exchanges = parallel["expert_model_parallel_size"] > 1


def core_attn(s):
    return s.num_layers * tensor(s.batch, s.f["num_attention_heads"], s.sequence, size=FP32)  # the log-sum-exp


def mla_up_proj(s):
    heads, width = s.f["num_attention_heads"], s.f["qk_head_dim"] + s.f["qk_pos_emb_head_dim"]
    q_k = 2 * tensor(s.tokens, heads, width, size=BF16)
    value = tensor(s.tokens, heads, s.f["v_head_dim"], size=BF16)
    norm = tensor(s.tokens, s.f["kv_lora_rank"], size=BF16) + tensor(s.tokens, size=FP32)
    query_norm = 0 if s.f["q_lora_rank"] is None else tensor(s.tokens, s.f["q_lora_rank"], size=BF16) + tensor(s.tokens, size=FP32)
    return s.num_layers * (q_k + value + norm + query_norm)


def layernorm(s):
    one = tensor(s.tokens, s.f["hidden_size"], size=BF16) + tensor(s.tokens, size=FP32)
    return (s.num_layers + len(s.rows)) * one


def moe_act(s):
    return sum(tensor(rows, s.f["moe_ffn_hidden_size"], size=BF16) for rows in s.rows)


def gated_mlp(s, width):
    return tensor(s.tokens, 2 * width, size=BF16) + tensor(s.tokens, width, size=BF16)


def mlp(s):
    norm = tensor(s.tokens, s.f["hidden_size"], size=BF16) + tensor(s.tokens, size=FP32)
    return s.num_dense * (norm + gated_mlp(s, s.f["ffn_hidden_size"]))


def shared_experts(s):
    return len(s.rows) * gated_mlp(s, s.f["moe_shared_expert_intermediate_size"])


def moe(s):
    choices, width = s.tokens * s.f["moe_router_topk"], s.f["moe_ffn_hidden_size"]
    router = tensor(choices, size=FP32) + tensor(choices, size=INT64)
    per_layer = router + 2 * tensor(choices, size=INT32)
    experts = sum(tensor(rows, s.f["hidden_size"], size=BF16) + tensor(rows, 2 * width, size=BF16) + tensor(rows, width, size=BF16) +
                  tensor(rows, size=FP32) + (2 * tensor(rows, size=INT32) if s.exchanges else 0) for rows in s.rows)
    return len(s.rows) * per_layer + experts + shared_experts(s)


FORMULAS = {function.__name__: function for function in (core_attn, mla_up_proj, layernorm, moe_act, mlp, shared_experts, moe)}
INSIDE_MOE = {"moe_act", "shared_experts"}  # already dropped where `moe` is; they change its replay only


def dropped_bytes(labels, shapes):
    return sum(FORMULAS[label](shapes) for label in labels if not ("moe" in labels and label in INSIDE_MOE))
