#include "runtime/recompute/output_discard.h"

#include <ATen/ATen.h>
#include <c10/core/StorageImpl.h>
#include <torch/csrc/autograd/custom_function.h>

#include <utility>

#include "runtime/base/saved_tensors.h"

namespace rematch::recompute {

namespace {

void release_storage(void* context) { c10::raw::intrusive_ptr::decref(static_cast<c10::StorageImpl*>(context)); }

// Points `old_storage` at `fresh`'s memory; the pointer's deleter holds `fresh`. No copy, and no version counter moves.
void alias_storage(c10::StorageImpl& old_storage, const c10::Storage& fresh) {
  c10::StorageImpl* holder = fresh.unsafeGetStorageImpl();
  c10::raw::intrusive_ptr::incref(holder);
  old_storage.set_data_ptr_noswap(c10::DataPtr(holder->mutable_data(), holder, &release_storage, holder->device()));
  old_storage.set_nbytes(holder->nbytes());
}

void drop_memory(c10::StorageImpl& storage) {
  storage.set_data_ptr_noswap(c10::DataPtr(nullptr, storage.device()));
  storage.set_nbytes(std::size_t{0});
}

class DiscardFunction : public torch::autograd::Function<DiscardFunction> {
 public:
  static torch::autograd::variable_list forward(torch::autograd::AutogradContext* ctx, const c10::intrusive_ptr<DiscardState>& state,
                                                at::TensorList) {
    ctx->saved_data["state"] = c10::IValue::make_capsule(state);
    ctx->set_materialize_grads(false);
    return state->run_first();
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx, torch::autograd::variable_list output_grads) {
    const auto state = c10::static_intrusive_pointer_cast<DiscardState>(ctx->saved_data["state"].toCapsule());
    auto grads = state->backward(output_grads);
    grads.insert(grads.begin(), at::Tensor());  // the state argument
    return grads;
  }
};

}  // namespace

DiscardState::DiscardState(RegionUse use, const Tensors& inputs) : use_(std::move(use)), inputs_(detach_inputs(inputs)) {
  for (const auto& input : inputs) base::note_saved("checkpoint", "input", input);
}
DiscardState::~DiscardState() = default;

void DiscardState::discard(const Tensors& outputs) {
  for (const auto& output : outputs) {
    discarded_.push_back(output.storage().getWeakStorageImpl().lock());
    drop_memory(*discarded_.back());
  }
}

void DiscardState::replay() {
  if (replayed_) return;
  replayed_ = true;
  // Detached again, so that each replay's inputs have gradients of their own.
  replay_inputs_ = detach_inputs(inputs_);
  replay_outputs_ = use_.replay(replay_inputs_);
  for (std::size_t i = 0; i < discarded_.size(); ++i) alias_storage(*discarded_[i], replay_outputs_[i].storage());
  discarded_.clear();
}

Tensors DiscardState::backward(const Tensors& output_grads) {
  replay();
  inputs_.clear();
  return replay_backward(std::exchange(replay_outputs_, {}), output_grads, std::exchange(replay_inputs_, {}));
}

c10::intrusive_ptr<DiscardState> make_discard_state(const RegionSite& site, const RegionFn& fn, const Tensors& inputs) {
  return c10::make_intrusive<DiscardState>(RegionUse(site, fn), inputs);
}

Tensors run_discardable(const c10::intrusive_ptr<DiscardState>& state, const Tensors& inputs) {
  return DiscardFunction::apply(state, at::TensorList(inputs));
}

void discard_outputs(const c10::intrusive_ptr<DiscardState>& state, const Tensors& outputs, const at::Tensor& consumer_output) {
  state->discard(outputs);
  consumer_output.register_hook([state](const at::Tensor&) { state->replay(); });
}

}  // namespace rematch::recompute
