#include "runtime/nn/output_gate.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include "runtime/nn/kernel.h"
#include "runtime/nn/save.h"

namespace rematch::nn {

namespace {

class OutputGateFunction : public torch::autograd::Function<OutputGateFunction> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, const at::Tensor& o_TD, const at::Tensor& gate_TD) {
    save(ctx, "output_gate", {{"o", o_TD}, {"gate", gate_TD}});
    auto y_TD = at::empty_like(o_TD);
    kernel(y_TD, [&] { y_TD.copy_(gate_TD.to(math_type(o_TD)).sigmoid().mul_(o_TD)); });
    return y_TD;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx, torch::autograd::variable_list grads) {
    const auto saved = ctx->get_saved_variables();
    const auto &o_TD = saved[0], &gate_TD = saved[1];
    auto do_TD = at::empty_like(o_TD);
    auto dgate_TD = at::empty_like(gate_TD);
    kernel(do_TD, [&] {
      const auto dy_TD = grads[0].to(math_type(o_TD));
      const auto sigmoid_TD = gate_TD.to(math_type(o_TD)).sigmoid();
      do_TD.copy_(dy_TD * sigmoid_TD);
      dgate_TD.copy_(dy_TD * o_TD * sigmoid_TD * (1 - sigmoid_TD));
    });
    return {do_TD, dgate_TD};
  }
};

}  // namespace

at::Tensor gate_output(const at::Tensor& o_TD, const at::Tensor& gate_TD) { return OutputGateFunction::apply(o_TD, gate_TD); }

}  // namespace rematch::nn
