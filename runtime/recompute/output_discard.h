// Output-discarding checkpoint: keeps the inputs only. The outputs' memory is dropped once their consumer has saved them; before the
// consumer's backward the function is replayed and the OLD storages are pointed at the NEW outputs' memory, without a copy.
#pragma once

#include "runtime/recompute/region.h"
#include "runtime/recompute/replay.h"

#include <torch/custom_class.h>

namespace c10 {
struct StorageImpl;
}

namespace rematch::recompute {

// One use of one region, from its forward to the end of its backward.
class DiscardState final : public torch::CustomClassHolder {
 public:
  DiscardState(RegionUse use, const Tensors& inputs);
  ~DiscardState() override;

  Tensors run_first() const { return use_.run_first(inputs_); }  // under no-grad
  void discard(const Tensors& outputs);
  void replay();  // once; rehydrates the discarded storages
  // Gradients of the inputs. Replays first if no hook did. Releases everything that is held.
  Tensors backward(const Tensors& output_grads);

 private:
  RegionUse use_;
  Tensors inputs_;  // detached aliases
  std::vector<c10::intrusive_ptr<c10::StorageImpl>> discarded_;
  Tensors replay_inputs_;
  Tensors replay_outputs_;
  bool replayed_ = false;
};

c10::intrusive_ptr<DiscardState> make_discard_state(const RegionSite& site, const RegionFn& fn, const Tensors& inputs);
Tensors run_discardable(const c10::intrusive_ptr<DiscardState>& state, const Tensors& inputs);
void discard_outputs(const c10::intrusive_ptr<DiscardState>& state, const Tensors& outputs, const at::Tensor& consumer_output);

}  // namespace rematch::recompute
