#include "runtime/nn/embedding.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include "runtime/base/scope.h"
#include "runtime/nn/kernel.h"
#include "runtime/nn/loss_rows.h"
#include "runtime/nn/row_kernels.h"
#include "runtime/nn/save.h"

namespace rematch::nn {

namespace {

class EmbeddingFunction : public torch::autograd::Function<EmbeddingFunction> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, const at::Tensor& ids_T, const at::Tensor& table_VH) {
    save(ctx, "embedding", {{"ids", ids_T}});
    ctx->saved_data["num_rows"] = table_VH.size(0);
    auto x_TH = at::empty({ids_T.size(0), table_VH.size(1)}, table_VH.options());
    kernel(x_TH, [&] { at::index_select_out(x_TH, table_VH, 0, ids_T); });
    return x_TH;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx, torch::autograd::variable_list grads) {
    const auto ids_T = ctx->get_saved_variables()[0];
    auto dtable_VH = at::empty({ctx->saved_data["num_rows"].toInt(), grads[0].size(1)}, grads[0].options());
    kernel(dtable_VH, [&] {
      auto sums_VH = at::zeros(dtable_VH.sizes(), dtable_VH.options().dtype(at::kFloat));
      dtable_VH.copy_(sums_VH.index_add_(0, ids_T, grads[0].to(at::kFloat)));
    });
    return {at::Tensor(), dtable_VH};
  }
};

// bf16 logits on the CPU.
void cross_entropy_by_rows(const at::Tensor& loss, const at::Tensor& dlogits_TV, const at::Tensor& logits_TV, const at::Tensor& labels_T) {
  const auto labels = labels_T.contiguous();
  const auto losses_T = at::empty({logits_TV.size(0)}, dlogits_TV.options());
  const LossRows tensors{.logits = bits_of(logits_TV),
                         .labels = labels.const_data_ptr<std::int64_t>(),
                         .losses = losses_T.mutable_data_ptr<float>(),
                         .dlogits = dlogits_TV.mutable_data_ptr<float>(),
                         .num_classes = static_cast<std::size_t>(logits_TV.size(1)),
                         .weight = 1 / static_cast<float>(logits_TV.size(0))};
  for_row_ranges(logits_TV.size(0), [&](std::size_t first, std::size_t last) { cross_entropy_rows(tensors, first, last); });
  loss.copy_(losses_T.mean());
}

class CrossEntropyFunction : public torch::autograd::Function<CrossEntropyFunction> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, const at::Tensor& logits_TV, const at::Tensor& labels_T) {
    const auto fp32 = logits_TV.options().dtype(at::kFloat);
    auto loss = at::empty({}, fp32);
    auto dlogits_TV = at::empty(logits_TV.sizes(), fp32);
    kernel(loss, [&] {
      if (has_bf16_rows(logits_TV)) return cross_entropy_by_rows(loss, dlogits_TV, logits_TV, labels_T);
      const auto num_tokens = static_cast<double>(labels_T.size(0));
      const auto labels_T1 = labels_T.unsqueeze(1);
      const auto log_probs_TV = at::log_softmax(logits_TV.to(at::kFloat), 1);
      loss.copy_(log_probs_TV.gather(1, labels_T1).mean().neg());
      dlogits_TV.copy_(log_probs_TV.exp());
      dlogits_TV.scatter_(1, labels_T1, dlogits_TV.gather(1, labels_T1) - 1);
      dlogits_TV.div_(num_tokens);
    });
    save(ctx, "cross_entropy", {{"dlogits", dlogits_TV}});
    ctx->saved_data["type"] = static_cast<std::int64_t>(logits_TV.scalar_type());
    return loss;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx, torch::autograd::variable_list grads) {
    const auto saved_TV = ctx->get_saved_variables()[0];
    const auto type = static_cast<at::ScalarType>(ctx->saved_data["type"].toInt());
    const base::RoleScope role(protocol::Role::kLogitsAndLoss);
    auto dlogits_TV = at::empty(saved_TV.sizes(), saved_TV.options().dtype(type));
    kernel(dlogits_TV, [&] { dlogits_TV.copy_(saved_TV * grads[0]); });
    return {dlogits_TV, at::Tensor()};
  }
};

}  // namespace

at::Tensor embed(const at::Tensor& ids_T, const at::Tensor& table_VH) { return EmbeddingFunction::apply(ids_T, table_VH); }

at::Tensor cross_entropy(const at::Tensor& logits_TV, const at::Tensor& labels_T) {
  return CrossEntropyFunction::apply(logits_TV, labels_T);
}

}  // namespace rematch::nn
