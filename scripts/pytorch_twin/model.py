"""Family mla_moe in plain PyTorch, as one would write it by hand: nn.Module, autograd, torch.utils.checkpoint, no function of its own.

Parameters have the trainer's names, so that both can start from the same weights. Activations are [S, B, H] or [T, H], sequence-major.
Shapes: S tokens of a sequence, B sequences, T = S * B, H hidden, N heads, D width of a head, E experts, K chosen, R = T * K, F expert width.
"""
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

SUM_FLOOR = 1e-20


def recomputed(function, *inputs):
    # Nothing here draws random numbers, so their state need not be kept.
    return checkpoint(function, *inputs, use_reentrant=False, preserve_rng_state=False)


def raised_linear(x, weight):
    """A bf16 product on a CPU without bf16 instructions: PyTorch's own bf16 kernel is several times slower there than this."""
    return F.linear(x.float(), weight.float()).to(x.dtype)


def raised_attention(q, k, v):
    return F.scaled_dot_product_attention(q.float(), k.float(), v.float(), is_causal=True).to(q.dtype)


def native_attention(q, k, v):
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)


class Products:
    """How matrix products are computed; all else is the same in both."""

    def __init__(self, name):
        self.linear, self.attention = {"bf16": (F.linear, native_attention), "fp32": (raised_linear, raised_attention)}[name]


class Linear(nn.Module):
    def __init__(self, inputs, outputs, products):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(outputs, inputs, dtype=torch.bfloat16))
        self.product = products.linear

    def forward(self, x):
        return self.product(x, self.weight)


class RmsNorm(nn.Module):
    def __init__(self, width, epsilon):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width, dtype=torch.bfloat16))
        self.epsilon = epsilon

    def forward(self, x):
        return F.rms_norm(x, self.weight.shape, self.weight, self.epsilon)


