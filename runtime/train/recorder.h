// What a rank says of itself while it trains: stages, phases with their peaks, steps, and the last words of a failure.
// One a process. The main thread writes; `failed` may also come from the threads that watch signals and peers. Every line is flushed by one
// write.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "probes/device/device_memory.h"
#include "schemas/protocol/rank_record.h"
#include "schemas/protocol/record_file.h"

namespace rematch::train {

class Recorder {
 public:
  Recorder(protocol::RecordWriter& writer, probes::DeviceMemory& memory);

  void hello(protocol::HelloRecord record);
  void model(protocol::ModelRecord record);  // with the phases so far
  void enter(protocol::Stage stage);
  void leave(protocol::Stage stage);

  void begin_step(std::int64_t step);
  // Folds the allocator's watermark into the phase that ends here, and begins the next.
  void enter_phase(protocol::Phase phase);
  // The same, and notes the slot of a pipeline, which ends where the next phase begins.
  void enter_slot(const protocol::PipelineSlot& slot);
  // Ends the step: takes its time, then adds clock, memory and phases to `record`. Write it with write_step.
  void end_step(protocol::StepRecord& record);
  void write_step(const protocol::StepRecord& record);

  void out_of_memory(const std::string& message, const std::string& module_path);
  // `failed_rank`: another rank that is to blame.
  void failed(protocol::FailureKind kind, protocol::TrainExit exit_code, const std::string& message,
              std::optional<std::int64_t> failed_rank = std::nullopt);
  void bye(protocol::TrainExit exit_code, std::int64_t steps_completed);

 private:
  enum class Place { kBetween, kLast };
  void append(const protocol::RankRecord& record, Place place = Place::kBetween);
  void fold();
  void note_slot(std::int64_t duration_ns, std::int64_t peak_allocated_bytes);
  protocol::PhasePeaks take_phases();
  void forget_folds();
  std::optional<std::int64_t> step() const;

  protocol::RecordWriter& writer_;
  probes::DeviceMemory& memory_;
  std::mutex writing_;
  bool has_ended_ = false;
  // Read by those threads.
  std::atomic<protocol::Stage> stage_{protocol::Stage::kSpawned};
  std::atomic<std::int64_t> step_{-1};
  std::atomic<protocol::Phase> phase_{protocol::Phase::kBuild};
  std::vector<protocol::Stage> open_stages_;
  protocol::PhasePeaks phases_;
  std::optional<protocol::PipelineSlot> open_slot_;
  std::vector<protocol::PipelineSlot> slots_;         // of the step, closed
  std::int64_t largest_peak_bytes_ = 0;               // of the folds in phases_
  std::optional<protocol::Attribution> attribution_;  // at that peak
  std::int64_t phase_start_ns_;
  std::int64_t step_start_ns_ = 0;
};

}  // namespace rematch::train
