#include "runtime/nn/embedding.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include "runtime/base/scope.h"
#include "runtime/nn/kernel.h"
#include "runtime/nn/loss_rows.h"
#include "runtime/nn/row_kernels.h"
#include "runtime/nn/save.h"
#include "runtime/nn/saved_tensor_parallel.h"

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

// What a loss keeps, and what it makes of it: the gradient of the logits, but for the factor that backward brings.
void save_logits_grad(torch::autograd::AutogradContext* ctx, const at::Tensor& dlogits_TV, at::ScalarType type) {
  save(ctx, "cross_entropy", {{"dlogits", dlogits_TV}});
  ctx->saved_data["type"] = static_cast<std::int64_t>(type);
}

at::Tensor logits_grad(torch::autograd::AutogradContext* ctx, const at::Tensor& dloss) {
  const auto saved_TV = ctx->get_saved_variables()[0];
  const auto type = static_cast<at::ScalarType>(ctx->saved_data["type"].toInt());
  const base::RoleScope role(protocol::Role::kLogitsAndLoss);
  auto dlogits_TV = at::empty(saved_TV.sizes(), saved_TV.options().dtype(type));
  kernel(dlogits_TV, [&] { dlogits_TV.copy_(saved_TV * dloss); });
  return dlogits_TV;
}

LossRows loss_rows(float* losses, const at::Tensor& dlogits_TV, const at::Tensor& logits_TV, const at::Tensor& labels_T) {
  return {.logits = bits_of(logits_TV),
          .labels = labels_T.const_data_ptr<std::int64_t>(),
          .losses = losses,
          .dlogits = dlogits_TV.mutable_data_ptr<float>(),
          .num_classes = static_cast<std::size_t>(logits_TV.size(1)),
          .weight = 1 / static_cast<float>(logits_TV.size(0))};
}

// bf16 logits on the CPU.
void cross_entropy_by_rows(const at::Tensor& loss, const at::Tensor& dlogits_TV, const at::Tensor& logits_TV, const at::Tensor& labels_T) {
  const auto labels = labels_T.contiguous();
  const auto losses_T = at::empty({logits_TV.size(0)}, dlogits_TV.options());
  const auto tensors = loss_rows(losses_T.mutable_data_ptr<float>(), dlogits_TV, logits_TV, labels);
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
    save_logits_grad(ctx, dlogits_TV, logits_TV.scalar_type());
    return loss;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx, torch::autograd::variable_list grads) {
    return {logits_grad(ctx, grads[0]), at::Tensor()};
  }
};

// Positions of a whole vocabulary's ids among this rank's rows; outside of [0, rows) where another rank has them.
at::Tensor local_ids(const at::Tensor& ids_T, std::int64_t num_rows, const TensorParallel& tensor_parallel) {
  return (ids_T - num_rows * tensor_parallel.group().rank()).contiguous();
}

at::Tensor is_local(const at::Tensor& local_T, std::int64_t num_rows) { return local_T.ge(0).logical_and_(local_T.lt(num_rows)); }

