#include "runtime/nn/gqa_heads.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include "runtime/nn/heads.h"
#include "runtime/nn/kernel.h"
#include "runtime/nn/rotary.h"

namespace rematch::nn {

namespace {

// Where the heads lie in a group of the mixed projection.
struct MixedLayout {
  MixedLayout(const GqaShape& shape, SequenceShape sequence_in)
      : sequence(sequence_in),
        num_groups(shape.num_query_groups),
        queries(shape.num_attention_heads / shape.num_query_groups),
        gates(shape.attention_output_gate ? queries : 0),
        head_size(shape.kv_channels) {}

  SequenceShape sequence;
  std::int64_t num_groups;
  std::int64_t queries;  // of a group
  std::int64_t gates;    // of a group
  std::int64_t head_size;

  std::int64_t heads_of_group() const { return queries + gates + 2; }
  // Views [T, G, heads of that kind, E] of a mixed tensor; values [S, B, G, E].
  at::Tensor by_group(const at::Tensor& mixed_TD) const {
    return mixed_TD.view({sequence.num_tokens(), num_groups, heads_of_group(), head_size});
  }
  at::Tensor queries_of(const at::Tensor& mixed_TD) const { return by_group(mixed_TD).narrow(2, 0, queries); }
  at::Tensor gates_of(const at::Tensor& mixed_TD) const { return by_group(mixed_TD).narrow(2, queries, gates); }
  at::Tensor keys_of(const at::Tensor& mixed_TD) const { return by_group(mixed_TD).narrow(2, queries + gates, 1); }
  at::Tensor values_of(const at::Tensor& mixed_TD) const {
    return by_group(mixed_TD).select(2, queries + gates + 1).unflatten(0, {sequence.length, sequence.batch});
  }
};

struct LayoutHolder final : torch::CustomClassHolder {
  explicit LayoutHolder(const MixedLayout& layout_in) : layout(layout_in) {}
  MixedLayout layout;
};

class SplitHeadsFunction : public torch::autograd::Function<SplitHeadsFunction> {
 public:
  static torch::autograd::variable_list forward(torch::autograd::AutogradContext* ctx, const at::Tensor& mixed_TD,
                                                const c10::intrusive_ptr<LayoutHolder>& holder) {
    ctx->saved_data["layout"] = c10::IValue::make_capsule(holder);
    const auto& layout = holder->layout;
    const auto num_heads = layout.num_groups * layout.queries, num_tokens = layout.sequence.num_tokens(), width = layout.head_size;
    const auto make = [&](at::IntArrayRef sizes) { return at::empty(sizes, mixed_TD.options()); };
    torch::autograd::variable_list parts = {make({num_tokens * num_heads, width}), make({num_tokens * layout.num_groups, width}),
                                            make({layout.sequence.batch, layout.num_groups, layout.sequence.length, width})};
    if (layout.gates > 0) parts.push_back(make({num_tokens, num_heads * width}));
    kernel({mixed_TD, mixed_TD}, [&] {
      const auto queries = layout.queries_of(mixed_TD), keys = layout.keys_of(mixed_TD);
      parts[0].view(queries.sizes()).copy_(queries);
      parts[1].view(keys.sizes()).copy_(keys);
      parts[2].copy_(heads_first(layout.values_of(mixed_TD)));
      if (layout.gates > 0) parts[3].view(queries.sizes()).copy_(layout.gates_of(mixed_TD));
    });
    return parts;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx, torch::autograd::variable_list grads) {
    const auto holder = c10::static_intrusive_pointer_cast<LayoutHolder>(ctx->saved_data["layout"].toCapsule());
    const auto& layout = holder->layout;
    auto dmixed_TD =
        at::empty({layout.sequence.num_tokens(), layout.num_groups * layout.heads_of_group() * layout.head_size}, grads[0].options());
    kernel({dmixed_TD, dmixed_TD}, [&] {
      const auto dqueries = layout.queries_of(dmixed_TD), dkeys = layout.keys_of(dmixed_TD);
      dqueries.copy_(grads[0].view(dqueries.sizes()));
      dkeys.copy_(grads[1].view(dkeys.sizes()));
      layout.values_of(dmixed_TD).copy_(tokens_first(grads[2]));
      if (layout.gates > 0) layout.gates_of(dmixed_TD).copy_(grads[3].view(dqueries.sizes()));
    });
    return {dmixed_TD, at::Tensor()};
  }
};

// What both directions of placing need.
struct RotaryPart {
  std::int64_t channels;
  double base;
  ContextPlace place;

  // destination = source with its first channels turned; both [S, B, n, E].
  void copy_turned(const at::Tensor& destination, const at::Tensor& source, Turn turn) const {
    if (channels > 0) destination.narrow(3, 0, channels).copy_(rotate(source.narrow(3, 0, channels), base, turn, place));
    const auto rest = source.size(3) - channels;
    if (rest > 0) destination.narrow(3, channels, rest).copy_(source.narrow(3, channels, rest));
  }
};

class PlaceHeadsFunction : public torch::autograd::Function<PlaceHeadsFunction> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, const at::Tensor& x_RE, SequenceShape sequence, RotaryPart rotary) {
    const auto num_heads = x_RE.size(0) / sequence.num_tokens(), width = x_RE.size(1);
    auto y_BNSE = at::empty({sequence.batch, num_heads, sequence.length, width}, x_RE.options());
    kernel({y_BNSE, x_RE}, [&] {
      const auto x_SBNE = x_RE.view({sequence.length, sequence.batch, num_heads, width});
      rotary.copy_turned(tokens_first(y_BNSE), x_SBNE, Turn::kForward);
    });
    ctx->saved_data["channels"] = rotary.channels;
    ctx->saved_data["base"] = rotary.base;
    ctx->saved_data["context_rank"] = rotary.place.rank;
    ctx->saved_data["context_size"] = rotary.place.size;
    return y_BNSE;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx, torch::autograd::variable_list grads) {
    const auto dy_SBNE = tokens_first(grads[0]);
    const ContextPlace place{static_cast<int>(ctx->saved_data["context_rank"].toInt()),
                             static_cast<int>(ctx->saved_data["context_size"].toInt())};
    const RotaryPart rotary{ctx->saved_data["channels"].toInt(), ctx->saved_data["base"].toDouble(), place};
    auto dx_RE = at::empty({dy_SBNE.size(0) * dy_SBNE.size(1) * dy_SBNE.size(2), dy_SBNE.size(3)}, dy_SBNE.options());
    kernel({dx_RE, dy_SBNE}, [&] { rotary.copy_turned(dx_RE.view(dy_SBNE.sizes()), dy_SBNE, Turn::kBack); });
    return {dx_RE, at::Tensor(), at::Tensor()};
  }
};

}  // namespace

std::int64_t mixed_width(const GqaShape& shape) {
  return shape.num_query_groups * MixedLayout(shape, {}).heads_of_group() * shape.kv_channels;
}

GqaHeads split_heads(const at::Tensor& mixed_TD, const GqaShape& shape, SequenceShape sequence) {
  const auto parts = SplitHeadsFunction::apply(mixed_TD, c10::make_intrusive<LayoutHolder>(MixedLayout(shape, sequence)));
  return {parts[0], parts[1], parts[2], shape.attention_output_gate ? parts[3] : at::Tensor()};
}

at::Tensor place_heads(const at::Tensor& x_RE, const GqaShape& shape, SequenceShape sequence) {
  return PlaceHeadsFunction::apply(x_RE, sequence, RotaryPart{shape.rotary_channels(), shape.rotary_base, sequence.place});
}

}  // namespace rematch::nn
