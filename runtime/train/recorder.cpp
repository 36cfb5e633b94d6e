#include "runtime/train/recorder.h"

#include <algorithm>
#include <utility>

#include "probes/host/clock.h"

namespace rematch::train {

using protocol::Stage;

Recorder::Recorder(protocol::RecordWriter& writer, probes::DeviceMemory& memory)
    : writer_(writer), memory_(memory), phase_start_ns_(probes::mono_ns()) {}

void Recorder::hello(protocol::HelloRecord record) {
  record.unix_ns = probes::unix_ns();
  append(record);
}

void Recorder::model(protocol::ModelRecord record) {
  fold();
  record.phases = take_phases();
  append(record);
}

void Recorder::enter(Stage stage) {
  open_stages_.push_back(stage);
  stage_ = stage;
  append(protocol::StageRecord{stage, protocol::StageEvent::kEnter, step(), probes::unix_ns(), probes::mono_ns()});
}

void Recorder::leave(Stage stage) {
  open_stages_.pop_back();
  if (!open_stages_.empty()) stage_ = open_stages_.back();
  append(protocol::StageRecord{stage, protocol::StageEvent::kLeave, step(), probes::unix_ns(), probes::mono_ns()});
}

void Recorder::begin_step(std::int64_t step) {
  memory_.synchronize();
  fold();
  forget_folds();  // what lies between steps is record keeping
  step_ = step;
  phase_ = protocol::Phase::kOther;
  step_start_ns_ = phase_start_ns_ = probes::mono_ns();
}

void Recorder::enter_phase(protocol::Phase phase) {
  memory_.synchronize();
  fold();
  phase_ = phase;
}

void Recorder::enter_slot(const protocol::PipelineSlot& slot) {
  enter_phase(slot.phase);
  open_slot_ = slot;
}

void Recorder::end_step(protocol::StepRecord& record) {
  memory_.synchronize();
  fold();
  record.step = step_;
  record.start_mono_ns = step_start_ns_;
  record.step_time_ns = phase_start_ns_ - step_start_ns_;
  record.peak_attribution = std::move(attribution_);
  record.phases = take_phases();
  record.slots = std::exchange(slots_, {});
  const auto now = memory_.snapshot();
  record.end_allocated_bytes = now.allocated_bytes;
  record.end_reserved_bytes = now.reserved_bytes;
  record.lifetime_peak_allocated_bytes = now.lifetime_peak_allocated_bytes;
  record.lifetime_peak_reserved_bytes = now.lifetime_peak_reserved_bytes;
  record.num_alloc_retries = now.num_alloc_retries;
  record.largest_free_block_bytes = now.largest_free_block_bytes;
}

void Recorder::write_step(const protocol::StepRecord& record) { append(record); }

void Recorder::out_of_memory(const std::string& message, const std::string& module_path) {
  fold();
  protocol::OomRecord record{.stage = stage_,
                             .step = step(),
                             .phase = phase_,
                             .scope = module_path,
                             .phases = take_phases(),
                             .unix_ns = probes::unix_ns(),
                             .mono_ns = probes::mono_ns(),
                             .message = message};
  if (const auto evidence = memory_.last_oom()) {
    record.requested_bytes = evidence->requested_bytes;
    record.allocated_bytes = evidence->allocated_bytes;
    record.reserved_bytes = evidence->reserved_bytes;
    record.capacity_bytes = evidence->capacity_bytes;
    record.largest_free_block_bytes = evidence->largest_free_block_bytes;
    record.num_alloc_retries = evidence->num_alloc_retries;
    record.attribution = evidence->attribution;
  }
  append(record, Place::kLast);
}

void Recorder::failed(protocol::FailureKind kind, protocol::TrainExit exit_code, const std::string& message,
                      std::optional<std::int64_t> failed_rank) {
  append(protocol::ErrorRecord{.kind = kind,
                               .exit_code = exit_code,
                               .stage = stage_,
                               .step = step(),
                               .phase = phase_,
                               .unix_ns = probes::unix_ns(),
                               .mono_ns = probes::mono_ns(),
                               .message = message,
                               .failed_rank = failed_rank},
         Place::kLast);
}

void Recorder::bye(protocol::TrainExit exit_code, std::int64_t steps_completed) {
  const auto now = memory_.snapshot();
  append(protocol::ByeRecord{.exit_code = exit_code,
                             .steps_completed = steps_completed,
                             .lifetime_peak_allocated_bytes = now.lifetime_peak_allocated_bytes,
                             .lifetime_peak_reserved_bytes = now.lifetime_peak_reserved_bytes,
                             .unix_ns = probes::unix_ns()},
         Place::kLast);
}

void Recorder::append(const protocol::RankRecord& record, Place place) {
  const std::lock_guard lock(writing_);
  if (has_ended_) return;
  has_ended_ = place == Place::kLast;
  writer_.append(record);
}

void Recorder::fold() {
  const auto now_ns = probes::mono_ns();
  const auto memory = memory_.snapshot();
  auto& peak = phases_[phase_];
  peak.duration_ns += now_ns - phase_start_ns_;
  peak.peak_allocated_bytes = std::max(peak.peak_allocated_bytes, memory.peak_allocated_bytes);
  peak.peak_reserved_bytes = std::max(peak.peak_reserved_bytes, memory.peak_reserved_bytes);
  if (memory.peak_allocated_bytes > largest_peak_bytes_) {
    largest_peak_bytes_ = memory.peak_allocated_bytes;
    attribution_ = memory_.peak_attribution();
  }
  note_slot(now_ns - phase_start_ns_, memory.peak_allocated_bytes);
  memory_.reset_peaks();
  phase_start_ns_ = now_ns;
}

void Recorder::note_slot(std::int64_t duration_ns, std::int64_t peak_allocated_bytes) {
  if (!open_slot_) return;
  open_slot_->duration_ns = duration_ns;
  open_slot_->peak_allocated_bytes = peak_allocated_bytes;
  slots_.push_back(*std::exchange(open_slot_, std::nullopt));
}

protocol::PhasePeaks Recorder::take_phases() {
  auto phases = std::move(phases_);
  forget_folds();
  return phases;
}

void Recorder::forget_folds() {
  phases_.clear();
  largest_peak_bytes_ = 0;
  attribution_.reset();
}

std::optional<std::int64_t> Recorder::step() const {
  const std::int64_t now = step_;
  return now < 0 ? std::nullopt : std::optional(now);
}

}  // namespace rematch::train
