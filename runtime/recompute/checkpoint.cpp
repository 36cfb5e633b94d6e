#include "runtime/recompute/checkpoint.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include "runtime/base/pass.h"
#include "runtime/base/saved_tensors.h"
#include "runtime/recompute/replay.h"

namespace rematch::recompute {

namespace {

struct UseHolder final : torch::CustomClassHolder {
  explicit UseHolder(RegionUse use_in) : use(std::move(use_in)) {}
  RegionUse use;
};

using SavedData = ska::flat_hash_map<std::string, at::IValue>;

// The first input, whole again. The kept slice goes with it: nothing else holds it in the backward.
at::Tensor restored(const InputShard& shard, SavedData& saved) {
  const base::PassScope pass(protocol::Pass::kReplay);
  auto whole = shard.restore(saved.at("shard").toTensor(), saved.at("sizes").toIntVector());
  saved.at("shard") = at::IValue();
  return whole.requires_grad_(saved.at("needs_grad").toBool());
}

class CheckpointFunction : public torch::autograd::Function<CheckpointFunction> {
 public:
  static torch::autograd::variable_list forward(torch::autograd::AutogradContext* ctx, const c10::intrusive_ptr<UseHolder>& holder,
                                                at::TensorList inputs) {
    ctx->saved_data["use"] = c10::IValue::make_capsule(holder);
    ctx->set_materialize_grads(false);
    const Tensors whole = inputs.vec();
    Tensors kept = whole;
    if (const auto* shard = holder->use.site().input_shard) {
      // Kept beside the context: saving it as the input would keep the whole.
      ctx->saved_data["shard"] = shard->keep(kept.front());
      ctx->saved_data["sizes"] = kept.front().sizes().vec();
      ctx->saved_data["needs_grad"] = kept.front().requires_grad();
      base::note_saved("checkpoint", "input_shard", ctx->saved_data["shard"].toTensor());
      kept.erase(kept.begin());
    }
    // Before the function: its operations name what they save, and nothing of theirs is kept.
    for (const auto& input : kept) base::note_saved("checkpoint", "input", input);
    ctx->save_for_backward(kept);
    return holder->use.run_first(whole);
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx, torch::autograd::variable_list output_grads) {
    const auto& use = c10::static_intrusive_pointer_cast<UseHolder>(ctx->saved_data["use"].toCapsule())->use;
    auto inputs = detach_inputs(ctx->get_saved_variables());
    if (const auto* shard = use.site().input_shard) inputs.insert(inputs.begin(), restored(*shard, ctx->saved_data));
    auto outputs = use.replay(inputs);
    auto grads = replay_backward(std::move(outputs), output_grads, std::move(inputs));
    grads.insert(grads.begin(), at::Tensor());  // the holder
    return grads;
  }
};

}  // namespace

Tensors run_checkpointed(const RegionSite& site, const RegionFn& fn, const Tensors& inputs) {
  return CheckpointFunction::apply(c10::make_intrusive<UseHolder>(RegionUse(site, fn)), at::TensorList(inputs));
}

}  // namespace rematch::recompute
