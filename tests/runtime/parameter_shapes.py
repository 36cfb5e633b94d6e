"""The parameters of a rank, chunk by chunk: their shapes under its layout, in order of declaration."""
from collections import namedtuple

from label_formulas import layer_kinds

# `linear`: a linear layer multiplies by it; `fp32`: kept in fp32, as Megatron keeps it.
Parameter = namedtuple("Parameter", "shape expert linear fp32", defaults=(False, False, False))


def columns(outputs, inputs, split):
    """Split by its outputs."""
    return Parameter((outputs // split, inputs), linear=True)


def rows(outputs, inputs, split):
    """Split by its inputs."""
    return Parameter((outputs, inputs // split), linear=True)


def vector(width):
    return Parameter((width,))


def gqa(f, layout):
    heads, groups, width, hidden = f["num_attention_heads"], f["num_query_groups"], f["kv_channels"], f["hidden_size"]
    mixed = (heads * (2 if f["attention_output_gate"] else 1) + 2 * groups) * width
    norms = [vector(width)] * 2 if f["qk_layernorm"] else []
    return [vector(hidden), columns(mixed, hidden, layout.tensor), rows(hidden, heads * width, layout.tensor)] + norms


def mla(f, layout):
    hidden, heads, latent, query_latent = f["hidden_size"], f["num_attention_heads"], f["kv_lora_rank"], f["q_lora_rank"]
    nope, rope, value = f["qk_head_dim"], f["qk_pos_emb_head_dim"], f["v_head_dim"]
    has_norms = f["qk_layernorm"]
    query = [columns(heads * (nope + rope), query_latent or hidden, layout.tensor)]
    if query_latent:
        query = [columns(query_latent, hidden, 1)] + [vector(query_latent)] * has_norms + query
    return ([vector(hidden)] + query + [columns(latent + rope, hidden, 1)] + [vector(latent)] * has_norms +
            [columns(heads * (nope + value), latent, layout.tensor), rows(hidden, heads * value, layout.tensor)])


def mamba(f, layout):
    t, hidden, heads, groups = layout.tensor, f["hidden_size"], f["mamba_num_heads"], f["mamba_num_groups"]
    inner, states = heads * f["mamba_head_dim"], groups * f["mamba_state_dim"]
    convolved, kernel = (inner + 2 * states) // t, 4
    of_heads = Parameter((heads // t,), fp32=True)
    return [vector(hidden), columns(2 * inner + 2 * states + heads, hidden, t), Parameter((convolved, kernel)), vector(convolved), vector(heads // t),
            of_heads, of_heads, vector(inner // t), rows(hidden, inner, t)]


def gdn(f, layout):
    t, hidden, heads, width = layout.tensor, f["hidden_size"], f["linear_num_value_heads"], f["linear_value_head_dim"]
    keys, values = f["linear_num_key_heads"] * f["linear_key_head_dim"], heads * width
    return [vector(hidden), columns(2 * keys + 2 * values + 2 * heads, hidden, t),
            Parameter(((2 * keys + values) // t, f["linear_conv_kernel_dim"])), vector(heads // t), vector(heads // t), vector(width),
            rows(hidden, values, t)]


def mlp(f, layout, width, split):
    factor = 1 if f.get("activation_func") == "squared_relu" else 2
    return [columns(factor * width, f["hidden_size"], split), rows(f["hidden_size"], width, split)]


def dense(f, layout):
    return [vector(f["hidden_size"])] + mlp(f, layout, f["ffn_hidden_size"], layout.tensor)


def moe(f, layout):
    hidden, shared = f["hidden_size"], f["moe_shared_expert_intermediate_size"]
    one_expert = [parameter._replace(expert=True) for parameter in mlp(f, layout, f["moe_ffn_hidden_size"], layout.expert_tensor)]
    parameters = [vector(hidden), Parameter((f["num_moe_experts"], hidden))] + one_expert * (f["num_moe_experts"] // layout.expert)
    if shared:
        parameters += mlp(f, layout, shared, layout.tensor)
        parameters += [columns(1, hidden, 1)] * f["moe_shared_expert_gate"]
    return parameters


UNITS = {"gqa": gqa, "mla": mla, "mamba": mamba, "gdn": gdn, "dense": dense, "moe": moe}


def parameters_of_chunks(document, layout):
    f = document["model"]["fields"]
    kinds = layer_kinds(document["model"]["family"], f)
    table = Parameter((f["padded_vocab_size"] // layout.tensor, f["hidden_size"]))
    for layers, has_embedding, has_head in layout.chunks():
        units = [UNITS[kind](f, layout) for layer in layers for kind in kinds[layer] if kind]
        yield ([table] if has_embedding else []) + sum(units, []) + ([vector(f["hidden_size"]), table._replace(linear=True)] if has_head else [])


def num_moe_layers(document, layout):
    kinds = layer_kinds(document["model"]["family"], document["model"]["fields"])
    return sum(kinds[layer][1] == "moe" for layers, _, _ in layout.chunks() for layer in layers)