class MultiLatentAttention(nn.Module):
    def __init__(self, fields, length, products):
        super().__init__()
        hidden, self.num_heads, query_latent = fields["hidden_size"], fields["num_attention_heads"], fields["q_lora_rank"]
        self.nope, self.rope, self.value = fields["qk_head_dim"], fields["qk_pos_emb_head_dim"], fields["v_head_dim"]
        self.latent, epsilon = fields["kv_lora_rank"], fields["layernorm_epsilon"]
        norm = (lambda width: RmsNorm(width, epsilon)) if fields["qk_layernorm"] else (lambda width: nn.Identity())
        if query_latent is not None:
            self.linear_q_down_proj = Linear(hidden, query_latent, products)
            self.q_layernorm = norm(query_latent)
        self.linear_q_up_proj = Linear(query_latent or hidden, self.num_heads * (self.nope + self.rope), products)
        self.linear_kv_down_proj = Linear(hidden, self.latent + self.rope, products)
        self.kv_layernorm = norm(self.latent)
        self.linear_kv_up_proj = Linear(self.latent, self.num_heads * (self.nope + self.value), products)
        self.linear_proj = Linear(self.num_heads * self.value, hidden, products)
        self.attention = products.attention
        frequency = fields["rotary_base"] ** (-torch.arange(self.rope // 2, dtype=torch.float32) * 2 / self.rope)
        angle = torch.outer(torch.arange(length, dtype=torch.float32), frequency)
        self.register_buffer("cosine", angle.cos().to(torch.bfloat16), persistent=False)
        self.register_buffer("sine", angle.sin().to(torch.bfloat16), persistent=False)

    def rotate(self, x_BNSR):
        first, second = x_BNSR.chunk(2, -1)
        return torch.cat([first * self.cosine - second * self.sine, second * self.cosine + first * self.sine], -1)

    def by_head(self, x_SBD):
        return x_SBD.view(*x_SBD.shape[:2], -1, x_SBD.shape[2] // self.num_heads).permute(1, 2, 0, 3)

    def forward(self, x_SBH):
        length, batch, _ = x_SBH.shape
        query = self.q_layernorm(self.linear_q_down_proj(x_SBH)) if hasattr(self, "linear_q_down_proj") else x_SBH
        latent, key_rope = self.linear_kv_down_proj(x_SBH).split([self.latent, self.rope], -1)
        q_nope, q_rope = self.by_head(self.linear_q_up_proj(query)).split([self.nope, self.rope], -1)
        k_nope, v = self.by_head(self.linear_kv_up_proj(self.kv_layernorm(latent))).split([self.nope, self.value], -1)
        k_rope = self.rotate(key_rope.permute(1, 0, 2).unsqueeze(1)).expand(-1, self.num_heads, -1, -1)
        q, k = torch.cat([q_nope, self.rotate(q_rope)], -1), torch.cat([k_nope, k_rope], -1)
        # Flash attention wants heads of one width: the values are padded, and the padding cut off again.
        o = self.attention(q, k, F.pad(v, (0, q.shape[-1] - self.value)))[..., :self.value]
        return self.linear_proj(o.permute(2, 0, 1, 3).reshape(length, batch, -1))


def swiglu(h):
    gate, up = h.chunk(2, -1)
    return F.silu(gate) * up


def weighted_swiglu(h_R2F, probs_R):
    return swiglu(h_R2F) * probs_R.unsqueeze(1)


class GatedMlp(nn.Module):
    def __init__(self, hidden, width, products):
        super().__init__()
        self.linear_fc1 = Linear(hidden, 2 * width, products)
        self.linear_fc2 = Linear(width, hidden, products)

    def forward(self, x):
        return self.linear_fc2(swiglu(self.linear_fc1(x)))


class Router(nn.Module):
    """Top-k of sigmoid or softmax scores, with Megatron's load-balancing losses over the micro-batch or by sequence, and expert biases."""

    def __init__(self, fields):
        super().__init__()
        self.num_experts, self.topk = fields["num_moe_experts"], fields["moe_router_topk"]
        self.is_sigmoid, self.pre_softmax = fields["moe_router_score_function"] == "sigmoid", fields["moe_router_pre_softmax"]
        self.scaling, self.balancing = fields["moe_router_topk_scaling_factor"], fields["moe_router_load_balancing_type"]
        self.coefficient = fields["moe_aux_loss_coeff"]
        self.bias_rate = fields["moe_router_bias_update_rate"] if fields["moe_router_enable_expert_bias"] else None
        self.weight = nn.Parameter(torch.empty(self.num_experts, fields["hidden_size"], dtype=torch.bfloat16))
        self.register_buffer("bias_E", torch.zeros(self.num_experts))
        self.register_buffer("tokens_E", torch.zeros(self.num_experts))

    def probabilities(self, logits_TE, scores_TE, experts_TK):
        if not self.is_sigmoid:
            return (scores_TE.gather(1, experts_TK) if self.pre_softmax else logits_TE.gather(1, experts_TK).softmax(-1)) * self.scaling
        chosen_TK = scores_TE.gather(1, experts_TK)
        return (chosen_TK / (chosen_TK.sum(-1, keepdim=True) + SUM_FLOOR) if self.topk > 1 else chosen_TK) * self.scaling

    def balance_loss(self, scores_TE, batch):
        groups = batch if self.balancing == "seq_aux_loss" else 1
        length = scores_TE.shape[0] // groups
        shares_TE = scores_TE / (scores_TE.sum(-1, keepdim=True) + SUM_FLOOR) if self.is_sigmoid else scores_TE
        by_score_TK = scores_TE.topk(self.topk).indices  # without the biases
        tokens_GE = F.one_hot(by_score_TK, self.num_experts).sum(1).view(length, groups, -1).sum(0)
        factor = self.coefficient * self.num_experts / (self.topk * length * length * groups)
        return (shares_TE.view(length, groups, -1).sum(0) * tokens_GE).sum() * factor

    def forward(self, x_TH, batch):
        logits_TE = F.linear(x_TH.float(), self.weight.float())
        scores_TE = logits_TE.sigmoid() if self.is_sigmoid else logits_TE.softmax(-1)
        experts_TK = (scores_TE.detach() + self.bias_E).topk(self.topk).indices
        rows_E = experts_TK.flatten().bincount(minlength=self.num_experts)
        self.tokens_E += rows_E  # a checkpoint counts twice, which the sign of the difference to the mean does not see
        loss = 0 if self.balancing == "none" else self.balance_loss(scores_TE, batch)
        return self.probabilities(logits_TE, scores_TE, experts_TK), experts_TK, rows_E.tolist(), loss

    @torch.no_grad()
    def finish_step(self):
        if self.bias_rate is not None:
            self.bias_E += (self.tokens_E.mean() - self.tokens_E).sign() * self.bias_rate
        self.tokens_E.zero_()


class MixtureOfExperts(nn.Module):
    def __init__(self, fields, products, recompute_activation):
        super().__init__()
        hidden, width, shared = fields["hidden_size"], fields["moe_ffn_hidden_size"], fields["moe_shared_expert_intermediate_size"]
        self.router = Router(fields)
        self.experts = nn.ModuleList(GatedMlp(hidden, width, products) for _ in range(fields["num_moe_experts"]))
        if shared:
            self.shared_experts = GatedMlp(hidden, shared, products)
        self.recompute_activation = recompute_activation

    def activate(self, h_R2F, probs_R):
        return recomputed(weighted_swiglu, h_R2F, probs_R) if self.recompute_activation else weighted_swiglu(h_R2F, probs_R)

    def routed(self, x_TH, batch):
        probs_TK, experts_TK, rows, loss = self.router(x_TH, batch)
        order_R = experts_TK.flatten().argsort(stable=True)
        token_R = order_R // experts_TK.shape[1]
        x_RH = x_TH.index_select(0, token_R)
        h_R2F = torch.cat([expert.linear_fc1(x) for expert, x in zip(self.experts, x_RH.split(rows))])
        a_RF = self.activate(h_R2F, probs_TK.flatten()[order_R].to(h_R2F.dtype))
        y_RH = torch.cat([expert.linear_fc2(a) for expert, a in zip(self.experts, a_RF.split(rows))])
        return torch.zeros_like(x_TH).index_add(0, token_R, y_RH), loss

    def forward(self, x_SBH):
        x_TH = x_SBH.flatten(0, 1)
        y_TH, loss = self.routed(x_TH, x_SBH.shape[1])
        if hasattr(self, "shared_experts"):
            y_TH = y_TH + self.shared_experts(x_TH)
        return y_TH.view_as(x_SBH), loss


class Layer(nn.Module):
    def __init__(self, fields, is_moe, length, products, recompute_activation):
        super().__init__()
        hidden, epsilon = fields["hidden_size"], fields["layernorm_epsilon"]
        self.input_layernorm = RmsNorm(hidden, epsilon)
        self.self_attention = MultiLatentAttention(fields, length, products)
        self.pre_mlp_layernorm = RmsNorm(hidden, epsilon)
        self.mlp = (MixtureOfExperts(fields, products, recompute_activation) if is_moe
                    else GatedMlp(hidden, fields["ffn_hidden_size"], products))

    def forward(self, x_SBH, balance_loss):
        x_SBH = x_SBH + self.self_attention(self.input_layernorm(x_SBH))
        y_SBH = self.mlp(self.pre_mlp_layernorm(x_SBH))
        if isinstance(self.mlp, MixtureOfExperts):
            y_SBH, own_loss = y_SBH
            balance_loss = balance_loss + own_loss
        return x_SBH + y_SBH, balance_loss


class Recompute:
    """What of a trial's recompute section this model has: nothing, the activation of the experts, or whole layers in equal chunks."""

    def __init__(self, section):
        granularity, modules = section["recompute_granularity"], section["recompute_modules"] or []
        is_full = granularity == "full" and section["recompute_method"] == "uniform" and not section["distribute_saved_activations"]
        if not is_full and not (granularity == "selective" and modules in ([], ["moe_act"])):
            raise SystemExit(f"recompute: wanted [], [moe_act] or full and uniform, found {section}")
        self.activation = not is_full and bool(modules)
        self.layers_per_chunk = section["recompute_num_layers"] if is_full else None


# Fields that this model has one value of.
ONLY = {"attention_dropout": 0, "hidden_dropout": 0, "moe_input_jitter_eps": None, "moe_shared_expert_gate": False,
        "moe_router_force_load_balancing": False, "layernorm_zero_centered_gamma": False}


def check_fields(fields):
    unlike = {name: fields[name] for name, value in ONLY.items() if name in fields and fields[name] != value}
    if fields["moe_router_load_balancing_type"] not in ("none", "aux_loss", "seq_aux_loss"):
        unlike["moe_router_load_balancing_type"] = fields["moe_router_load_balancing_type"]
    if unlike:
        raise SystemExit(f"model: this one has nothing of {unlike}")


class MlaMoe(nn.Module):
    def __init__(self, fields, length, products, recompute):
        super().__init__()
        check_fields(fields)
        hidden, vocabulary = fields["hidden_size"], fields["padded_vocab_size"]
        self.embedding = nn.Module()
        self.embedding.word_embeddings = nn.Embedding(vocabulary, hidden, dtype=torch.bfloat16)
        kinds = fields["moe_layer_freq"][:fields["num_layers"]]
        self.layers = nn.ModuleList(Layer(fields, kind == 1, length, products, recompute.activation) for kind in kinds)
        self.final_layernorm = RmsNorm(hidden, fields["layernorm_epsilon"])
        self.output_layer = Linear(hidden, vocabulary, products)
        self.layers_per_chunk = recompute.layers_per_chunk

    def chunk(self, first, last, x_SBH, balance_loss):
        for layer in self.layers[first:last]:
            x_SBH, balance_loss = layer(x_SBH, balance_loss)
        return x_SBH, balance_loss

    def through_layers(self, x_SBH):
        balance_loss, size = torch.zeros(()), self.layers_per_chunk
        if size is None:
            return self.chunk(0, len(self.layers), x_SBH, balance_loss)
        for first in range(0, len(self.layers), size):
            x_SBH, balance_loss = recomputed(self.chunk, first, first + size, x_SBH, balance_loss)
        return x_SBH, balance_loss

    def forward(self, ids_SB, labels_SB):
        """The cross entropy, and the load-balancing losses of all layers, which are learned from too."""
        x_SBH, balance_loss = self.through_layers(self.embedding.word_embeddings(ids_SB))
        logits_SBV = self.output_layer(self.final_layernorm(x_SBH))
        return F.cross_entropy(logits_SBV.flatten(0, 1).float(), labels_SB.flatten()), balance_loss

    def finish_step(self):
        for layer in self.layers:
            if isinstance(layer.mlp, MixtureOfExperts):
                layer.mlp.router.finish_step()
