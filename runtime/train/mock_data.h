// Seeded mock data: every sequence depends on the seed and its index in the data set alone, so every layout sees the same samples.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "runtime/nn/sequence.h"

namespace rematch::train {

struct Batch {
  at::Tensor ids_T;     // int64, sequence-major
  at::Tensor labels_T;  // the next token of each
};

struct BatchRequest {
  std::int64_t seed = 0;
  std::int64_t first_sample = 0;  // index in the data set of the micro-batch's first sequence
  nn::SequenceShape sequence;     // this rank's tokens of each
  std::int64_t vocab_size = 0;
};

// A token follows from the one before by a fixed rule with a little noise, so that a model can learn something.
Batch mock_batch(const BatchRequest& request, at::Device device);

}  // namespace rematch::train
