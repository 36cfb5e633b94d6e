// The micro-batches of a step through this rank's model chunks, forward and backward, in the order of its pipeline schedule: with one
// pipeline rank each one forward and then backward. Tells the recorder which phase it is in. Main thread only. Collective over the
// pipeline.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "probes/device/device_memory.h"
#include "runtime/mesh/mesh.h"
#include "runtime/parallel/pipeline_links.h"
#include "runtime/parallel/pipeline_schedule.h"
#include "runtime/train/built_model.h"
#include "runtime/train/recorder.h"

namespace rematch::train {

class PipelinePasses {
 public:
  // All outlive this.
  PipelinePasses(BuiltModel& built, const mesh::Mesh& mesh, const probes::DeviceMemory& memory, Recorder& recorder);
  ~PipelinePasses();

  void run(std::int64_t step);
  // Of the step's micro-batches, fp32 scalar; undefined where the head is not.
  at::Tensor loss_sum() const { return loss_sum_; }
  // What is held for backward behind the last forward after which as many micro-batches are between their forward and their backward as at
  // any time in the step (one in two chunks counts twice), its output sent.
  const probes::MemorySnapshot& forward_end() const { return forward_end_; }

 private:
  struct InFlight;

  void forward(std::int64_t step, const parallel::ScheduleSlot& slot);
  void backward(std::int64_t step, const parallel::ScheduleSlot& slot);
  at::Tensor compute(const ModelChunk& chunk, const models::ModelInput& input);
  void send_output(at::Tensor output);
  void note_forward_end();
  void enter(const parallel::ScheduleSlot& slot);
  // Stages of the first step, entered and left again by each of its slots; later steps have none of their own.
  void enter_once(std::int64_t step, protocol::Stage stage);
  void leave_once(std::int64_t step, protocol::Stage stage);

  BuiltModel& built_;
  const mesh::Mesh& mesh_;
  const probes::DeviceMemory& memory_;
  Recorder& recorder_;
  std::vector<parallel::ScheduleSlot> schedule_;
  parallel::PipelineLinks links_;
  at::Tensor num_micro_batches_;                                                          // fp32 scalar
  std::map<std::pair<std::int64_t, std::int64_t>, std::unique_ptr<InFlight>> in_flight_;  // by micro-batch and chunk
  std::size_t most_in_flight_ = 0;
  probes::MemorySnapshot forward_end_;
  at::Tensor loss_sum_;
};

}  // namespace rematch::train
