#include "runtime/train/trainer.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/autograd.h>

#include <bit>
#include <cmath>
#include <cstdio>
#include <memory>
#include <vector>

#include "probes/device/charge.h"
#include "runtime/base/errors.h"
#include "runtime/base/log.h"
#include "runtime/base/scope.h"
#include "runtime/models/model.h"
#include "runtime/parallel/optimizer.h"
#include "runtime/parallel/place_parameters.h"
#include "runtime/train/gradient_log.h"
#include "runtime/train/mock_data.h"

namespace rematch::train {

namespace {

using protocol::Phase;
using protocol::Stage;

class TrainingJob {
 public:
  TrainingJob(const TrainRequest& request, Recorder& recorder);
  void run_step(std::int64_t step);

 private:
  void build_parameters();
  protocol::ModelRecord model_record(const models::Family& family) const;
  void forward_and_backward(std::int64_t step, protocol::StepRecord& record);
  at::Tensor forward(const Batch& batch);
  void update_parameters(std::int64_t step, protocol::StepRecord& record);
  void read_loss(protocol::StepRecord& record);
  // Stages of the first step, entered and left again by each of its micro-batches; later steps have none of their own.
  void enter_once(std::int64_t step, Stage stage);
  void leave_once(std::int64_t step, Stage stage);

