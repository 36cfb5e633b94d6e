"""Bytes that each layer holds between its forward and its backward, on one rank and for one micro-batch: the formulas of reports/METRICS.md,
"What a layer keeps", as code. What the labels of a layer's units drop is label_formulas.py's; here is the rest.
"""
import copy

from label_formulas import BF16, BOOL, FP32, dropped_bytes, gathered_key, logits_kept, norm, tensor

INT64 = 8
DELTA_RULE_CHUNK = 64  # tokens; the rows of each chunk's inverse


def stream(s):
    return tensor(s.rows, s.f["hidden_size"], size=BF16)


def dropout_mask(s):
    return tensor(s.rows, s.f["hidden_size"], size=BOOL) if s.f["hidden_dropout"] > 0 else 0


def fused_norm(s):
    return norm(s, s.f["hidden_size"])


def key_and_value(s):
    return 2 * tensor(s.tokens, s.f["num_query_groups"] // s.tp, s.f["kv_channels"], size=BF16)


def repeats_keys(s):
    """Attention then keeps copies, made in core_attn's region, and lets k and v go."""
    return s.backend == "unfused" and s.f.get("num_query_groups", s.f["num_attention_heads"]) < s.f["num_attention_heads"]


def gqa(s):
    heads, groups, width = s.f["num_attention_heads"] // s.tp, s.f["num_query_groups"] // s.tp, s.f["kv_channels"]
    of_heads = tensor(s.tokens, heads, width, size=BF16)
    kept = fused_norm(s) + 2 * of_heads  # q, and what attention puts out
    if not repeats_keys(s):
        kept += key_and_value(s)
    if s.f["qk_layernorm"]:
        kept += of_heads + tensor(s.tokens, groups, width, size=BF16) + tensor(s.tokens, heads, size=FP32) + tensor(s.tokens, groups, size=FP32)
    if s.f["attention_output_gate"]:
        kept += 2 * of_heads
    return kept


def mla(s):
    query_latent = 0 if s.f["q_lora_rank"] is None else tensor(s.rows, s.f["q_lora_rank"], size=BF16)
    key_value_latent = tensor(s.rows, s.f["kv_lora_rank"] + s.f["qk_pos_emb_head_dim"], size=BF16)
    return query_latent + key_value_latent + tensor(s.tokens, s.f["num_attention_heads"] // s.tp, s.f["v_head_dim"], size=BF16)


def mamba(s):
    heads, groups = s.f["mamba_num_heads"] // s.tp, s.f["mamba_num_groups"] // s.tp
    inner = heads * s.f["mamba_head_dim"]
    projection = tensor(s.tokens, 2 * inner + 2 * groups * s.f["mamba_state_dim"] + heads, size=BF16)
    inner_tensors = 3 * tensor(s.tokens, inner, size=BF16)  # the scan's output before and behind the gate, normed
    return fused_norm(s) + projection + inner_tensors + tensor(s.tokens, groups, size=FP32)


def gdn(s):
    key_heads, heads = s.f["linear_num_key_heads"] // s.tp, s.f["linear_num_value_heads"] // s.tp
    key_width, values = s.f["linear_key_head_dim"], heads * s.f["linear_value_head_dim"]
    convolved = 2 * key_heads * key_width + values
    projection = tensor(s.tokens, convolved + values + 2 * heads, size=BF16)
    heads_in = tensor(s.tokens, convolved, size=BF16) + tensor(s.tokens, 2 * key_heads, size=FP32)
    rule = (2 * tensor(s.tokens, heads, key_width, size=BF16) + 2 * tensor(s.tokens, values, size=BF16) +  # q, k, v, output
            tensor(s.tokens, heads, size=BF16) + tensor(s.tokens, heads, size=FP32) +                      # beta, decay
            tensor(s.tokens, heads, DELTA_RULE_CHUNK, size=BF16))
    return fused_norm(s) + projection + heads_in + rule + parameter_shares(s)


def parameter_shares(s):
    """What context parallelism cuts out of a gated delta net's parameters: of the convolution, of dt_bias and A_log."""
    parts = s.tp * s.layout.context
    if s.layout.context == 1:
        return 0
    heads, values = s.f["linear_num_value_heads"], s.f["linear_num_value_heads"] * s.f["linear_value_head_dim"]
    channels = 2 * s.f["linear_num_key_heads"] * s.f["linear_key_head_dim"] + values
    return tensor(channels // parts, s.f["linear_conv_kernel_dim"], size=BF16) + 2 * tensor(heads // parts, size=BF16)


MIXERS = {"gqa": gqa, "mla": mla, "mamba": mamba, "gdn": gdn}


def layers(s):
    """Each layer by itself, in the shapes that the labels' formulas want."""
    rows = iter(s.rows_received)
    for mixer, mlp in zip(s.mixers, s.mlps):
        layer = copy.copy(s)
        layer.mixers, layer.mlps, layer.num_layers, layer.num_dense = [mixer], [mlp], 1, int(mlp == "dense")
        layer.rows_received = [next(rows)] if mlp == "moe" else []
        yield layer


def outside_labels(layer):
    """What no label drops: of each unit its input and the mask of its output's dropout, and of the mixers more."""
    num_units = sum(kind is not None for kind in layer.mixers + layer.mlps)
    mixers = sum(MIXERS[mixer](layer) for mixer in layer.mixers if mixer)
    return num_units * (stream(layer) + dropout_mask(layer)) + mixers


def kept_instead(label, s):
    """What an active label keeps that is not held without it."""
    if label == "mla_up_proj":
        return s.mixers.count("mla") * gathered_key(s)
    return s.mixers.count("gqa") * key_and_value(s) if label == "core_attn" and repeats_keys(s) else 0


def in_regions_of(labels, s):
    return dropped_bytes(labels, s) + sum(kept_instead(label, s) for label in labels)


def layer_bytes(layer, labels):
    """`labels`: all that the model's family has."""
    return outside_labels(layer) + in_regions_of(labels, layer)


def embedding(s):
    return tensor(s.tokens, size=INT64) + dropout_mask(s)


def output_layer(s):
    return stream(s) + fused_norm(s) + logits_kept(s)


def held_by_no_operation(s):
    return tensor(s.tokens, size=INT64) + tensor(1, size=FP32)  # the batch's labels, the loss
