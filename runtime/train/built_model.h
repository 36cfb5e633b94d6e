// The model of a trial on one rank, in chunks: built, its parameters placed and initialised, its random streams seeded. Main thread only.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/mesh/mesh.h"
#include "runtime/models/model.h"
#include "runtime/nn/main_grad.h"
#include "runtime/parallel/place_parameters.h"
#include "runtime/recompute/policy.h"
#include "schemas/protocol/pipeline_layers.h"
#include "schemas/protocol/trial.h"

namespace rematch::train {

// A stretch of layers with parameters and gradient buffers of its own. One a rank without virtual pipeline stages.
struct ModelChunk {
  protocol::ChunkLayers layers;
  nn::ParameterStore store;
  std::unique_ptr<models::Model> model;
  std::vector<std::unique_ptr<parallel::ParamBuffer>> buffers;
};

class BuiltModel {
 public:
  // Trial and mesh outlive this. Wants no protocol::pipeline_problems. Throws base::BadTrial.
  BuiltModel(const protocol::Trial& trial, const protocol::RecomputeSpec& resolved, const mesh::Mesh& mesh);

  recompute::Policy& policy() { return policy_; }
  std::deque<ModelChunk>& chunks() { return chunks_; }
  const ModelChunk& chunk(std::int64_t index) const { return chunks_[static_cast<std::size_t>(index)]; }
  std::vector<parallel::ParamBuffer*> buffers() const;
  std::int64_t num_microbatches() const { return num_microbatches_; }  // of a step, on this rank
  // Of the residual stream of a micro-batch: [rows on this rank, hidden size].
  std::vector<std::int64_t> stream_shape() const;

  // The tokens that the chunk needs; the residual stream is left to the caller.
  models::ModelInput input(std::int64_t step, std::int64_t micro_batch, std::int64_t chunk) const;

  // Of all chunks; see models::Model.
  void finish_step();
  std::map<std::string, models::AuxLoss> take_aux_losses();
  std::vector<std::int64_t> tokens_received() const;
  protocol::ModelRecord record() const;

 private:
  std::unique_ptr<models::Model> build(const protocol::ChunkLayers& layers, nn::ParameterStore& store, recompute::Policy& policy) const;
  std::int64_t num_parameters_total() const;

  const protocol::Trial& trial_;
  const mesh::Mesh& mesh_;
  nn::SequenceShape sequence_;
  std::int64_t num_microbatches_;
  recompute::Policy policy_;
  nn::DummyGrads dummies_;
  std::deque<ModelChunk> chunks_;
};

}  // namespace rematch::train
