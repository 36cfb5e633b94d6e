#include "runtime/recompute/region.h"

#include <ATen/core/grad_mode.h>

#include <utility>

#include "probes/device/retag.h"
#include "runtime/base/scope.h"
#include "runtime/recompute/checkpoint.h"
#include "runtime/recompute/output_discard.h"
#include "runtime/recompute/region_times.h"

namespace rematch::recompute {

namespace {

RegionOutput run_unwrapped(const std::string& label, const RegionFn& fn, const Tensors& inputs) {
  const RegionTimer timer(label, Pass::kForward);
  return RegionOutput::plain(fn(inputs));
}

}  // namespace

RegionOutput RegionOutput::plain(Tensors tensors) { return {std::move(tensors), {}}; }
RegionOutput::RegionOutput(Tensors tensors_in, c10::intrusive_ptr<DiscardState> state)
    : tensors(std::move(tensors_in)), state_(std::move(state)) {}
RegionOutput::~RegionOutput() = default;
RegionOutput::RegionOutput(RegionOutput&&) noexcept = default;

void RegionOutput::discard_after(const at::Tensor& consumer_output) {
  if (state_ && consumer_output.requires_grad()) discard_outputs(state_, tensors, consumer_output);
}

RegionOutput Region::run(const RegionFn& fn, const Tensors& inputs) const {
  RegionOutput output = run_inside(fn, inputs);
  if (site_.outputs == Outputs::kKept)
    for (const auto& tensor : output.tensors) probes::retag_as_open(tensor.storage().data_ptr());
  return output;
}

RegionOutput Region::run_inside(const RegionFn& fn, const Tensors& inputs) const {
  const base::RegionScope scope(site_.label);
  if (!at::GradMode::is_enabled()) return run_unwrapped(site_.label, fn, inputs);
  switch (site_.mode) {
    case Mode::kInactive: return run_unwrapped(site_.label, fn, inputs);
    case Mode::kCheckpoint: return RegionOutput::plain(run_checkpointed(site_, fn, inputs));
    case Mode::kDiscardOutput: {
      auto state = make_discard_state(site_, fn, inputs);
      auto outputs = run_discardable(state, inputs);
      return RegionOutput(std::move(outputs), std::move(state));
    }
  }
  return RegionOutput::plain({});
}

}  // namespace rematch::recompute