  const protocol::Trial& trial_;
  const mesh::Mesh& mesh_;
  probes::DeviceMemory& memory_;
  Recorder& recorder_;
  recompute::Policy policy_;
  nn::ParameterStore store_;
  std::unique_ptr<models::Model> model_;
  nn::DummyGrads dummies_;
  std::vector<std::unique_ptr<parallel::ParamBuffer>> buffers_;
  std::unique_ptr<parallel::Optimizer> optimizer_;
  std::optional<GradientLog> gradient_log_;
  nn::SequenceShape sequence_;
  std::int64_t num_microbatches_;
  at::Tensor loss_sum_;  // of the step's micro-batches, fp32 scalar
};

std::vector<parallel::ParamBuffer*> pointers(const std::vector<std::unique_ptr<parallel::ParamBuffer>>& owned) {
  std::vector<parallel::ParamBuffer*> all;
  for (const auto& one : owned) all.push_back(one.get());
  return all;
}

nn::AttentionBackend attention_backend(const std::string& name) {
  return name == "unfused" ? nn::AttentionBackend::kUnfused : nn::AttentionBackend::kFused;
}

TrainingJob::TrainingJob(const TrainRequest& request, Recorder& recorder)
    : trial_(request.trial),
      mesh_(request.mesh),
      memory_(request.memory),
      recorder_(recorder),
      policy_(request.resolved_recompute, request.mesh.device()),
      sequence_{trial_.training.seq_length, trial_.training.micro_batch_size},
      num_microbatches_(trial_.training.global_batch_size / (trial_.training.micro_batch_size * mesh_.dims().data_parallel_size())) {
  random::seed_streams(policy_.random(), {.seed = trial_.training.seed, .expert_parallel_rank = mesh_.expert().rank()});
  const auto& family = models::family_named(trial_.model.family);
  model_ = family.build(trial_.model.fields, {.mesh = mesh_,
                                              .store = store_,
                                              .policy = policy_,
                                              .attention_backend = attention_backend(trial_.backend.attention),
                                              .loss_scale = 1.0 / static_cast<double>(num_microbatches_)});
  build_parameters();
  if (request.gradient_log_folder && !mesh_.device().is_meta()) gradient_log_.emplace(*request.gradient_log_folder, mesh_.rank());
  recorder_.model(model_record(family));
}

void TrainingJob::build_parameters() {
  buffers_ = parallel::place_parameters(store_, mesh_, trial_.optimizer, dummies_);
  for (const auto& parameter : store_.all()) nn::initialise(parameter, trial_.training.seed, model_->init_method_std());
  optimizer_ = std::make_unique<parallel::Optimizer>(trial_.optimizer, mesh_, pointers(buffers_));
}

protocol::ModelRecord TrainingJob::model_record(const models::Family& family) const {
  protocol::ModelRecord record;
  for (const auto& parameter : store_.all()) {
    const bool is_expert = parameter.declaration.kind == nn::ParameterKind::kExpert;
    record.num_parameters_local += parameter.num_elements();
    record.num_parameters_total += parameter.num_elements() * (is_expert ? mesh_.expert().size() : 1);
  }
  record.flops_per_step = family.flops_per_step(trial_.model.fields, trial_.training);
  record.sites = policy_.sites();
  record.sites_available = policy_.sites_available();
  return record;
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
  policy_.reset_replays();
  optimizer_->zero_grads();
  forward_and_backward(step, record);
  if (gradient_log_) gradient_log_->append(step, store_);
  update_parameters(step, record);
  recorder_.enter_phase(Phase::kOther);
  read_loss(record);
  record.replays = policy_.replays();
  record.tokens_received = model_->tokens_received();
  for (const auto& [name, loss] : model_->take_aux_losses()) record.aux_losses[name] = loss;
  recorder_.end_step(record);
  recorder_.write_step(record);
  if (record.is_nan)
    throw base::NumericsError("step " + std::to_string(step) +
                              ": loss or gradient norm is not finite; lower optimizer.lr or check the data");
}

void TrainingJob::forward_and_backward(std::int64_t step, protocol::StepRecord& record) {
  loss_sum_.reset();
  for (std::int64_t micro_batch = 0; micro_batch < num_microbatches_; ++micro_batch) {
    recorder_.enter_phase(Phase::kOther);
    const auto sample = step * trial_.training.global_batch_size +
                        (micro_batch * mesh_.dims().data_parallel_size() + mesh_.data().rank()) * sequence_.batch;
    const auto batch = mock_batch({trial_.training.seed, sample, sequence_, model_->vocab_size()}, mesh_.device());
    recorder_.enter_phase(Phase::kForward);
    enter_once(step, Stage::kFirstForward);
    const auto loss = forward(batch);
    record.forward_end_allocated_bytes = memory_.snapshot().allocated_bytes;
    leave_once(step, Stage::kFirstForward);
    recorder_.enter_phase(Phase::kBackward);
    enter_once(step, Stage::kFirstBackward);
    torch::autograd::backward({loss}, {});
    leave_once(step, Stage::kFirstBackward);
  }
}

at::Tensor TrainingJob::forward(const Batch& batch) {
  const base::RoleScope activations(protocol::Role::kActivations);
  auto loss = model_->loss(batch.ids_T, batch.labels_T, sequence_);
  const base::RoleScope losses(protocol::Role::kLogitsAndLoss);
  const at::NoGradGuard no_grad;
  loss_sum_ = loss_sum_.defined() ? loss_sum_ + loss.detach() : loss.detach().clone();
  const at::AutoGradMode grad_on(true);
  return num_microbatches_ == 1 ? loss : loss / static_cast<double>(num_microbatches_);
}

void TrainingJob::update_parameters(std::int64_t step, protocol::StepRecord& record) {
  recorder_.enter_phase(Phase::kGradSync);
  enter_once(step, Stage::kFirstGradSync);
  optimizer_->sync_grads();
  model_->finish_step();
  leave_once(step, Stage::kFirstGradSync);
  enter_once(step, Stage::kOptimizerInit);
  if (!optimizer_->has_late_state()) {
    recorder_.enter_phase(Phase::kOptimizerInit);
    optimizer_->make_late_state();
  }
  recorder_.enter_phase(Phase::kOptimizer);
  const double grad_norm = optimizer_->grad_norm();
  if (std::isfinite(grad_norm)) {
    if (!mesh_.device().is_meta()) record.grad_norm = grad_norm;
    optimizer_->step(grad_norm);
  } else {
    record.is_nan = record.skipped = true;
  }
  leave_once(step, Stage::kOptimizerInit);
}

void TrainingJob::read_loss(protocol::StepRecord& record) {
  if (loss_sum_.is_meta()) return;
  const probes::ScratchScope scratch;
  loss_sum_.div_(static_cast<double>(num_microbatches_ * mesh_.dims().data_parallel_size()));
  mesh_.data().all_reduce_sum(loss_sum_);
  const auto loss = loss_sum_.item<float>();
  char bits[9];
  std::snprintf(bits, sizeof(bits), "%08x", std::bit_cast<std::uint32_t>(loss));
  record.loss_bits = bits;
  if (std::isfinite(loss))
    record.loss = static_cast<double>(loss);
  else
    record.is_nan = true;
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