class VocabParallelEmbeddingFunction : public torch::autograd::Function<VocabParallelEmbeddingFunction> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, const at::Tensor& ids_T, const at::Tensor& table_VH,
                            const TensorParallel& tensor_parallel) {
    save(ctx, "embedding", {{"ids", ids_T}});
    save_tensor_parallel(ctx, tensor_parallel);
    const auto num_rows = table_VH.size(0);
    ctx->saved_data["num_rows"] = num_rows;
    auto x_TH = at::empty({ids_T.size(0), table_VH.size(1)}, table_VH.options());
    kernel(x_TH, [&] {
      const auto local_T = local_ids(ids_T, num_rows, tensor_parallel);
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
    kernel(dtable_VH, [&] {
      const auto local_T = local_ids(ids_T, num_rows, tensor_parallel);
      const auto tokens = is_local(local_T, num_rows).nonzero().squeeze(1);
      auto sums_VH = at::zeros(dtable_VH.sizes(), dtable_VH.options().dtype(at::kFloat));
      sums_VH.index_add_(0, local_T.index_select(0, tokens), dx_TH.index_select(0, tokens).to(at::kFloat));
      dtable_VH.copy_(sums_VH);
    });
    return {at::Tensor(), dtable_VH, at::Tensor()};
  }
};

// Of this rank's logits, as RowStats [T, 3]; `dlogits_TV` becomes their exponentials.
void local_stats(const at::Tensor& stats_T3, const at::Tensor& dlogits_TV, const at::Tensor& logits_TV, const at::Tensor& labels_T) {
  if (has_bf16_rows(logits_TV)) {
    const auto tensors = loss_rows(nullptr, dlogits_TV, logits_TV, labels_T);
    auto* stats = reinterpret_cast<RowStats*>(stats_T3.mutable_data_ptr<float>());
    return for_row_ranges(logits_TV.size(0), [&](std::size_t first, std::size_t last) { local_loss_rows(tensors, stats, first, last); });
  }
  const auto fp32_TV = logits_TV.to(at::kFloat);
  const auto highest_T = fp32_TV.amax(1);
  at::Tensor(dlogits_TV).copy_((fp32_TV - highest_T.unsqueeze(1)).exp());
  const auto label_T = fp32_TV.gather(1, labels_T.clamp(0, logits_TV.size(1) - 1).unsqueeze(1)).squeeze(1);
  stats_T3.select(1, 0).copy_(highest_T);
  stats_T3.select(1, 1).copy_(dlogits_TV.sum(1));
  stats_T3.select(1, 2).copy_(label_T * is_local(labels_T, logits_TV.size(1)));
}

// With the stats of all ranks: the loss, and the gradient from the exponentials.
void finish_loss(const at::Tensor& loss, const at::Tensor& dlogits_TV, const at::Tensor& stats_RT3, const at::Tensor& labels_T, int rank) {
  const auto highest_RT = stats_RT3.select(2, 0);
  const auto highest_T = highest_RT.amax(0);
  const auto scale_RT = (highest_RT - highest_T).exp();
  const auto sum_T = (stats_RT3.select(2, 1) * scale_RT).sum(0);
  loss.copy_((highest_T + sum_T.log() - stats_RT3.select(2, 2).sum(0)).mean());
  const auto num_words = dlogits_TV.size(1);
  const double weight = 1.0 / static_cast<double>(labels_T.size(0));
  auto gradient_TV = dlogits_TV;
  gradient_TV.mul_((scale_RT.select(0, rank) / sum_T * weight).unsqueeze(1));
  const auto label_T1 = labels_T.clamp(0, num_words - 1).unsqueeze(1);
  const auto of_label_T1 = (is_local(labels_T, num_words).to(at::kFloat) * weight).unsqueeze(1);
  gradient_TV.scatter_(1, label_T1, gradient_TV.gather(1, label_T1) - of_label_T1);
}

class VocabParallelCrossEntropyFunction : public torch::autograd::Function<VocabParallelCrossEntropyFunction> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, const at::Tensor& logits_TV, const at::Tensor& labels_T,
                            const TensorParallel& tensor_parallel) {
    const auto fp32 = logits_TV.options().dtype(at::kFloat);
    auto loss = at::empty({}, fp32);
    auto dlogits_TV = at::empty(logits_TV.sizes(), fp32);
    auto stats_T3 = [&] {
      const base::RoleScope role(protocol::Role::kCommunication);
      return at::empty({logits_TV.size(0), 3}, fp32);
    }();
    at::Tensor local_T;
    kernel(loss, [&] {
      local_T = local_ids(labels_T, logits_TV.size(1), tensor_parallel);
      local_stats(stats_T3, dlogits_TV, logits_TV, local_T);
    });
    const auto all_RT3 = gathered_rows(stats_T3, tensor_parallel.group()).view({tensor_parallel.size(), -1, 3});
    kernel(loss, [&] { finish_loss(loss, dlogits_TV, all_RT3, local_T, tensor_parallel.group().rank()); });
    save_logits_grad(ctx, dlogits_TV, logits_TV.scalar_type());
    return loss;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx, torch::autograd::variable_list grads) {
    return {logits_grad(ctx, grads[0]), at::Tensor(), at::Tensor()};
  }
};

}  // namespace

at::Tensor embed(const at::Tensor& ids_T, const at::Tensor& table_VH) { return EmbeddingFunction::apply(ids_T, table_VH); }

at::Tensor cross_entropy(const at::Tensor& logits_TV, const at::Tensor& labels_T) {
  return CrossEntropyFunction::apply(logits_TV, labels_T);
}

at::Tensor vocab_parallel_embed(const at::Tensor& ids_T, const at::Tensor& table_VH, const TensorParallel& tensor_parallel) {
  if (tensor_parallel.is_alone()) return embed(ids_T, table_VH);
  return VocabParallelEmbeddingFunction::apply(ids_T, table_VH, tensor_parallel);
}

at::Tensor vocab_parallel_cross_entropy(const at::Tensor& logits_TV, const at::Tensor& labels_T, const TensorParallel& tensor_parallel) {
  if (tensor_parallel.is_alone()) return cross_entropy(logits_TV, labels_T);
  return VocabParallelCrossEntropyFunction::apply(logits_TV, labels_T, tensor_parallel);
}

}  // namespace rematch::nn
