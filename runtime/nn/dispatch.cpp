#include "runtime/nn/dispatch.h"

#include <torch/csrc/autograd/custom_function.h>

namespace rematch::nn {

namespace {

struct ExchangeHolder final : torch::CustomClassHolder {
  explicit ExchangeHolder(std::shared_ptr<const TokenExchange> exchange_in) : exchange(std::move(exchange_in)) {}
  std::shared_ptr<const TokenExchange> exchange;
};

using Holder = c10::intrusive_ptr<ExchangeHolder>;

// Taken out of the context, so that the maps go as soon as this backward ends.
std::shared_ptr<const TokenExchange> take_exchange(torch::autograd::AutogradContext* ctx) {
  auto exchange = c10::static_intrusive_pointer_cast<ExchangeHolder>(ctx->saved_data["exchange"].toCapsule())->exchange;
  ctx->saved_data.clear();
  return exchange;
}

class DispatchFunction : public torch::autograd::Function<DispatchFunction> {
 public:
  static torch::autograd::variable_list forward(torch::autograd::AutogradContext* ctx, const Holder& holder, const at::Tensor& x_TH,
                                                const at::Tensor& probs_TE) {
    ctx->saved_data["exchange"] = c10::IValue::make_capsule(holder);
    holder->exchange->note_saved_maps();
    auto probs_R = holder->exchange->values_to_experts(probs_TE);
    return {holder->exchange->to_experts(x_TH), probs_R};
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx, torch::autograd::variable_list grads) {
    const auto exchange = take_exchange(ctx);
    auto dprobs_TE = exchange->values_from_experts(grads[1]);
    return {at::Tensor(), exchange->from_experts(grads[0]), dprobs_TE};
  }
};

class CombineFunction : public torch::autograd::Function<CombineFunction> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, const Holder& holder, const at::Tensor& y_RH) {
    ctx->saved_data["exchange"] = c10::IValue::make_capsule(holder);
    return holder->exchange->from_experts(y_RH);
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx, torch::autograd::variable_list grads) {
    return {at::Tensor(), take_exchange(ctx)->to_experts(grads[0])};
  }
};

}  // namespace

Dispatched dispatch(const std::shared_ptr<const TokenExchange>& exchange, const at::Tensor& x_TH, const at::Tensor& probs_TE) {
  auto outputs = DispatchFunction::apply(c10::make_intrusive<ExchangeHolder>(exchange), x_TH, probs_TE);
  return {outputs[0], outputs[1]};
}

at::Tensor combine(const std::shared_ptr<const TokenExchange>& exchange, const at::Tensor& y_RH) {
  return CombineFunction::apply(c10::make_intrusive<ExchangeHolder>(exchange), y_RH);
}

}  // namespace rematch::nn
