#include "runtime/base/torch_compat.h"

#include <ATen/ATen.h>

namespace rematch::base {

at::Tensor mm_to_fp32(const at::Tensor& a, const at::Tensor& b) {
#if TORCH_VERSION_MAJOR > 2 || TORCH_VERSION_MINOR >= 8
  return at::mm(a, b, at::kFloat);
#else
  return at::mm(a, b).to(at::kFloat);
#endif
}

}  // namespace rematch::base
