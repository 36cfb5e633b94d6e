#include "runtime/nn/grouped_linear.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include "runtime/base/saved_tensors.h"
#include "runtime/nn/gemm.h"
#include "runtime/nn/main_grad.h"

namespace rematch::nn {

namespace {

class GroupedLinearFunction : public torch::autograd::Function<GroupedLinearFunction> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, const at::Tensor& x_RI, at::TensorList weights,
                            const std::vector<std::int64_t>& rows) {
    auto y_RO = at::empty({x_RI.size(0), weights.front().size(0)}, x_RI.options());
    for_each_expert(rows, [&](std::size_t e, std::int64_t first) {
      gemm_into(y_RO.narrow(0, first, rows[e]), x_RI.narrow(0, first, rows[e]), weights[e].t());
    });
    torch::autograd::variable_list saved = weights.vec();
    saved.push_back(x_RI);
    base::note_saved("grouped_linear", "x", x_RI);
    ctx->save_for_backward(saved);
    ctx->saved_data["rows"] = rows;
    return y_RO;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx, torch::autograd::variable_list grads) {
    auto weights = ctx->get_saved_variables();
    const auto x_RI = weights.back();
    weights.pop_back();
    const auto rows = ctx->saved_data["rows"].toIntVector();
    auto dx_RI = at::empty_like(x_RI);
    torch::autograd::variable_list results(weights.size() + 2);
    for_each_expert(rows, [&](std::size_t e, std::int64_t first) {
      const auto dy = grads[0].narrow(0, first, rows[e]);
      gemm_into(dx_RI.narrow(0, first, rows[e]), dy, weights[e]);
      results[e + 1] = weight_grad(dy, x_RI.narrow(0, first, rows[e]), weights[e]);
    });
    results.front() = dx_RI;
    return results;
  }

 private:
  template <typename Body>
  static void for_each_expert(const std::vector<std::int64_t>& rows, const Body& body) {
    std::int64_t first = 0;
    for (std::size_t e = 0; e < rows.size(); first += rows[e++])
      if (rows[e] > 0) body(e, first);
  }
};

}  // namespace

at::Tensor grouped_linear(const at::Tensor& x_RI, const std::vector<at::Tensor>& weights, const std::vector<std::int64_t>& rows) {
  return GroupedLinearFunction::apply(x_RI, at::TensorList(weights), rows);
}

}  // namespace rematch::nn
