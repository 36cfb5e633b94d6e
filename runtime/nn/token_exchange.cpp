#include <ATen/ATen.h>

#include <algorithm>
#include <numeric>

#include "runtime/base/saved_tensors.h"
#include "runtime/base/scope.h"
#include "runtime/nn/dispatch.h"
#include "runtime/nn/kernel.h"

namespace rematch::nn {

namespace {

std::vector<std::int64_t> host_values(const at::Tensor& experts_TK) {
  const probes::ScratchScope scratch;
  const auto host = experts_TK.cpu().contiguous();
  return {host.data_ptr<std::int64_t>(), host.data_ptr<std::int64_t>() + host.numel()};
}

std::vector<std::int64_t> balanced_choice(std::int64_t num_choices, std::int64_t num_experts) {
  std::vector<std::int64_t> experts(static_cast<std::size_t>(num_choices));
  for (std::int64_t i = 0; i < num_choices; ++i) experts[static_cast<std::size_t>(i)] = i % num_experts;
  return experts;
}

at::Tensor device_map(const std::vector<std::int32_t>& values, at::Device device) {
  auto map = at::empty({static_cast<std::int64_t>(values.size())}, at::TensorOptions(device).dtype(at::kInt));
  kernel(map, [&] { map.copy_(at::tensor(values, at::kInt)); });
  return map;
}

at::Tensor rows_of(const at::Tensor& source, const at::Tensor& map) {
  auto sizes = source.sizes().vec();
  sizes[0] = map.size(0);
  auto result = at::empty(sizes, source.options());
  kernel(result, [&] { at::index_select_out(result, source, 0, map); });
  return result;
}

std::vector<std::int64_t> exclusive_sums(const std::vector<std::int64_t>& counts) {
  std::vector<std::int64_t> firsts(counts.size());
  std::exclusive_scan(counts.begin(), counts.end(), firsts.begin(), std::int64_t{0});
  return firsts;
}

}  // namespace

TokenExchange::TokenExchange(const at::Tensor& experts_TK, std::int64_t num_experts, const comm::Communicator& expert_group)
    : group_(expert_group), topk_(experts_TK.size(1)) {
  build_local_maps(experts_TK, num_experts);
  const auto num_local_experts = num_experts / expert_group.size();
  for (int peer = 0; peer < expert_group.size(); ++peer) {
    const auto first = rows_per_expert_.begin() + peer * num_local_experts;
    send_rows_.push_back(std::accumulate(first, first + num_local_experts, std::int64_t{0}));
  }
  build_received_maps(received_counts(rows_per_expert_, experts_TK.is_meta()), num_local_experts, experts_TK.device());
}

// Counting sort of the choices by expert, stable.
void TokenExchange::build_local_maps(const at::Tensor& experts_TK, std::int64_t num_experts) {
  const auto experts = experts_TK.is_meta() ? balanced_choice(experts_TK.numel(), num_experts) : host_values(experts_TK);
  rows_per_expert_.assign(static_cast<std::size_t>(num_experts), 0);
  for (const auto expert : experts) ++rows_per_expert_[static_cast<std::size_t>(expert)];
  std::vector<std::int64_t> next = exclusive_sums(rows_per_expert_);
  std::vector<std::int32_t> row_map(experts.size()), inverse_map(experts.size());
  for (std::size_t choice = 0; choice < experts.size(); ++choice) {
    const auto row = next[static_cast<std::size_t>(experts[choice])]++;
    row_map[static_cast<std::size_t>(row)] = static_cast<std::int32_t>(choice);
    inverse_map[choice] = static_cast<std::int32_t>(row);
  }
  row_map_ = device_map(row_map, experts_TK.device());
  inverse_map_ = device_map(inverse_map, experts_TK.device());
}

std::vector<std::int64_t> TokenExchange::received_counts(const std::vector<std::int64_t>& sent_counts, bool is_meta) const {
  if (group_.is_alone()) return sent_counts;
  if (!is_meta) return group_.exchange_counts(sent_counts);
  // No values to exchange: every peer is taken to send what this rank would send itself.
  const auto num_local = static_cast<std::ptrdiff_t>(sent_counts.size()) / group_.size();
  const auto mine = sent_counts.begin() + group_.rank() * num_local;
  std::vector<std::int64_t> counts;
  for (int peer = 0; peer < group_.size(); ++peer) counts.insert(counts.end(), mine, mine + num_local);
  return counts;
}

void TokenExchange::build_received_maps(const std::vector<std::int64_t>& received_counts, std::int64_t num_local_experts,
                                        at::Device device) {
  // received_counts[peer * L + e]: rows from `peer` for local expert e, in this order.
  const auto local = static_cast<std::size_t>(num_local_experts);
  const auto num_peers = received_counts.size() / local;
  rows_per_local_expert_.assign(local, 0);
  for (std::size_t peer = 0; peer < num_peers; ++peer) {
    const auto first = received_counts.begin() + static_cast<std::ptrdiff_t>(peer * local);
    receive_rows_.push_back(std::accumulate(first, first + num_local_experts, std::int64_t{0}));
    for (std::size_t e = 0; e < local; ++e) rows_per_local_expert_[e] += received_counts[peer * local + e];
  }
  num_received_ = std::accumulate(receive_rows_.begin(), receive_rows_.end(), std::int64_t{0});
  if (group_.is_alone()) return;
  std::vector<std::int64_t> next = exclusive_sums(rows_per_local_expert_);
  std::vector<std::int32_t> sort_map(static_cast<std::size_t>(num_received_)), unsort_map(static_cast<std::size_t>(num_received_));
  std::int32_t received = 0;
  for (std::size_t chunk = 0; chunk < received_counts.size(); ++chunk)
    for (std::int64_t i = 0; i < received_counts[chunk]; ++i, ++received) {
      const auto sorted = next[chunk % local]++;
      sort_map[static_cast<std::size_t>(sorted)] = received;
      unsort_map[static_cast<std::size_t>(received)] = static_cast<std::int32_t>(sorted);
    }
  sort_map_ = device_map(sort_map, device);
  unsort_map_ = device_map(unsort_map, device);
}

void TokenExchange::note_saved_maps() const {
  base::note_saved("dispatch", "row_map", row_map_);
  base::note_saved("dispatch", "inverse_map", inverse_map_);
  base::note_saved("dispatch", "sort_map", sort_map_);
  base::note_saved("dispatch", "unsort_map", unsort_map_);
}

at::Tensor TokenExchange::send(const at::Tensor& permuted) const {
  if (group_.is_alone()) return permuted;
  const base::RoleScope role(protocol::Role::kCommunication);
  auto sizes = permuted.sizes().vec();
  sizes[0] = num_received_;
  const auto received = at::empty(sizes, permuted.options());
  group_.all_to_all(received, permuted, receive_rows_, send_rows_);
  return received;
}

at::Tensor TokenExchange::send_back(const at::Tensor& sorted) const {
  if (group_.is_alone()) return sorted;
  const base::RoleScope role(protocol::Role::kCommunication);
  const auto unsorted = rows_of(sorted, unsort_map_);
  auto sizes = sorted.sizes().vec();
  sizes[0] = row_map_.size(0);
  const auto returned = at::empty(sizes, sorted.options());
  group_.all_to_all(returned, unsorted, send_rows_, receive_rows_);
  return returned;
}

at::Tensor TokenExchange::to_experts(const at::Tensor& x_TH) const {
  at::Tensor received;
  {
    auto permuted = at::empty({row_map_.size(0), x_TH.size(1)}, x_TH.options());
    kernel(permuted, [&] { at::index_select_out(permuted, x_TH, 0, row_map_.div(topk_, "floor")); });
    received = send(permuted);
  }
  return sort_map_.defined() ? rows_of(received, sort_map_) : received;
}

at::Tensor TokenExchange::from_experts(const at::Tensor& y_RH) const {
  const auto returned = send_back(y_RH);
  auto x_TH = at::empty({row_map_.size(0) / topk_, y_RH.size(1)}, y_RH.options());
  kernel(x_TH, [&] {
    const auto rows_TKH = returned.index_select(0, inverse_map_).view({x_TH.size(0), topk_, x_TH.size(1)});
    x_TH.copy_(rows_TKH.to(at::kFloat).sum(1));
  });
  return x_TH;
}

// Of each permuted row, t * E + e: rows are sorted by expert.
at::Tensor TokenExchange::value_indices() const {
  const auto num_experts = static_cast<std::int64_t>(rows_per_expert_.size());
  const auto options = row_map_.options().dtype(at::kLong);
  const auto experts = at::arange(num_experts, options).repeat_interleave(at::tensor(rows_per_expert_, options));
  return row_map_.to(at::kLong).div(topk_, "floor").mul_(num_experts).add_(experts);
}

at::Tensor TokenExchange::values_to_experts(const at::Tensor& values_TE) const {
  auto permuted = at::empty({row_map_.size(0)}, values_TE.options());
  kernel(permuted, [&] { permuted.copy_(values_TE.view({-1}).index_select(0, value_indices())); });
  const auto received = send(permuted);
  return sort_map_.defined() ? rows_of(received, sort_map_) : received;
}

at::Tensor TokenExchange::values_from_experts(const at::Tensor& values_R) const {
  const auto returned = send_back(values_R);
  auto values_TE = at::empty({row_map_.size(0) / topk_, static_cast<std::int64_t>(rows_per_expert_.size())}, values_R.options());
  kernel(values_TE, [&] { values_TE.zero_().view({-1}).scatter_(0, value_indices(), returned); });
  return values_TE;
}

}  // namespace rematch::nn
