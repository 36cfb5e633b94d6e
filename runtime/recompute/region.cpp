#include "runtime/recompute/region.h"

#include <ATen/core/grad_mode.h>

#include <utility>

#include "runtime/recompute/checkpoint.h"
#include "runtime/recompute/output_discard.h"

namespace rematch::recompute {

RegionOutput::RegionOutput(Tensors tensors_in, c10::intrusive_ptr<DiscardState> state)
    : tensors(std::move(tensors_in)), state_(std::move(state)) {}
RegionOutput::~RegionOutput() = default;
RegionOutput::RegionOutput(RegionOutput&&) noexcept = default;

void RegionOutput::discard_after(const at::Tensor& consumer_output) {
  if (state_ && consumer_output.requires_grad()) discard_outputs(state_, tensors, consumer_output);
}

RegionOutput Region::run(const RegionFn& fn, const Tensors& inputs) const {
  if (!at::GradMode::is_enabled()) return RegionOutput(fn(inputs));
  switch (mode_) {
    case Mode::kInactive: return RegionOutput(fn(inputs));
    case Mode::kCheckpoint: return RegionOutput(run_checkpointed(fn, inputs, replays_));
    case Mode::kDiscardOutput: {
      auto state = make_discard_state(fn, inputs, replays_);
      auto outputs = run_discardable(state, inputs);
      return RegionOutput(std::move(outputs), std::move(state));
    }
  }
  return RegionOutput(Tensors{});
}

}  // namespace rematch::recompute
