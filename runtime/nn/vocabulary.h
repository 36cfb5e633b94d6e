// Which words of a vocabulary, split over the tensor-parallel ranks in order, are this rank's. For the bodies of kernels.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace rematch::nn {

// Positions of ids among the `num_words` words of this rank; outside of [0, num_words) where another rank has them. Contiguous.
at::Tensor local_words(const at::Tensor& ids_T, std::int64_t num_words, int rank);
at::Tensor is_local(const at::Tensor& local_T, std::int64_t num_words);

}  // namespace rematch::nn
