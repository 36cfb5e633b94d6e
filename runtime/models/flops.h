// Megatron's count of floating point operations of one optimizer step, term by term: num_floating_point_operations of its
// megatron/training/training.py. Replayed work is not counted.
#pragma once

#include <cstdint>

#include "runtime/models/layer_stack.h"
#include "runtime/nn/activation.h"
#include "runtime/nn/gqa.h"
#include "runtime/nn/mla.h"
#include "runtime/nn/moe.h"
#include "schemas/protocol/trial.h"

namespace rematch::models {

// Multiply-adds of a forward: T per_token + T S per_squared_length, with T tokens of a step and S the sequence length.
struct Work {
  double per_token = 0;
  double per_squared_length = 0;
  Work& operator+=(const Work& other) {
    per_token += other.per_token;
    per_squared_length += other.per_squared_length;
    return *this;
  }
};

Work gqa_work(const nn::GqaShape& shape);  // the causal half of the scores
Work mla_work(const nn::MlaShape& shape);
Work mlp_work(std::int64_t hidden_size, std::int64_t ffn_hidden_size, nn::Activation activation);
Work moe_work(const nn::MoeShape& shape);  // router, dispatch and gates are not counted
Work logits_work(const StackShape& shape);

// 2 for a multiply-add, 3 for forward and the gradients of inputs and weights.
double step_flops(const Work& work, const protocol::TrainingSpec& training);

}  // namespace rematch::models
