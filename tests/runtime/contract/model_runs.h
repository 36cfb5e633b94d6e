// A model of a family built and trained for a few micro-batches inside the test, on the modelled CPU device: what its loss, gradients,
// sites and memory are under one recompute setting.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/nn/core_attention.h"
#include "schemas/protocol/describe.h"
#include "schemas/protocol/rank_record.h"
#include "schemas/protocol/trial.h"

namespace rematch::tests {

struct ModelCase {
  std::string preset;
  protocol::FieldMap overrides;
  nn::AttentionBackend backend = nn::AttentionBackend::kFused;
  std::int64_t length = 80;  // no multiple of any chunk or block
  std::int64_t batch = 2;
  std::int64_t num_microbatches = 2;
};

struct ModelRun {
  std::vector<at::Tensor> losses;           // one a micro-batch
  std::map<std::string, at::Tensor> grads;  // summed over the micro-batches
  std::map<std::string, double> aux_losses;
  protocol::LabelCounts sites;
  protocol::LabelCounts replays;         // of the step
  std::int64_t held_bytes = 0;           // by the last micro-batch's forward, for its backward
  std::int64_t backward_peak_bytes = 0;  // of the last micro-batch, over what was allocated before its forward
  // What was allocated, over the same, when the gradient of each parameter was made in the last micro-batch's backward.
  std::map<std::string, std::int64_t> allocated_at_gradient;
  std::int64_t step_cpu_ns = 0;  // forwards and backwards, without the making of batches
  std::int64_t step_wall_ns = 0;
};

// The preset of this name with defaults filled in and `overrides` set.
protocol::PresetDescription preset_named(const std::string& name);
protocol::FieldMap resolved_fields(const std::string& preset, const protocol::FieldMap& overrides);
const protocol::FamilyDescription& family_of_preset(const std::string& preset);

// Of a model that is built, on the meta device, and not trained. Throws base::BadTrial.
std::int64_t num_parameters(const std::string& preset, const protocol::FieldMap& overrides);

// A model under one recompute setting, kept from step to step. Its parameters stay as they are; gradients add up. Seeds the streams that
// all models of the process draw from.
class TrainedModel {
 public:
  TrainedModel(const ModelCase& model, const protocol::RecomputeSpec& recompute);
  ~TrainedModel();
  ModelRun step();

 private:
  struct Built;
  std::unique_ptr<Built> built_;
};

// The first step.
ModelRun run_model(const ModelCase& model, const protocol::RecomputeSpec& recompute);

// Selective recompute of these labels, by the core revision that all labels of this trainer are in.
protocol::RecomputeSpec selective(std::vector<std::string> labels);
protocol::RecomputeSpec full(const std::string& method, std::int64_t num_layers);

}  // namespace rematch::tests
