#include "runtime/nn/dropout.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include "runtime/nn/kernel.h"
#include "runtime/nn/save.h"

namespace rematch::nn {

namespace {

at::Tensor empty_mask(const at::Tensor& x) { return at::empty(x.sizes(), x.options().dtype(at::kBool)); }

// Zero where dropped, scaled up where kept; in the type that is computed in.
at::Tensor kept_part(const at::Tensor& x, const at::Tensor& mask, double p) { return (x.to(math_type(x)) * mask).div_(1 - p); }

at::Tensor dropout_grad(const at::Tensor& dy, const at::Tensor& mask, double p) {
  auto dx = at::empty(dy.sizes(), dy.options());
  kernel({dx, dy, mask}, [&] { dx.copy_(kept_part(dy, mask, p)); });
  return dx;
}

class DropoutFunction : public torch::autograd::Function<DropoutFunction> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, const at::Tensor& x, double p) {
    auto mask = empty_mask(x);
    auto y = at::empty(x.sizes(), x.options());
    kernel({y, mask, x}, [&] { y.copy_(kept_part(x, mask.bernoulli_(1 - p), p)); });
    save(ctx, "dropout", {{"mask", mask}});
    ctx->saved_data["p"] = p;
    return y;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx, torch::autograd::variable_list grads) {
    return {dropout_grad(grads[0], ctx->get_saved_variables()[0], ctx->saved_data["p"].toDouble()), at::Tensor()};
  }
};

class DropoutAddFunction : public torch::autograd::Function<DropoutAddFunction> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, const at::Tensor& x, const at::Tensor& residual, double p) {
    auto mask = empty_mask(x);
    auto y = at::empty(x.sizes(), x.options());
    kernel({y, mask, x, residual}, [&] { y.copy_(kept_part(x, mask.bernoulli_(1 - p), p).add_(residual)); });
    save(ctx, "dropout", {{"mask", mask}});
    ctx->saved_data["p"] = p;
    return y;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx, torch::autograd::variable_list grads) {
    return {dropout_grad(grads[0], ctx->get_saved_variables()[0], ctx->saved_data["p"].toDouble()), grads[0], at::Tensor()};
  }
};

}  // namespace

at::Tensor dropout_layer(const at::Tensor& x, double p) { return p > 0 ? DropoutFunction::apply(x, p) : x; }

at::Tensor dropout_add(const at::Tensor& x, const at::Tensor& residual, double p) {
  if (p > 0) return DropoutAddFunction::apply(x, residual, p);
  auto sum = residual + x;
  count_moved({sum, residual, x});
  return sum;
}

}  // namespace rematch::nn
