#include "runtime/train/pipeline_passes.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/edge.h>
#include <torch/csrc/autograd/engine.h>
#include <torch/csrc/autograd/variable.h>

#include "probes/device/charge.h"
#include "runtime/base/pass.h"
#include "runtime/base/scope.h"

namespace rematch::train {

using parallel::Direction;
using protocol::Phase;
using protocol::Stage;

// What a micro-batch in a chunk holds between its forward and its backward, beside the graph's own.
struct PipelinePasses::InFlight {
  models::ModelInput input;
  at::Tensor loss;               // where the head is
  torch::autograd::Edge output;  // elsewhere: the output's place in the graph, without its memory
};

namespace {

// A factor of device arithmetic. LibTorch would wrap a number of the host in a tensor, which the device does not have.
at::Tensor constant(double value, at::Device device) {
  const probes::ScratchScope scratch;
  return at::full({}, value, at::TensorOptions(device).dtype(at::kFloat));
}

}  // namespace

PipelinePasses::PipelinePasses(BuiltModel& built, const mesh::Mesh& mesh, const probes::DeviceMemory& memory, Recorder& recorder)
    : built_(built),
      mesh_(mesh),
      memory_(memory),
      recorder_(recorder),
      schedule_(parallel::pipeline_schedule({.pipeline_size = mesh.dims().pipeline_size(),
                                             .pipeline_rank = mesh.pipeline().rank(),
                                             .num_model_chunks = mesh.dims().num_model_chunks(),
                                             .num_micro_batches = built.num_microbatches()})),
      links_(mesh, built.stream_shape()),
      num_micro_batches_(constant(static_cast<double>(built.num_microbatches()), mesh.device())) {}
PipelinePasses::~PipelinePasses() = default;

void PipelinePasses::run(std::int64_t step) {
  loss_sum_.reset();
  most_in_flight_ = 0;
  for (const auto& slot : schedule_) slot.direction == Direction::kForward ? forward(step, slot) : backward(step, slot);
  links_.wait();
}

void PipelinePasses::forward(std::int64_t step, const parallel::ScheduleSlot& slot) {
  const auto& chunk = built_.chunk(slot.model_chunk);
  const base::PassScope pass(protocol::Pass::kForward);
  recorder_.enter_phase(Phase::kOther);
  auto& flight = *(in_flight_[{slot.micro_batch, slot.model_chunk}] = std::make_unique<InFlight>());
  flight.input = built_.input(step, slot.micro_batch, slot.model_chunk);
  if (!chunk.layers.has_embedding) flight.input.hidden_TH = links_.receive_activation();
  enter(slot);
  enter_once(step, Stage::kFirstForward);
  auto output = compute(chunk, flight.input);
  if (chunk.layers.has_head)
    flight.loss = std::move(output);
  else
    flight.output = torch::autograd::impl::gradient_edge(output);
  leave_once(step, Stage::kFirstForward);
  if (!chunk.layers.has_head) send_output(std::move(output));
  note_forward_end();
}

void PipelinePasses::send_output(at::Tensor output) {
  recorder_.enter_phase(Phase::kOther);
  links_.send_activation(output);
}

void PipelinePasses::backward(std::int64_t step, const parallel::ScheduleSlot& slot) {
  const auto& chunk = built_.chunk(slot.model_chunk);
  const base::PassScope pass(protocol::Pass::kBackward);
  const auto node = in_flight_.extract({slot.micro_batch, slot.model_chunk});
  const auto& flight = *node.mapped();
  at::Tensor gradient;
  if (!chunk.layers.has_head) {
    recorder_.enter_phase(Phase::kOther);
    gradient = links_.receive_gradient();
  }
  enter(slot);
  enter_once(step, Stage::kFirstBackward);
  if (chunk.layers.has_head)
    torch::autograd::backward({flight.loss}, {});
  else
    torch::autograd::Engine::get_default_engine().execute({flight.output}, {gradient}, /*keep_graph=*/false, /*create_graph=*/false,
                                                          /*accumulate_grad=*/true);
  leave_once(step, Stage::kFirstBackward);
  if (chunk.layers.has_embedding) return;
  recorder_.enter_phase(Phase::kOther);
  links_.send_gradient(flight.input.hidden_TH.grad());
}

// The output; where the head is, the loss as the backward wants it.
at::Tensor PipelinePasses::compute(const ModelChunk& chunk, const models::ModelInput& input) {
  const base::RoleScope activations(protocol::Role::kActivations);
  auto output = chunk.model->forward(input);
  if (!chunk.layers.has_head) return output;
  const base::RoleScope losses(protocol::Role::kLogitsAndLoss);
  const at::NoGradGuard no_grad;
  loss_sum_ = loss_sum_.defined() ? loss_sum_ + output.detach() : output.detach().clone();
  const at::AutoGradMode grad_on(true);
  return built_.num_microbatches() == 1 ? output : output / num_micro_batches_;
}

void PipelinePasses::note_forward_end() {
  if (in_flight_.size() < most_in_flight_) return;
  most_in_flight_ = in_flight_.size();
  forward_end_ = memory_.snapshot();
}

void PipelinePasses::enter(const parallel::ScheduleSlot& slot) {
  const auto phase = slot.direction == Direction::kForward ? Phase::kForward : Phase::kBackward;
  if (mesh_.dims().pipeline_size() == 1) return recorder_.enter_phase(phase);
  recorder_.enter_slot({.phase = phase, .micro_batch = slot.micro_batch, .model_chunk = slot.model_chunk});
}

void PipelinePasses::enter_once(std::int64_t step, Stage stage) {
  if (step == 0) recorder_.enter(stage);
}

void PipelinePasses::leave_once(std::int64_t step, Stage stage) {
  if (step == 0) recorder_.leave(stage);
}

}  // namespace rematch::train
