#include "orchestrator/rules/estimate.h"

#include <algorithm>
#include <map>
#include <vector>

namespace rematch::rules {

namespace {

using protocol::CommOperation;
using protocol::Pass;

constexpr double kNsPerSecond = 1e9;

std::optional<protocol::Axis> find_axis(const std::string& name) {
  for (protocol::Axis axis : protocol::all_axes())
    if (protocol::axis_name(axis) == name) return axis;
  return std::nullopt;
}

bool lies_in_one_node(const std::vector<int>& ranks) {
  return std::all_of(ranks.begin(), ranks.end(), [&](int rank) { return rank / base::kGpusPerNode == ranks.front() / base::kGpusPerNode; });
}

// Bytes that cross a GPU's link in one direction for each byte of the operation, n ranks in a ring.
double share_on_link(CommOperation operation, double n) {
  switch (operation) {
    case CommOperation::kAllReduce: return 2 * (n - 1) / n;
    case CommOperation::kAllGather:
    case CommOperation::kReduceScatter:
    case CommOperation::kAllToAll: return (n - 1) / n;
    case CommOperation::kSend:
    case CommOperation::kReceive: return 1;
  }
  return 1;
}

// Of one axis.
struct OnLink {
  std::vector<int> ranks;  // of the group
  double bytes = 0;        // of collectives
  double sent_bytes = 0;   // of messages: both directions at once
  double received_bytes = 0;
};

double axis_time_ns(const OnLink& on_link, const base::DeviceRow& device) {
  const double rate = lies_in_one_node(on_link.ranks) ? device.nvlink_bytes_per_s.value : device.network_bytes_per_s.value;
  return (on_link.bytes + std::max(on_link.sent_bytes, on_link.received_bytes)) / rate * kNsPerSecond;
}

double communication_ns(const protocol::StepRecord& step, Pass pass, std::int64_t rank, const protocol::ParallelDims& dims,
                        const base::DeviceRow& device) {
  std::map<std::string, OnLink> by_axis;
  for (const protocol::CommCount& count : step.communication) {
    const std::optional<protocol::Axis> axis = find_axis(count.axis);
    if (count.pass != pass || !axis) continue;
    OnLink& on_link = by_axis[count.axis];
    if (on_link.ranks.empty()) on_link.ranks = dims.group_ranks(*axis, static_cast<int>(rank));
    const double bytes = static_cast<double>(count.bytes) * share_on_link(count.operation, static_cast<double>(on_link.ranks.size()));
    if (count.operation == CommOperation::kSend)
      on_link.sent_bytes += bytes;
    else if (count.operation == CommOperation::kReceive)
      on_link.received_bytes += bytes;
    else
      on_link.bytes += bytes;
  }
  double sum_ns = 0;
  for (const auto& [axis, on_link] : by_axis) sum_ns += axis_time_ns(on_link, device);
  return sum_ns;
}

double computation_ns(const protocol::WorkCount& work, const base::DeviceRow& device) {
  const double memory_rate = device.memory_bytes_per_s.value;
  const double matmul_s = std::max(static_cast<double>(work.matmul_flops) / device.matmul_flops_per_s.value,
                                   static_cast<double>(work.matmul_bytes) / memory_rate);
  const double other_s = static_cast<double>(work.other_bytes) / memory_rate;
  return std::max((matmul_s + other_s) * kNsPerSecond, static_cast<double>(work.num_kernels) * device.launch_ns.value);
}

base::StepEstimate estimate_rank(const base::RankRows& rank, const protocol::Trial& trial, const base::DeviceRow& device) {
  const protocol::ParallelDims dims(trial.parallel);
  const protocol::StepRecord& step = rank.steps.back();
  const double bubble = bubble_factor(trial);
  base::StepEstimate estimate;
  estimate.rank = rank.rank;
  for (Pass pass : protocol::kAllPasses) {
    const double pass_ns = pass_time_ns(step, pass, rank.rank, dims, device) * (pass == Pass::kUpdate ? 1 : bubble);
    estimate.time_ns += pass_ns;
    if (pass == Pass::kReplay) estimate.replay_ns = pass_ns;
  }
  return estimate;
}

}  // namespace

double pass_time_ns(const protocol::StepRecord& step, Pass pass, std::int64_t rank, const protocol::ParallelDims& dims,
                    const base::DeviceRow& device) {
  double sum_ns = communication_ns(step, pass, rank, dims, device);
  for (const protocol::WorkCount& work : step.work)
    if (work.pass == pass) sum_ns += computation_ns(work, device);
  return sum_ns;
}

double bubble_factor(const protocol::Trial& trial) {
  const protocol::ParallelDims dims(trial.parallel);
  const auto num_micro_batches = static_cast<double>(trial.training.global_batch_size) /
                                 static_cast<double>(trial.training.micro_batch_size * dims.data_parallel_size());
  const double idle = static_cast<double>(dims.pipeline_size() - 1) / static_cast<double>(dims.num_model_chunks());
  return (num_micro_batches + idle) / num_micro_batches;
}

std::optional<base::StepEstimate> estimate_step(const base::AttemptRows& attempt) {
  if (!attempt.trial.prediction || attempt.ranks.empty()) return std::nullopt;
  const base::DeviceRow* device = base::find_device(attempt.trial.prediction->device);
  if (device == nullptr) return std::nullopt;
  std::optional<base::StepEstimate> longest;
  for (const base::RankRows& rank : attempt.ranks) {
    if (rank.steps.empty() || rank.steps.back().work.empty()) return std::nullopt;
    const base::StepEstimate estimate = estimate_rank(rank, attempt.trial, *device);
    if (!longest || estimate.time_ns > longest->time_ns) longest = estimate;
  }
  return longest;
}

}  // namespace rematch::rules
