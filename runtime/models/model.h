// What the step loop sees of a model, and what a family of models offers. One file a family; the registry lists them.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/nn/core_attention.h"
#include "runtime/nn/module_context.h"
#include "runtime/nn/sequence.h"
#include "schemas/protocol/describe.h"
#include "schemas/protocol/trial.h"

namespace rematch::models {

class Model {
 public:
  virtual ~Model() = default;
  // Mean cross-entropy of the batch, fp32 scalar. ids_T and labels_T: int64, sequence-major. Once for each `micro_batch` of a step.
  virtual at::Tensor loss(const at::Tensor& ids_T, const at::Tensor& labels_T, nn::SequenceShape sequence) = 0;
  // After the last micro-batch's backward: expert biases follow the step's token counts. Collective over the data-parallel ranks.
  virtual void finish_step() = 0;
  // Auxiliary losses of the step just finished, by Megatron's log name: this rank's mean over micro-batches and layers, less the
  // coefficient. Then none.
  virtual std::map<std::string, double> take_aux_losses() = 0;
  // Rows that this rank's experts computed on in the last forward, one entry an MoE layer.
  virtual std::vector<std::int64_t> tokens_received() const = 0;
  virtual std::int64_t vocab_size() const = 0;  // rows of the embedding
  virtual double init_method_std() const = 0;   // of the initial weights
};

// What a model is built with.
struct BuildContext {
  nn::ModuleContext modules;
  nn::AttentionBackend attention_backend = nn::AttentionBackend::kFused;
  double loss_scale = 1;               // 1 / micro-batches of a step
  bool shared_expert_overlap = false;  // moe_shared_expert_overlap
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

const Family& dense_gqa_family();
const Family& mla_moe_family();
const Family& hybrid_family();
const Family& gdn_moe_family();

}  // namespace rematch::models
