#include "runtime/nn/embedding.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include "runtime/nn/kernel.h"
#include "runtime/nn/save.h"
#include "runtime/nn/saved_tensor_parallel.h"
#include "runtime/nn/vocabulary.h"

namespace rematch::nn {

namespace {

class EmbeddingFunction : public torch::autograd::Function<EmbeddingFunction> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, const at::Tensor& ids_T, const at::Tensor& table_VH) {
    save(ctx, "embedding", {{"ids", ids_T}});
    ctx->saved_data["num_rows"] = table_VH.size(0);
    auto x_TH = at::empty({ids_T.size(0), table_VH.size(1)}, table_VH.options());
    kernel({x_TH, x_TH, ids_T}, [&] { at::index_select_out(x_TH, table_VH, 0, ids_T); });
    return x_TH;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx, torch::autograd::variable_list grads) {
    const auto ids_T = ctx->get_saved_variables()[0];
    auto dtable_VH = at::empty({ctx->saved_data["num_rows"].toInt(), grads[0].size(1)}, grads[0].options());
    kernel({dtable_VH, ids_T, grads[0]}, [&] {
      auto sums_VH = at::zeros(dtable_VH.sizes(), dtable_VH.options().dtype(at::kFloat));
      dtable_VH.copy_(sums_VH.index_add_(0, ids_T, grads[0].to(at::kFloat)));
    });
    return {at::Tensor(), dtable_VH};
  }
};

class VocabParallelEmbeddingFunction : public torch::autograd::Function<VocabParallelEmbeddingFunction> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, const at::Tensor& ids_T, const at::Tensor& table_VH,
                            const TensorParallel& tensor_parallel) {
    save(ctx, "embedding", {{"ids", ids_T}});
    save_tensor_parallel(ctx, tensor_parallel);
    const auto num_rows = table_VH.size(0);
    ctx->saved_data["num_rows"] = num_rows;
    auto x_TH = at::empty({ids_T.size(0), table_VH.size(1)}, table_VH.options());
    kernel({x_TH, x_TH, ids_T}, [&] {
      const auto local_T = local_words(ids_T, num_rows, tensor_parallel.group().rank());
      at::index_select_out(x_TH, table_VH, 0, local_T.clamp(0, num_rows - 1));
      x_TH.masked_fill_(is_local(local_T, num_rows).logical_not_().unsqueeze(1), 0);
    });
    return summed(x_TH, tensor_parallel);
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx, torch::autograd::variable_list grads) {
    const auto ids_T = ctx->get_saved_variables()[0];
    const auto tensor_parallel = saved_tensor_parallel(ctx);
    const auto num_rows = ctx->saved_data["num_rows"].toInt();
    const auto dx_TH = all_rows(grads[0], tensor_parallel);
    auto dtable_VH = at::empty({num_rows, dx_TH.size(1)}, dx_TH.options());
    kernel({dtable_VH, ids_T, dx_TH}, [&] {
      const auto local_T = local_words(ids_T, num_rows, tensor_parallel.group().rank());
      const auto tokens = is_local(local_T, num_rows).nonzero().squeeze(1);
      auto sums_VH = at::zeros(dtable_VH.sizes(), dtable_VH.options().dtype(at::kFloat));
      sums_VH.index_add_(0, local_T.index_select(0, tokens), dx_TH.index_select(0, tokens).to(at::kFloat));
      dtable_VH.copy_(sums_VH);
    });
    return {at::Tensor(), dtable_VH, at::Tensor()};
  }
};

}  // namespace

at::Tensor embed(const at::Tensor& ids_T, const at::Tensor& table_VH) { return EmbeddingFunction::apply(ids_T, table_VH); }

at::Tensor vocab_parallel_embed(const at::Tensor& ids_T, const at::Tensor& table_VH, const TensorParallel& tensor_parallel) {
  if (tensor_parallel.is_alone()) return embed(ids_T, table_VH);
  return VocabParallelEmbeddingFunction::apply(ids_T, table_VH, tensor_parallel);
}

}  // namespace rematch::nn
