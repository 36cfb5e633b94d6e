#include "runtime/nn/output_gate.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include "runtime/nn/kernel.h"
#include "runtime/nn/save.h"

namespace rematch::nn {

namespace {

class OutputGateFunction : public torch::autograd::Function<OutputGateFunction> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, const at::Tensor& o_TD, const at::Tensor& gate_TG) {
    save(ctx, "output_gate", {{"o", o_TD}, {"gate", gate_TG}});
    auto y_TD = at::empty_like(o_TD);
    kernel({y_TD, gate_TG, o_TD}, [&] { y_TD.copy_(gate_TG.to(math_type(o_TD)).sigmoid() * o_TD); });
    return y_TD;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx, torch::autograd::variable_list grads) {
    const auto saved = ctx->get_saved_variables();
    const auto &o_TD = saved[0], &gate_TG = saved[1];
    auto do_TD = at::empty_like(o_TD);
    auto dgate_TG = at::empty_like(gate_TG);
    kernel({do_TD, dgate_TG, grads[0], gate_TG, o_TD}, [&] {
      const auto dy_TD = grads[0].to(math_type(o_TD));
      const auto sigmoid_TG = gate_TG.to(math_type(o_TD)).sigmoid();
      do_TD.copy_(dy_TD * sigmoid_TG);
      dgate_TG.copy_((dy_TD * o_TD).sum_to_size(gate_TG.sizes()) * sigmoid_TG * (1 - sigmoid_TG));
    });
    return {do_TD, dgate_TG};
  }
};

}  // namespace

at::Tensor gate_output(const at::Tensor& o_TD, const at::Tensor& gate_TG) { return OutputGateFunction::apply(o_TD, gate_TG); }

}  // namespace rematch::nn
