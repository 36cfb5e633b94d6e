#include <ATen/ATen.h>

#include <algorithm>
#include <numeric>

#include "runtime/base/saved_tensors.h"
#include "runtime/base/scope.h"
#include "runtime/nn/dispatch.h"
#include "runtime/nn/kernel.h"
#include "schemas/protocol/assumed_rows.h"

namespace rematch::nn {

namespace {

std::vector<std::int64_t> host_values(const at::Tensor& experts_TK) {
  const probes::ScratchScope scratch;
  const auto host = experts_TK.cpu().contiguous();
  return {host.data_ptr<std::int64_t>(), host.data_ptr<std::int64_t>() + host.numel()};
}

at::Tensor empty_map(std::int64_t num_rows, at::Device device) { return at::empty({num_rows}, at::TensorOptions(device).dtype(at::kInt)); }

void fill_map(const at::Tensor& map, const std::vector<std::int32_t>& values) {
  uncounted_kernel(map, [&] { map.copy_(at::tensor(values, at::kInt)); });
}

at::Tensor empty_rows(const at::Tensor& like, std::int64_t num_rows) {
  auto sizes = like.sizes().vec();
  sizes[0] = num_rows;
  return at::empty(sizes, like.options());
}

at::Tensor rows_of(const at::Tensor& source, const at::Tensor& map) {
  auto result = empty_rows(source, map.size(0));
  kernel({result, result, map}, [&] { at::index_select_out(result, source, 0, map); });
  return result;
}

std::int64_t total_of(const std::vector<std::int64_t>& counts) { return std::accumulate(counts.begin(), counts.end(), std::int64_t{0}); }

// Of each of `num_chunks` equal runs.
std::vector<std::int64_t> chunk_sums(const std::vector<std::int64_t>& counts, int num_chunks) {
  const auto length = static_cast<std::ptrdiff_t>(counts.size()) / num_chunks;
  std::vector<std::int64_t> sums;
  for (auto first = counts.begin(); first != counts.end(); first += length)
    sums.push_back(std::accumulate(first, first + length, std::int64_t{0}));
  return sums;
}

std::vector<std::int64_t> repeated(const std::vector<std::int64_t>& counts, int times) {
  std::vector<std::int64_t> result;
  for (int i = 0; i < times; ++i) result.insert(result.end(), counts.begin(), counts.end());
  return result;
}

std::vector<std::int64_t> exclusive_sums(const std::vector<std::int64_t>& counts) {
  std::vector<std::int64_t> firsts(counts.size());
  std::exclusive_scan(counts.begin(), counts.end(), firsts.begin(), std::int64_t{0});
  return firsts;
}

}  // namespace

TokenExchange::TokenExchange(const at::Tensor& experts_TK, std::int64_t num_experts, const ExpertGroups& groups,
                             const std::vector<double>& assumed_shares)
    : groups_(groups), topk_(experts_TK.size(1)), rows_per_local_expert_(static_cast<std::size_t>(num_experts / groups.expert.size()), 0) {
  row_map_ = empty_map(experts_TK.numel(), experts_TK.device());
  inverse_map_ = empty_map(experts_TK.numel(), experts_TK.device());
  count_moved({experts_TK, row_map_, inverse_map_});
  if (experts_TK.is_meta())
    rows_per_expert_ = protocol::assumed_rows(experts_TK.numel(), num_experts, assumed_shares);
  else
    fill_local_maps(host_values(experts_TK), num_experts);
  send_rows_ = chunk_sums(rows_per_expert_, groups.expert.size());
  const auto received = received_counts(experts_TK.is_meta());
  receive_rows_ = chunk_sums(received, groups.expert.size());
  const auto gathered = gathered_counts(received, experts_TK.is_meta());
  count_gathered(gathered);
  if (groups.expert.is_alone() && groups.tensor.is_alone()) return;
  sort_map_ = empty_map(num_received_, experts_TK.device());
  unsort_map_ = empty_map(num_received_, experts_TK.device());
  count_moved({sort_map_, unsort_map_});
  if (!experts_TK.is_meta()) fill_gathered_maps(gathered);
}

// Counting sort of the choices by expert, stable.
void TokenExchange::fill_local_maps(const std::vector<std::int64_t>& experts, std::int64_t num_experts) {
  rows_per_expert_.assign(static_cast<std::size_t>(num_experts), 0);
  for (const auto expert : experts) ++rows_per_expert_[static_cast<std::size_t>(expert)];
  std::vector<std::int64_t> next = exclusive_sums(rows_per_expert_);
  std::vector<std::int32_t> row_map(experts.size()), inverse_map(experts.size());
  for (std::size_t choice = 0; choice < experts.size(); ++choice) {
    const auto row = next[static_cast<std::size_t>(experts[choice])]++;
    row_map[static_cast<std::size_t>(row)] = static_cast<std::int32_t>(choice);
    inverse_map[choice] = static_cast<std::int32_t>(row);
  }
  fill_map(row_map_, row_map);
  fill_map(inverse_map_, inverse_map);
}

// [peer * L + e]: rows from `peer` for local expert e. On meta every peer is taken to send what this rank would send itself.
std::vector<std::int64_t> TokenExchange::received_counts(bool is_meta) const {
  if (groups_.expert.is_alone()) return rows_per_expert_;
  const auto counts = groups_.expert.exchange_counts(rows_per_expert_);
  if (!is_meta) return counts;
  const auto num_local = static_cast<std::ptrdiff_t>(rows_per_local_expert_.size());
  const auto mine = rows_per_expert_.begin() + groups_.expert.rank() * num_local;
  return repeated({mine, mine + num_local}, groups_.expert.size());
}

// The received counts of every expert-tensor-parallel rank. On meta all are as this one's.
std::vector<std::int64_t> TokenExchange::gathered_counts(const std::vector<std::int64_t>& received_counts, bool is_meta) const {
  if (groups_.tensor.is_alone()) return received_counts;
  const auto counts = groups_.tensor.gather_counts(received_counts);
  return is_meta ? repeated(received_counts, groups_.tensor.size()) : counts;
}

void TokenExchange::count_gathered(const std::vector<std::int64_t>& gathered_counts) {
  const auto num_local = rows_per_local_expert_.size();
  for (std::size_t chunk = 0; chunk < gathered_counts.size(); ++chunk) rows_per_local_expert_[chunk % num_local] += gathered_counts[chunk];
  gathered_rows_ = chunk_sums(gathered_counts, groups_.tensor.size());
  num_received_ = total_of(gathered_rows_);
}

void TokenExchange::fill_gathered_maps(const std::vector<std::int64_t>& gathered_counts) const {
  const auto num_local = rows_per_local_expert_.size();
  std::vector<std::int64_t> next = exclusive_sums(rows_per_local_expert_);
  std::vector<std::int32_t> sort_map(static_cast<std::size_t>(num_received_)), unsort_map(static_cast<std::size_t>(num_received_));
  std::int32_t gathered = 0;
  for (std::size_t chunk = 0; chunk < gathered_counts.size(); ++chunk)
    for (std::int64_t i = 0; i < gathered_counts[chunk]; ++i, ++gathered) {
      const auto sorted = next[chunk % num_local]++;
      sort_map[static_cast<std::size_t>(sorted)] = gathered;
      unsort_map[static_cast<std::size_t>(gathered)] = static_cast<std::int32_t>(sorted);
    }
  fill_map(sort_map_, sort_map);
  fill_map(unsort_map_, unsort_map);
}

void TokenExchange::note_saved_maps() const {
  base::note_saved("dispatch", "row_map", row_map_);
  base::note_saved("dispatch", "inverse_map", inverse_map_);
  base::note_saved("dispatch", "sort_map", sort_map_);
  base::note_saved("dispatch", "unsort_map", unsort_map_);
}

at::Tensor TokenExchange::send(at::Tensor permuted) const {
  const base::RoleScope role(protocol::Role::kCommunication);
  auto rows = std::move(permuted);
  if (!groups_.expert.is_alone()) {
    const auto received = empty_rows(rows, total_of(receive_rows_));
    groups_.expert.all_to_all(received, rows, receive_rows_, send_rows_);
    rows = received;
  }
  if (!groups_.tensor.is_alone()) {
    const auto gathered = empty_rows(rows, num_received_);
    groups_.tensor.all_gather_rows(gathered, rows, gathered_rows_);
    rows = gathered;
  }
  return rows;
}

at::Tensor TokenExchange::send_back(const at::Tensor& sorted) const {
  const base::RoleScope role(protocol::Role::kCommunication);
  auto rows = unsort_map_.defined() ? rows_of(sorted, unsort_map_) : sorted;
  if (!groups_.tensor.is_alone()) {
    const auto summed = empty_rows(rows, total_of(receive_rows_));
    groups_.tensor.reduce_scatter_rows(summed, rows, gathered_rows_);
    rows = summed;
  }
  if (!groups_.expert.is_alone()) {
    const auto returned = empty_rows(rows, row_map_.size(0));
    groups_.expert.all_to_all(returned, rows, send_rows_, receive_rows_);
    rows = returned;
  }
  return rows;
}

at::Tensor TokenExchange::sorted(const at::Tensor& gathered) const { return sort_map_.defined() ? rows_of(gathered, sort_map_) : gathered; }

at::Tensor TokenExchange::to_experts(const at::Tensor& x_TH) const {
  auto permuted = at::empty({row_map_.size(0), x_TH.size(1)}, x_TH.options());
  kernel({permuted, permuted, row_map_}, [&] { at::index_select_out(permuted, x_TH, 0, row_map_.div(topk_, "floor")); });
  return sorted(send(std::move(permuted)));
}

at::Tensor TokenExchange::from_experts(const at::Tensor& y_RH) const {
  const auto returned = send_back(y_RH);
  auto x_TH = at::empty({row_map_.size(0) / topk_, y_RH.size(1)}, y_RH.options());
  kernel({x_TH, returned, inverse_map_}, [&] {
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
  kernel({permuted, permuted, row_map_}, [&] { permuted.copy_(values_TE.view({-1}).index_select(0, value_indices())); });
  return sorted(send(std::move(permuted)));
}

at::Tensor TokenExchange::values_from_experts(const at::Tensor& values_R) const {
  const auto returned = send_back(values_R);
  auto values_TE = at::empty({row_map_.size(0) / topk_, static_cast<std::int64_t>(rows_per_expert_.size())}, values_R.options());
  kernel({values_TE, returned, row_map_}, [&] { values_TE.zero_().view({-1}).scatter_(0, value_indices(), returned); });
  return values_TE;
}

}  // namespace rematch::nn
