#include "runtime/train/trainer.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/autograd.h>

#include <bit>
#include <cmath>
#include <cstdio>

#include "probes/device/charge.h"
#include "runtime/base/errors.h"
#include "runtime/base/log.h"
#include "runtime/base/pass.h"
#include "runtime/base/scope.h"
#include "runtime/parallel/optimizer.h"
#include "runtime/parallel/tensor_grads.h"
#include "runtime/train/built_model.h"
#include "runtime/train/gradient_log.h"

namespace rematch::train {

namespace {

using protocol::Phase;
using protocol::Stage;

class TrainingJob {
 public:
  TrainingJob(const TrainRequest& request, Recorder& recorder);
  void run_step(std::int64_t step);

 private:
  void forward_and_backward(std::int64_t step, protocol::StepRecord& record);
  at::Tensor forward(const Batch& batch);
  void update_parameters(std::int64_t step, protocol::StepRecord& record);
  void read_loss(protocol::StepRecord& record);
  double mean_of_ranks(double value) const;  // over the data- and context-parallel ranks; collective
  // Stages of the first step, entered and left again by each of its micro-batches; later steps have none of their own.
  void enter_once(std::int64_t step, Stage stage);
  void leave_once(std::int64_t step, Stage stage);

  const mesh::Mesh& mesh_;
  probes::DeviceMemory& memory_;
  Recorder& recorder_;
  BuiltModel built_;
  parallel::Optimizer optimizer_;
  std::optional<GradientLog> gradient_log_;
  at::Tensor loss_sum_;  // of the step's micro-batches, fp32 scalar
};

TrainingJob::TrainingJob(const TrainRequest& request, Recorder& recorder)
    : mesh_(request.mesh),
      memory_(request.memory),
      recorder_(recorder),
      built_(request.trial, request.resolved_recompute, request.mesh),
      optimizer_(request.trial.optimizer, request.mesh, built_.buffers()) {
  if (request.gradient_log_folder && !mesh_.device().is_meta()) gradient_log_.emplace(*request.gradient_log_folder, mesh_.rank());
  recorder_.model(built_.record());
}

void TrainingJob::enter_once(std::int64_t step, Stage stage) {
  if (step == 0) recorder_.enter(stage);
}

void TrainingJob::leave_once(std::int64_t step, Stage stage) {
  if (step == 0) recorder_.leave(stage);
}

void TrainingJob::run_step(std::int64_t step) {
  recorder_.begin_step(step);
  protocol::StepRecord record;
  mesh_.comm_log().take();  // what lies between steps is record keeping
  built_.policy().reset_replays();
  optimizer_.zero_grads();
  forward_and_backward(step, record);
  if (gradient_log_) gradient_log_->append(step, built_.store());
  update_parameters(step, record);
  recorder_.enter_phase(Phase::kOther);
  read_loss(record);
  record.replays = built_.policy().replays();
  record.tokens_received = built_.model().tokens_received();
  for (const auto& [name, loss] : built_.model().take_aux_losses()) record.aux_losses[name] = mean_of_ranks(loss);
  record.communication = mesh_.comm_log().take();
  recorder_.end_step(record);
  recorder_.write_step(record);
  if (record.is_nan)
    throw base::NumericsError("step " + std::to_string(step) +
                              ": loss or gradient norm is not finite; lower optimizer.lr or check the data");
}

void TrainingJob::forward_and_backward(std::int64_t step, protocol::StepRecord& record) {
  loss_sum_.reset();
  for (std::int64_t micro_batch = 0; micro_batch < built_.num_microbatches(); ++micro_batch) {
    recorder_.enter_phase(Phase::kOther);
    const auto batch = built_.batch(step, micro_batch);
    recorder_.enter_phase(Phase::kForward);
    enter_once(step, Stage::kFirstForward);
    const auto loss = [&] {
      const base::PassScope pass(protocol::Pass::kForward);
      return forward(batch);
    }();
    record.forward_end_allocated_bytes = memory_.snapshot().allocated_bytes;
    leave_once(step, Stage::kFirstForward);
    recorder_.enter_phase(Phase::kBackward);
    enter_once(step, Stage::kFirstBackward);
    {
      const base::PassScope pass(protocol::Pass::kBackward);
      torch::autograd::backward({loss}, {});
    }
    leave_once(step, Stage::kFirstBackward);
  }
}

at::Tensor TrainingJob::forward(const Batch& batch) {
  const base::RoleScope activations(protocol::Role::kActivations);
  auto loss = built_.loss(batch);
  const base::RoleScope losses(protocol::Role::kLogitsAndLoss);
  const at::NoGradGuard no_grad;
  loss_sum_ = loss_sum_.defined() ? loss_sum_ + loss.detach() : loss.detach().clone();
  const at::AutoGradMode grad_on(true);
  return built_.num_microbatches() == 1 ? loss : loss / static_cast<double>(built_.num_microbatches());
}

void TrainingJob::update_parameters(std::int64_t step, protocol::StepRecord& record) {
  recorder_.enter_phase(Phase::kGradSync);
  enter_once(step, Stage::kFirstGradSync);
  parallel::sum_tensor_grads(built_.store(), mesh_.tensor());
  optimizer_.sync_grads();
  built_.model().finish_step();
  leave_once(step, Stage::kFirstGradSync);
  enter_once(step, Stage::kOptimizerInit);
  if (!optimizer_.has_late_state()) {
    recorder_.enter_phase(Phase::kOptimizerInit);
    optimizer_.make_late_state();
  }
  recorder_.enter_phase(Phase::kOptimizer);
  const double grad_norm = optimizer_.grad_norm();
  if (std::isfinite(grad_norm)) {
    if (!mesh_.device().is_meta()) record.grad_norm = grad_norm;
    optimizer_.step(grad_norm);
  } else {
    record.is_nan = record.skipped = true;
  }
  leave_once(step, Stage::kOptimizerInit);
}

void TrainingJob::read_loss(protocol::StepRecord& record) {
  if (loss_sum_.is_meta()) return;
  const probes::ScratchScope scratch;
  loss_sum_.div_(static_cast<double>(built_.num_microbatches() * mesh_.data_context().size()));
  mesh_.data_context().all_reduce_sum(loss_sum_);
  const auto loss = loss_sum_.item<float>();
  char bits[9];
  std::snprintf(bits, sizeof(bits), "%08x", std::bit_cast<std::uint32_t>(loss));
  record.loss_bits = bits;
  if (std::isfinite(loss))
    record.loss = static_cast<double>(loss);
  else
    record.is_nan = true;
}

double TrainingJob::mean_of_ranks(double value) const {
  const probes::ScratchScope scratch;
  const auto sum = at::full({1}, value, at::TensorOptions(mesh_.device()).dtype(at::kDouble));
  mesh_.data_context().all_reduce_sum(sum);
  return sum.item<double>() / mesh_.data_context().size();
}

}  // namespace

std::int64_t train(const TrainRequest& request, Recorder& recorder) {
  const probes::DeviceScope charged;
  recorder.enter(Stage::kBuilt);
  TrainingJob job(request, recorder);
  recorder.leave(Stage::kBuilt);
  const auto num_steps = request.trial.training.train_iters;
  // The first step has stages of its own; the next ones up to `warmup_steps` are warm, the rest steady.
  const auto num_warm = std::min(std::max<std::int64_t>(request.trial.measure.warmup_steps, 1), num_steps);
  std::int64_t step = 0;
  job.run_step(step++);
  const auto run_stage = [&](Stage stage, std::int64_t end) {
    if (step >= end) return;
    recorder.enter(stage);
    while (step < end) job.run_step(step++);
    recorder.leave(stage);
  };
  run_stage(Stage::kWarm, num_warm);
  run_stage(Stage::kSteady, num_steps);
  return step;
}

}  // namespace rematch::train
