#include "runtime/nn/context_heads.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include <numeric>

#include "runtime/base/scope.h"
#include "runtime/nn/kernel.h"

namespace rematch::nn {

namespace {

using Sections = std::vector<std::int64_t>;

// copy(part of `all` along `dim`, its place in `share`) for every section of member `member`'s share.
template <typename Copy>
void for_each_section(const Sections& sections, ContextPlace member, std::int64_t dim, const at::Tensor& all, const at::Tensor& share,
                      const Copy& copy) {
  std::int64_t first = 0, first_of_share = 0;
  for (const auto width : sections) {
    const auto count = width / member.size;
    copy(all.narrow(dim, first + member.rank * count, count), share.narrow(dim, first_of_share, count));
    first += width;
    first_of_share += count;
  }
}

struct HeadExchange final : torch::CustomClassHolder {
  HeadExchange(const comm::Communicator& group_in, const Sections& sections_in, SequenceShape sequence_in)
      : group(&group_in), sections(sections_in), sequence(sequence_in) {}
  const comm::Communicator* group;
  Sections sections;
  SequenceShape sequence;

  std::int64_t width() const { return std::accumulate(sections.begin(), sections.end(), std::int64_t{0}); }

  // copy(columns of x_TD, their place in parts_CTd): parts_CTd[m] has member m's heads.
  template <typename Copy>
  void for_each_share(const at::Tensor& x_TD, const at::Tensor& parts_CTd, const Copy& copy) const {
    for (int member = 0; member < group->size(); ++member)
      for_each_section(sections, {member, group->size()}, 1, x_TD, parts_CTd.select(0, member), copy);
  }
  // copy(rows of x_Wd, their place in parts_CTd): parts_CTd[m] has member m's tokens.
  template <typename Copy>
  void for_each_run(const at::Tensor& x_Wd, const at::Tensor& parts_CTd, const Copy& copy) const {
    const auto batch = sequence.batch;
    for (int member = 0; member < group->size(); ++member)
      for (const auto& run : token_runs({member, group->size()}, sequence.length))
        copy(x_Wd.narrow(0, run.first * batch, run.count * batch),
             parts_CTd.select(0, member).narrow(0, run.row * batch, run.count * batch));
  }

  template <typename Pack>
  at::Tensor exchanged(const at::TensorOptions& options, const Pack& pack) const {
    const base::RoleScope role(protocol::Role::kCommunication);
    const auto sent_CTd = at::empty({group->size(), sequence.num_tokens(), width() / group->size()}, options);
    kernel({sent_CTd, sent_CTd}, [&] { pack(sent_CTd); });
    const auto received_CTd = at::empty_like(sent_CTd);
    group->all_to_all(received_CTd, sent_CTd, {}, {});
    return received_CTd;
  }

  at::Tensor to_heads(const at::Tensor& x_TD) const {
    const auto parts_CTd = exchanged(x_TD.options(), [&](const at::Tensor& sent_CTd) {
      for_each_share(x_TD, sent_CTd, [](const at::Tensor& of_x, const at::Tensor& of_sent) { of_sent.copy_(of_x); });
    });
    auto y_Wd = at::empty({group->size() * sequence.num_tokens(), width() / group->size()}, x_TD.options());
    kernel({y_Wd, parts_CTd},
           [&] { for_each_run(y_Wd, parts_CTd, [](const at::Tensor& of_y, const at::Tensor& part) { of_y.copy_(part); }); });
    return y_Wd;
  }

  at::Tensor to_context(const at::Tensor& x_Wd) const {
    const auto parts_CTd = exchanged(x_Wd.options(), [&](const at::Tensor& sent_CTd) {
      for_each_run(x_Wd, sent_CTd, [](const at::Tensor& of_x, const at::Tensor& of_sent) { of_sent.copy_(of_x); });
    });
    auto y_TD = at::empty({sequence.num_tokens(), width()}, x_Wd.options());
    kernel({y_TD, parts_CTd},
           [&] { for_each_share(y_TD, parts_CTd, [](const at::Tensor& of_y, const at::Tensor& part) { of_y.copy_(part); }); });
    return y_TD;
  }
};

c10::intrusive_ptr<HeadExchange> exchange_of(torch::autograd::AutogradContext* ctx) {
  return c10::static_intrusive_pointer_cast<HeadExchange>(ctx->saved_data["exchange"].toCapsule());
}

class ToHeadsFunction : public torch::autograd::Function<ToHeadsFunction> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, const at::Tensor& x_TD,
                            const c10::intrusive_ptr<HeadExchange>& exchange) {
    ctx->saved_data["exchange"] = c10::IValue::make_capsule(exchange);
    return exchange->to_heads(x_TD);
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx, torch::autograd::variable_list grads) {
    return {exchange_of(ctx)->to_context(grads[0]), at::Tensor()};
  }
};

class ToContextFunction : public torch::autograd::Function<ToContextFunction> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, const at::Tensor& x_Wd,
                            const c10::intrusive_ptr<HeadExchange>& exchange) {
    ctx->saved_data["exchange"] = c10::IValue::make_capsule(exchange);
    return exchange->to_context(x_Wd);
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx, torch::autograd::variable_list grads) {
    return {exchange_of(ctx)->to_heads(grads[0]), at::Tensor()};
  }
};

class ShareFunction : public torch::autograd::Function<ShareFunction> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, const at::Tensor& parameter, const Sections& sections,
                            ContextPlace place) {
    ctx->saved_data["sections"] = sections;
    ctx->saved_data["rank"] = place.rank;
    ctx->saved_data["size"] = place.size;
    ctx->saved_data["sizes"] = parameter.sizes().vec();
    auto sizes = parameter.sizes().vec();
    sizes[0] /= place.size;
    auto share = at::empty(sizes, parameter.options());
    kernel({share, share}, [&] {
      for_each_section(sections, place, 0, parameter, share, [](const at::Tensor& all, const at::Tensor& part) { part.copy_(all); });
    });
    return share;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx, torch::autograd::variable_list grads) {
    const ContextPlace place{static_cast<int>(ctx->saved_data["rank"].toInt()), static_cast<int>(ctx->saved_data["size"].toInt())};
    auto dparameter = at::empty(ctx->saved_data["sizes"].toIntVector(), grads[0].options());
    kernel({dparameter, grads[0]}, [&] {
      dparameter.zero_();
      for_each_section(ctx->saved_data["sections"].toIntVector(), place, 0, dparameter, grads[0],
                       [](const at::Tensor& all, const at::Tensor& part) { all.copy_(part); });
    });
    return {dparameter, at::Tensor(), at::Tensor()};
  }
};

}  // namespace

at::Tensor ContextHeads::to_heads(const at::Tensor& x_TD, const std::vector<std::int64_t>& sections, SequenceShape sequence) const {
  if (size() == 1) return x_TD;
  return ToHeadsFunction::apply(x_TD, c10::make_intrusive<HeadExchange>(*group_, sections, sequence));
}

at::Tensor ContextHeads::to_context(const at::Tensor& x_WD, const std::vector<std::int64_t>& sections, SequenceShape sequence) const {
  if (size() == 1) return x_WD;
  return ToContextFunction::apply(x_WD, c10::make_intrusive<HeadExchange>(*group_, sections, sequence));
}

at::Tensor ContextHeads::share_of(const at::Tensor& parameter, const std::vector<std::int64_t>& sections) const {
  if (size() == 1) return parameter;
  return ShareFunction::apply(parameter, sections, ContextPlace{group_->rank(), group_->size()});
}

}  // namespace rematch::nn
