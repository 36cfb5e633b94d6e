#include "runtime/recompute/checkpoint.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include "runtime/recompute/replay.h"

namespace rematch::recompute {

namespace {

struct CheckpointState final : torch::CustomClassHolder {
  CheckpointState(RegionFn fn_in, RandomState random_in, std::int64_t* replays_in)
      : fn(std::move(fn_in)), random(std::move(random_in)), replays(replays_in) {}
  RegionFn fn;
  RandomState random;
  std::int64_t* replays;
};

class CheckpointFunction : public torch::autograd::Function<CheckpointFunction> {
 public:
  static torch::autograd::variable_list forward(torch::autograd::AutogradContext* ctx, const c10::intrusive_ptr<CheckpointState>& state,
                                                at::TensorList inputs) {
    ctx->saved_data["state"] = c10::IValue::make_capsule(state);
    ctx->set_materialize_grads(false);
    const Tensors kept = inputs.vec();
    ctx->save_for_backward(kept);
    return state->fn(kept);
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx, torch::autograd::variable_list output_grads) {
    const auto state = c10::static_intrusive_pointer_cast<CheckpointState>(ctx->saved_data["state"].toCapsule());
    auto inputs = detach_inputs(ctx->get_saved_variables());
    Tensors outputs;
    {
      const RandomStateScope random(state->random, inputs.front().device());
      const at::AutoGradMode grad_on(true);
      outputs = state->fn(inputs);
    }
    ++*state->replays;
    auto grads = replay_backward(std::move(outputs), output_grads, std::move(inputs));
    grads.insert(grads.begin(), at::Tensor());  // the state argument
    return grads;
  }
};

}  // namespace

Tensors run_checkpointed(const RegionFn& fn, const Tensors& inputs, std::int64_t* replays) {
  auto state = c10::make_intrusive<CheckpointState>(fn, capture_random_state(inputs.front().device()), replays);
  return CheckpointFunction::apply(std::move(state), at::TensorList(inputs));
}

}  // namespace rematch::recompute
