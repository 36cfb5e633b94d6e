// What the step loop sees of a model, or of one of its chunks, and what a family of models offers. One file a family; the registry lists
// them.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/nn/core_attention.h"
#include "runtime/nn/cross_entropy.h"
#include "runtime/nn/module_context.h"
#include "runtime/nn/sequence.h"
#include "schemas/protocol/describe.h"
#include "schemas/protocol/pipeline_layers.h"
#include "schemas/protocol/trial.h"

namespace rematch::models {

// What a micro-batch brings to a chunk: sequence-major tokens, and the residual stream of the chunk before.
struct ModelInput {
  at::Tensor ids_T;     // int64; where the embedding is
  at::Tensor labels_T;  // int64; where the head is
  nn::SequenceShape sequence;
  at::Tensor hidden_TH;  // bf16, this rank's rows; where the embedding is not
};

// Of one load-balancing loss, less its coefficient.
struct AuxLoss {
  double sum = 0;  // over the chunk's MoE layers, each the mean over the step's micro-batches
  std::int64_t num_layers = 0;
};

class Model {
 public:
  virtual ~Model() = default;
  // Where the head is: mean cross-entropy of the micro-batch, fp32 scalar. Elsewhere: the residual stream behind the chunk's last layer.
  virtual at::Tensor forward(const ModelInput& input) = 0;
  // After the last micro-batch's backward: expert biases follow the step's token counts. Collective over the data-parallel ranks.
  virtual void finish_step() = 0;
  // Auxiliary losses of the step just finished on this rank, by Megatron's log name. Then none. A chunk names all that the model has.
  virtual std::map<std::string, AuxLoss> take_aux_losses() = 0;
  // Rows that this rank's experts computed on in the last forward, one entry an MoE layer of the chunk.
  virtual std::vector<std::int64_t> tokens_received() const = 0;
  virtual std::int64_t vocab_size() const = 0;  // rows of the embedding
  virtual std::int64_t hidden_size() const = 0;
  virtual double init_method_std() const = 0;  // of the initial weights
};

// What a model is built with.
struct BuildContext {
  nn::ModuleContext modules;
  nn::AttentionBackend attention_backend = nn::AttentionBackend::kFused;
  double loss_scale = 1;               // 1 / micro-batches of a step
  bool shared_expert_overlap = false;  // moe_shared_expert_overlap
  nn::LogitsGradient logits_gradient = nn::LogitsGradient::kFp32;
  std::optional<protocol::ExpertLoad> expert_load;  // of experts on meta; null: balanced
  std::optional<protocol::ChunkLayers> layers;      // of one model chunk; null: the whole model
};

class Family {
 public:
  virtual ~Family() = default;
  virtual protocol::FamilyDescription describe() const = 0;
  virtual std::unique_ptr<Model> build(const protocol::FieldMap& fields, const BuildContext& context) const = 0;
  // Of one optimizer step of the whole job: forward, and both gradients; replay is not counted (Megatron's convention).
  virtual double flops_per_step(const protocol::FieldMap& fields, const protocol::TrainingSpec& training) const = 0;
};

// All families of this build.
std::vector<const Family*> families();
// Throws base::BadTrial naming the families there are.
const Family& family_named(const std::string& name);
// Throws base::BadTrial.
std::int64_t num_layers(const protocol::ModelSpec& model);

const Family& dense_gqa_family();
const Family& mla_moe_family();
const Family& hybrid_family();
const Family& gdn_moe_family();

}  // namespace rematch::models
