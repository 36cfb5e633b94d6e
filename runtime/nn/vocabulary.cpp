#include "runtime/nn/vocabulary.h"

#include <ATen/ATen.h>

namespace rematch::nn {

at::Tensor local_words(const at::Tensor& ids_T, std::int64_t num_words, int rank) { return (ids_T - num_words * rank).contiguous(); }

at::Tensor is_local(const at::Tensor& local_T, std::int64_t num_words) { return local_T.ge(0).logical_and_(local_T.lt(num_words)); }

}  // namespace rematch::nn
