#include "runtime/nn/cross_entropy.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <optional>

#include "runtime/base/scope.h"
#include "runtime/nn/kernel.h"
#include "runtime/nn/loss_rows.h"
#include "runtime/nn/row_kernels.h"
#include "runtime/nn/save.h"
#include "runtime/nn/vocabulary.h"

namespace rematch::nn {

namespace {

constexpr std::int64_t kBlockElements = 4'194'304;  // fp32 elements of rows that are taken at a time where no row kernel can

struct LossSettings final : torch::CustomClassHolder {
  LossSettings(std::optional<TensorParallel> tensor_parallel_in, LogitsGradient form_in)
      : tensor_parallel(tensor_parallel_in), form(form_in) {}
  std::optional<TensorParallel> tensor_parallel;  // none: alone
  LogitsGradient form;

  int rank() const { return tensor_parallel ? tensor_parallel->group().rank() : 0; }
};

// Of one call of the loss. One of `dlogits_TV` and `scales_T2` is defined, by the form.
struct LossTensors {
  at::Tensor logits_TV;
  at::Tensor loss;
  at::Tensor dlogits_TV;  // kFp32
  at::Tensor scales_T2;   // kInPlace: RowScale of each row
};

LossTensors make_loss_tensors(const at::Tensor& logits_TV, LogitsGradient form) {
  const auto fp32 = logits_TV.options().dtype(at::kFloat);
  LossTensors tensors{logits_TV, at::empty({}, fp32), {}, {}};
  switch (form) {
    case LogitsGradient::kFp32: tensors.dlogits_TV = at::empty(logits_TV.sizes(), fp32); break;
    case LogitsGradient::kInPlace: tensors.scales_T2 = at::empty({logits_TV.size(0), 2}, fp32); break;
  }
  return tensors;
}

RowScale* row_scales(const at::Tensor& scales_T2) { return reinterpret_cast<RowScale*>(scales_T2.mutable_data_ptr<float>()); }

LossRows loss_rows(const LossTensors& tensors, const at::Tensor& labels_T) {
  return {.logits = bits_of(tensors.logits_TV),
          .labels = labels_T.const_data_ptr<std::int64_t>(),
          .losses = nullptr,
          .dlogits = tensors.dlogits_TV.defined() ? tensors.dlogits_TV.mutable_data_ptr<float>() : nullptr,
          .scales = tensors.scales_T2.defined() ? row_scales(tensors.scales_T2) : nullptr,
          .num_classes = static_cast<std::size_t>(tensors.logits_TV.size(1)),
          .weight = 1 / static_cast<float>(tensors.logits_TV.size(0))};
}

// body(first, count) for blocks of rows. Both forms take the same ones, so that sums over a row are made alike.
template <typename Body>
void for_row_blocks(const at::Tensor& logits_TV, const Body& body) {
  const auto num_rows = logits_TV.size(0), most = std::max<std::int64_t>(1, kBlockElements / logits_TV.size(1));
  for (std::int64_t first = 0; first < num_rows; first += most) body(first, std::min(most, num_rows - first));
}

at::Tensor exponentials(const at::Tensor& logits_CV, const at::Tensor& highest_C) {
  return (logits_CV.to(at::kFloat) - highest_C.unsqueeze(1)).exp_();
}

// Rows' exponentials to their gradient: the factor, and the label's weight.
void finish_gradient(const at::Tensor& gradient_CV, const at::Tensor& factor_C, const at::Tensor& labels_C, double weight) {
  const auto num_words = gradient_CV.size(1);
  gradient_CV.mul_(factor_C.unsqueeze(1));
  const auto label_C1 = labels_C.clamp(0, num_words - 1).unsqueeze(1);
  const auto of_label_C1 = (is_local(labels_C, num_words).to(at::kFloat) * weight).unsqueeze(1);
  gradient_CV.scatter_(1, label_C1, gradient_CV.gather(1, label_C1) - of_label_C1);
}

// Of this rank's logits, as RowStats [T, 3]; the fp32 gradient becomes their exponentials.
void local_stats(const at::Tensor& stats_T3, const LossTensors& tensors, const at::Tensor& labels_T) {
  const auto& logits_TV = tensors.logits_TV;
  if (has_bf16_rows(logits_TV)) {
    const auto rows = loss_rows(tensors, labels_T);
    auto* stats = reinterpret_cast<RowStats*>(stats_T3.mutable_data_ptr<float>());
    return for_row_ranges(logits_TV.size(0), [&](std::size_t first, std::size_t last) { local_loss_rows(rows, stats, first, last); });
  }
  for_row_blocks(logits_TV, [&](std::int64_t first, std::int64_t count) {
    const auto logits_CV = logits_TV.narrow(0, first, count), labels_C = labels_T.narrow(0, first, count);
    const auto highest_C = logits_CV.amax(1).to(at::kFloat);
    const auto exponentials_CV = exponentials(logits_CV, highest_C);
    const auto label_C = logits_CV.gather(1, labels_C.clamp(0, logits_TV.size(1) - 1).unsqueeze(1)).squeeze(1).to(at::kFloat);
    const auto stats_C3 = stats_T3.narrow(0, first, count);
    stats_C3.select(1, 0).copy_(highest_C);
    stats_C3.select(1, 1).copy_(exponentials_CV.sum(1));
    stats_C3.select(1, 2).copy_(label_C * is_local(labels_C, logits_TV.size(1)));
    if (tensors.dlogits_TV.defined()) tensors.dlogits_TV.narrow(0, first, count).copy_(exponentials_CV);
  });
}

// With the stats of all ranks: the loss, and the fp32 gradient from the exponentials, or what backward makes it with.
void finish_loss(const LossTensors& tensors, const at::Tensor& stats_RT3, const at::Tensor& labels_T, int rank) {
  const auto highest_RT = stats_RT3.select(2, 0);
  const auto highest_T = highest_RT.amax(0);
  const auto scale_RT = (highest_RT - highest_T).exp();
  const auto sum_T = (stats_RT3.select(2, 1) * scale_RT).sum(0);
  tensors.loss.copy_((highest_T + sum_T.log() - stats_RT3.select(2, 2).sum(0)).mean());
  const double weight = 1.0 / static_cast<double>(labels_T.size(0));
  const auto factor_T = scale_RT.select(0, rank) / sum_T * weight;
  if (tensors.dlogits_TV.defined()) return finish_gradient(tensors.dlogits_TV, factor_T, labels_T, weight);
  tensors.scales_T2.select(1, 0).copy_(highest_RT.select(0, rank));
  tensors.scales_T2.select(1, 1).copy_(factor_T);
}

// bf16 logits on the CPU.
void loss_by_rows(const LossTensors& tensors, const at::Tensor& labels_T) {
  const auto labels = labels_T.contiguous();
  const auto losses_T = at::empty({labels.size(0)}, tensors.loss.options());
  auto rows = loss_rows(tensors, labels);
  rows.losses = losses_T.mutable_data_ptr<float>();
  for_row_ranges(labels.size(0), [&](std::size_t first, std::size_t last) { cross_entropy_rows(rows, first, last); });
  tensors.loss.copy_(losses_T.mean());
}

void loss_alone(const LossTensors& tensors, const at::Tensor& labels_T) {
  kernel({tensors.loss, tensors.dlogits_TV, tensors.scales_T2, tensors.logits_TV, labels_T}, [&] {
    if (has_bf16_rows(tensors.logits_TV)) return loss_by_rows(tensors, labels_T);
    const auto stats_T3 = at::empty({labels_T.size(0), 3}, tensors.loss.options());
    local_stats(stats_T3, tensors, labels_T);
    finish_loss(tensors, stats_T3.unsqueeze(0), labels_T, 0);
  });
}

void loss_over_ranks(const LossTensors& tensors, const at::Tensor& labels_T, const LossSettings& settings) {
  const auto& group = settings.tensor_parallel->group();
  auto stats_T3 = [&] {
    const base::RoleScope role(protocol::Role::kCommunication);
    return at::empty({labels_T.size(0), 3}, tensors.loss.options());
  }();
  at::Tensor local_T;
  kernel({stats_T3, tensors.dlogits_TV, tensors.logits_TV, labels_T}, [&] {
    local_T = local_words(labels_T, tensors.logits_TV.size(1), group.rank());
    local_stats(stats_T3, tensors, local_T);
  });
  const auto all_RT3 = gathered_rows(stats_T3, group).view({group.size(), -1, 3});
  kernel({tensors.loss, tensors.dlogits_TV, tensors.dlogits_TV, tensors.scales_T2, all_RT3, labels_T},
         [&] { finish_loss(tensors, all_RT3, local_T, group.rank()); });
}

// kFp32: but for the factor that backward brings, the gradient is there.
at::Tensor rounded_gradient(const at::Tensor& dlogits_TV, const at::Tensor& dloss, at::ScalarType type) {
  const base::RoleScope role(protocol::Role::kLogitsAndLoss);
  auto rounded_TV = at::empty(dlogits_TV.sizes(), dlogits_TV.options().dtype(type));
  kernel({rounded_TV, dlogits_TV}, [&] { rounded_TV.copy_(dlogits_TV * dloss); });
  return rounded_TV;
}

void write_gradient(const at::Tensor& logits_TV, const at::Tensor& scales_T2, const at::Tensor& labels_T, const at::Tensor& dloss) {
  if (has_bf16_rows(logits_TV)) {
    const GradRows rows{.logits = mutable_bits_of(logits_TV),
                        .labels = labels_T.const_data_ptr<std::int64_t>(),
                        .scales = row_scales(scales_T2),
                        .num_classes = static_cast<std::size_t>(logits_TV.size(1)),
                        .weight = 1 / static_cast<float>(logits_TV.size(0)),
                        .loss_grad = dloss.item<float>()};
    return for_row_ranges(logits_TV.size(0), [&](std::size_t first, std::size_t last) { write_grad_rows(rows, first, last); });
  }
  const double weight = 1.0 / static_cast<double>(logits_TV.size(0));
  for_row_blocks(logits_TV, [&](std::int64_t first, std::int64_t count) {
    const auto logits_CV = logits_TV.narrow(0, first, count), scales_C2 = scales_T2.narrow(0, first, count);
    auto gradient_CV = exponentials(logits_CV, scales_C2.select(1, 0));
    finish_gradient(gradient_CV, scales_C2.select(1, 1), labels_T.narrow(0, first, count), weight);
    logits_CV.copy_(gradient_CV * dloss);
  });
}

class CrossEntropyFunction : public torch::autograd::Function<CrossEntropyFunction> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, const at::Tensor& logits_TV, const at::Tensor& labels_T,
                            const c10::intrusive_ptr<LossSettings>& settings) {
    const auto tensors = make_loss_tensors(logits_TV, settings->form);
    if (settings->tensor_parallel)
      loss_over_ranks(tensors, labels_T, *settings);
    else
      loss_alone(tensors, labels_T);
    ctx->saved_data["settings"] = c10::IValue::make_capsule(settings);
    ctx->saved_data["type"] = static_cast<std::int64_t>(logits_TV.scalar_type());
    if (settings->form == LogitsGradient::kFp32)
      save(ctx, "cross_entropy", {{"dlogits", tensors.dlogits_TV}});
    else
      save(ctx, "cross_entropy", {{"logits", logits_TV}, {"scales", tensors.scales_T2}, {"labels", labels_T}});
    return tensors.loss;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx, torch::autograd::variable_list grads) {
    const auto settings = c10::static_intrusive_pointer_cast<LossSettings>(ctx->saved_data["settings"].toCapsule());
    const auto saved = ctx->get_saved_variables();
    if (settings->form == LogitsGradient::kFp32) {
      const auto type = static_cast<at::ScalarType>(ctx->saved_data["type"].toInt());
      return {rounded_gradient(saved[0], grads[0], type), at::Tensor(), at::Tensor()};
    }
    const auto logits_TV = saved[0].detach();  // the same memory
    const auto &scales_T2 = saved[1], &labels_T = saved[2];
    kernel({logits_TV, logits_TV, scales_T2, labels_T},
           [&] { write_gradient(logits_TV, scales_T2, local_words(labels_T, logits_TV.size(1), settings->rank()), grads[0]); });
    return {logits_TV, at::Tensor(), at::Tensor()};
  }
};

}  // namespace

at::Tensor cross_entropy(const at::Tensor& logits_TV, const at::Tensor& labels_T, LogitsGradient form) {
  return CrossEntropyFunction::apply(logits_TV, labels_T, c10::make_intrusive<LossSettings>(std::nullopt, form));
}

at::Tensor vocab_parallel_cross_entropy(const at::Tensor& logits_TV, const at::Tensor& labels_T, const TensorParallel& tensor_parallel,
                                        LogitsGradient form) {
  if (tensor_parallel.is_alone()) return cross_entropy(logits_TV, labels_T, form);
  return CrossEntropyFunction::apply(logits_TV, labels_T, c10::make_intrusive<LossSettings>(tensor_parallel, form));
}

}  // namespace rematch::nn
