#include "runtime/train/trainer.h"

#include <ATen/ATen.h>

#include <bit>
#include <cmath>
#include <cstdio>

#include "probes/device/charge.h"
#include "runtime/base/errors.h"
#include "runtime/base/log.h"
#include "runtime/base/work_log.h"
#include "runtime/parallel/optimizer.h"
#include "runtime/parallel/tensor_grads.h"
#include "runtime/train/assumed_memory.h"
#include "runtime/train/built_model.h"
#include "runtime/train/gradient_log.h"
#include "runtime/train/pipeline_passes.h"

namespace rematch::train {

namespace {

using protocol::Phase;
using protocol::Stage;

class TrainingJob {
 public:
  TrainingJob(const TrainRequest& request, Recorder& recorder);
  void run_step(std::int64_t step);

 private:
  void update_parameters(std::int64_t step, protocol::StepRecord& record);
  void make_late_state();
  void read_loss(protocol::StepRecord& record);
  void read_aux_losses(protocol::StepRecord& record);
  double mean_of_ranks(double value) const;  // over the data- and context-parallel ranks; collective
  // Stages of the first step.
  void enter_once(std::int64_t step, Stage stage);
  void leave_once(std::int64_t step, Stage stage);

  const mesh::Mesh& mesh_;
  Recorder& recorder_;
  AssumedMemory assumed_;
  BuiltModel built_;
  PipelinePasses passes_;
  parallel::Optimizer optimizer_;
  std::optional<GradientLog> gradient_log_;
};

TrainingJob::TrainingJob(const TrainRequest& request, Recorder& recorder)
    : mesh_(request.mesh),
      recorder_(recorder),
      assumed_(request.trial.prediction, request.mesh.device()),
      built_(request.trial, request.resolved_recompute, request.mesh),
      passes_(built_, request.mesh, request.memory, recorder),
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
  base::take_work();
  built_.policy().reset_replays();
  optimizer_.zero_grads();
  passes_.run(step);
  record.forward_end_allocated_bytes = passes_.forward_end().allocated_bytes;
  record.forward_end_requested_bytes = passes_.forward_end().requested_bytes;
  if (gradient_log_)
    for (const auto& chunk : built_.chunks()) gradient_log_->append(step, chunk.store);
  update_parameters(step, record);
  recorder_.enter_phase(Phase::kOther);
  read_loss(record);
  record.replays = built_.policy().replays();
  record.tokens_received = built_.tokens_received();
  read_aux_losses(record);
  record.communication = mesh_.comm_log().take();
  record.work = base::take_work();
  recorder_.end_step(record);
  recorder_.write_step(record);
  if (record.is_nan)
    throw base::NumericsError("step " + std::to_string(step) +
                              ": loss or gradient norm is not finite; lower optimizer.lr or check the data");
}

void TrainingJob::update_parameters(std::int64_t step, protocol::StepRecord& record) {
  recorder_.enter_phase(Phase::kGradSync);
  enter_once(step, Stage::kFirstGradSync);
  for (auto& chunk : built_.chunks()) parallel::sum_tensor_grads(chunk.store, mesh_.tensor());
  optimizer_.sync_grads();
  built_.finish_step();
  leave_once(step, Stage::kFirstGradSync);
  enter_once(step, Stage::kOptimizerInit);
  recorder_.enter_phase(Phase::kOptimizer);
  const double grad_norm = optimizer_.grad_norm();
  if (std::isfinite(grad_norm)) {
    if (!mesh_.device().is_meta()) record.grad_norm = grad_norm;
    make_late_state();
    optimizer_.step(grad_norm);
  } else {
    record.is_nan = record.skipped = true;
  }
  leave_once(step, Stage::kOptimizerInit);
}

// As in Megatron the moments are made while the gradients' fp32 copies live already.
void TrainingJob::make_late_state() {
  if (optimizer_.has_late_state()) return;
  recorder_.enter_phase(Phase::kOptimizerInit);
  optimizer_.make_late_state();
  recorder_.enter_phase(Phase::kOptimizer);
}

// Known on every rank; only those with the head add to the sum.
void TrainingJob::read_loss(protocol::StepRecord& record) {
  if (mesh_.device().is_meta()) return;
  const probes::ScratchScope scratch;
  const auto sum = passes_.loss_sum().defined() ? passes_.loss_sum() : at::zeros({}, at::TensorOptions(mesh_.device()).dtype(at::kFloat));
  sum.div_(static_cast<double>(built_.num_microbatches() * mesh_.data_context().size()));
  mesh_.data_context().all_reduce_sum(sum);
  mesh_.pipeline().all_reduce_sum(sum);
  const auto loss = sum.item<float>();
  char bits[9];
  std::snprintf(bits, sizeof(bits), "%08x", std::bit_cast<std::uint32_t>(loss));
  record.loss_bits = bits;
  if (std::isfinite(loss))
    record.loss = static_cast<double>(loss);
  else
    record.is_nan = true;
}

void TrainingJob::read_aux_losses(protocol::StepRecord& record) {
  const auto losses = built_.take_aux_losses();
  if (mesh_.device().is_meta()) return;
  for (const auto& [name, loss] : losses) {
    const probes::ScratchScope scratch;
    const auto sums = at::tensor({loss.sum, static_cast<double>(loss.num_layers)}, at::kDouble).to(mesh_.device());
    mesh_.pipeline().all_reduce_sum(sums);
    const auto num_layers = sums[1].item<double>();
    if (num_layers > 0) record.aux_losses[name] = mean_of_ranks(sums[0].item<double>() / num_layers);
  }
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
