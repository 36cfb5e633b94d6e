#include "runtime/nn/main_grad.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>

#include <memory>

#include "runtime/base/scope.h"
#include "runtime/nn/gemm.h"
#include "runtime/nn/kernel.h"

namespace rematch::nn {

namespace {

class MainGradHook final : public torch::autograd::PostAccumulateGradHook {
 public:
  MainGradHook(at::Tensor main_grad, DummyGrads* dummies) : main_grad_(std::move(main_grad)), dummies_(dummies) {}

  void operator()(const at::Tensor& leaf) override {
    auto& grad = leaf.mutable_grad();
    if (!grad.defined()) return;  // an expert without tokens
    if (dummies_ == nullptr || !dummies_->is_dummy(grad)) kernel({main_grad_, main_grad_, grad}, [&] { main_grad_.add_(grad); });
    grad.reset();
  }

  const at::Tensor& main_grad() const { return main_grad_; }
  DummyGrads* dummies() const { return dummies_; }

 private:
  at::Tensor main_grad_;
  DummyGrads* dummies_;
};

// null for a leaf that no buffer has placed
const MainGradHook* hook_of(const at::Tensor& leaf) {
  if (!leaf.requires_grad()) return nullptr;
  return dynamic_cast<const MainGradHook*>(torch::autograd::impl::post_acc_grad_hooks(leaf).get());
}

}  // namespace

at::Tensor DummyGrads::dummy_of(const at::Tensor& weight) {
  auto& dummy = dummies_[{weight.sizes().vec(), weight.scalar_type()}];
  const base::RoleScope role(protocol::Role::kGradients);
  if (!dummy.defined()) dummy = at::zeros(weight.sizes(), weight.options());
  return dummy.detach();
}

bool DummyGrads::is_dummy(const at::Tensor& grad) const {
  const auto found = dummies_.find({grad.sizes().vec(), grad.scalar_type()});
  return found != dummies_.end() && grad.is_alias_of(found->second);
}

void send_gradients(Parameter& parameter, const at::Tensor& main_grad, DummyGrads* dummies) {
  parameter.main_grad = main_grad;
  torch::autograd::impl::set_post_acc_grad_hooks(parameter.tensor, std::make_unique<MainGradHook>(main_grad, dummies));
}

at::Tensor weight_grad(const at::Tensor& dy_TO, const at::Tensor& x_TI, const at::Tensor& w_OI) {
  const auto* hook = hook_of(w_OI);
  if (hook == nullptr || hook->dummies() == nullptr) return gemm(dy_TO.t(), x_TI);
  gemm_add(hook->main_grad(), dy_TO.t(), x_TI);
  return hook->dummies()->dummy_of(w_OI);
}

}  // namespace rematch::nn
