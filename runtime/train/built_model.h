// The model of a trial on one rank: built, its parameters placed and initialised, its random streams seeded. Main thread only.
#pragma once

#include <memory>
#include <vector>

#include "runtime/mesh/mesh.h"
#include "runtime/models/model.h"
#include "runtime/nn/main_grad.h"
#include "runtime/parallel/place_parameters.h"
#include "runtime/recompute/policy.h"
#include "runtime/train/mock_data.h"
#include "schemas/protocol/trial.h"

namespace rematch::train {

class BuiltModel {
 public:
  // Trial and mesh outlive this. Throws base::BadTrial.
  BuiltModel(const protocol::Trial& trial, const protocol::RecomputeSpec& resolved, const mesh::Mesh& mesh);

  recompute::Policy& policy() { return policy_; }
  nn::ParameterStore& store() { return store_; }
  models::Model& model() { return *model_; }
  std::vector<parallel::ParamBuffer*> buffers() const;
  std::int64_t num_microbatches() const { return num_microbatches_; }  // of a step, on this rank

  Batch batch(std::int64_t step, std::int64_t micro_batch) const;
  // Cross-entropy of the batch, with a graph.
  at::Tensor loss(const Batch& batch) { return model_->loss(batch.ids_T, batch.labels_T, of_micro_batch(batch.micro_batch)); }
  protocol::ModelRecord record() const;

 private:
  nn::SequenceShape of_micro_batch(std::int64_t micro_batch) const {
    return {sequence_.length, sequence_.batch, sequence_.place, micro_batch};
  }

  const protocol::Trial& trial_;
  const mesh::Mesh& mesh_;
  nn::SequenceShape sequence_;
  std::int64_t num_microbatches_;
  recompute::Policy policy_;
  nn::ParameterStore store_;
  std::unique_ptr<models::Model> model_;
  nn::DummyGrads dummies_;
  std::vector<std::unique_ptr<parallel::ParamBuffer>> buffers_;
};

}  // namespace rematch::train
