#include "schemas/protocol/parallel_dims.h"

#include <algorithm>
#include <limits>

#include "schemas/protocol/document_error.h"
#include "schemas/protocol/factors.h"

namespace rematch::protocol {

namespace {

constexpr std::int64_t kLargest = std::numeric_limits<int>::max();

std::vector<std::string> range_problems(const std::vector<Factor>& degrees, std::int64_t least) {
  std::vector<std::string> problems;
  for (const Factor& degree : degrees) {
    if (degree.size >= least && degree.size <= kLargest) continue;
    problems.push_back(degree.name + ": wanted " + std::to_string(least) + " to " + std::to_string(kLargest) + ", found " +
                       std::to_string(degree.size));
  }
  return problems;
}

// What goes with which axis.
std::vector<std::string> option_problems(const ParallelSpec& spec) {
  std::vector<std::string> problems;
  const auto refuse = [&](bool broken, const std::string& message) {
    if (broken) problems.push_back(message);
  };
  refuse(spec.sequence_parallel && spec.tensor_model_parallel_size == 1,
         "sequence_parallel: wanted tensor_model_parallel_size > 1, found 1; write false");
  refuse(spec.cp_comm_type != "p2p" && spec.cp_comm_type != "all_gather",
         "cp_comm_type: wanted p2p or all_gather, found '" + spec.cp_comm_type + "'");
  if (spec.pipeline_model_parallel_size > 1) return problems;
  refuse(spec.virtual_pipeline_model_parallel_size.value_or(1) > 1,
         "virtual_pipeline_model_parallel_size: wanted pipeline_model_parallel_size > 1, found 1; write null");
  refuse(spec.num_layers_in_first_pipeline_stage || spec.num_layers_in_last_pipeline_stage ||
             spec.account_for_embedding_in_pipeline_split || spec.account_for_loss_in_pipeline_split,
         "num_layers_in_first_pipeline_stage, num_layers_in_last_pipeline_stage, account_for_embedding_in_pipeline_split and "
         "account_for_loss_in_pipeline_split: wanted pipeline_model_parallel_size > 1, found 1; leave them out");
  return problems;
}

// One digit of a rank's number: the product of the sizes of the digits before it, and its own size.
struct Digit {
  std::int64_t stride;
  std::int64_t size;
};

// Ranks that differ from `rank` in these digits only; the first digit runs fastest.
std::vector<int> ranks_along(int rank, const std::vector<Digit>& digits) {
  std::int64_t first = rank;
  for (const Digit& digit : digits) first -= rank / digit.stride % digit.size * digit.stride;
  std::vector<std::int64_t> ranks = {first};
  for (const Digit& digit : digits) {
    const auto count = ranks.size();
    for (std::int64_t i = 1; i < digit.size; ++i)
      for (std::size_t j = 0; j < count; ++j) ranks.push_back(ranks[j] + i * digit.stride);
  }
  return {ranks.begin(), ranks.end()};
}

std::vector<Digit> digits_of(Axis axis, const ParallelDims& dims) {
  const auto& spec = dims.spec();
  const Digit tensor{1, spec.tensor_model_parallel_size};
  const Digit context{tensor.size, spec.context_parallel_size};
  const Digit data{context.stride * context.size, dims.data_parallel_size()};
  const Digit pipeline{data.stride * data.size, spec.pipeline_model_parallel_size};
  const Digit expert_tensor{1, spec.expert_tensor_parallel_size};
  const Digit expert{expert_tensor.size, spec.expert_model_parallel_size};
  const Digit expert_data{expert.stride * expert.size, dims.expert_data_parallel_size()};
  switch (axis) {
    case Axis::kTensor: return {tensor};
    case Axis::kContext: return {context};
    case Axis::kData: return {data};
    case Axis::kPipeline: return {pipeline};
    case Axis::kDataContext: return {context, data};
    case Axis::kTensorContext: return {tensor, context};
    case Axis::kTensorDataContext: return {tensor, context, data};
    case Axis::kExpert: return {expert};
    case Axis::kExpertTensor: return {expert_tensor};
    case Axis::kExpertData: return {expert_data};
    case Axis::kWorld: return {tensor, context, data, pipeline};
  }
  return {};
}

}  // namespace

std::vector<std::string> parallel_problems(const ParallelSpec& spec) {
  const Factor world{"world_size", spec.world_size};
  const Factor tensor{"tensor_model_parallel_size", spec.tensor_model_parallel_size};
  const Factor pipeline{"pipeline_model_parallel_size", spec.pipeline_model_parallel_size};
  const Factor context{"context_parallel_size", spec.context_parallel_size};
  const Factor expert{"expert_model_parallel_size", spec.expert_model_parallel_size};
  const Factor expert_tensor{"expert_tensor_parallel_size", spec.expert_tensor_parallel_size};
  auto problems = range_problems({world, tensor, pipeline, context, expert, expert_tensor}, 1);
  const auto also = [&](const std::vector<std::string>& more) { problems.insert(problems.end(), more.begin(), more.end()); };
  also(range_problems({{"virtual_pipeline_model_parallel_size", spec.virtual_pipeline_model_parallel_size.value_or(1)}}, 1));
  also(range_problems({{"num_layers_in_first_pipeline_stage", spec.num_layers_in_first_pipeline_stage.value_or(1)},
                       {"num_layers_in_last_pipeline_stage", spec.num_layers_in_last_pipeline_stage.value_or(1)}},
                      1));
  if (!problems.empty()) return problems;
  for (const std::vector<Factor>& degrees : {std::vector{tensor, pipeline, context}, std::vector{expert_tensor, expert, pipeline}}) {
    if (divides_all(spec.world_size, degrees)) continue;
    problems.push_back("world_size: wanted a multiple of " + product_text(degrees) + ", found " + std::to_string(spec.world_size));
  }
  also(option_problems(spec));
  return problems;
}

const char* axis_name(Axis axis) {
  switch (axis) {
    case Axis::kTensor: return "tp";
    case Axis::kContext: return "cp";
    case Axis::kData: return "dp";
    case Axis::kPipeline: return "pp";
    case Axis::kDataContext: return "dp_cp";
    case Axis::kTensorContext: return "tp_cp";
    case Axis::kTensorDataContext: return "tp_dp_cp";
    case Axis::kExpert: return "ep";
    case Axis::kExpertTensor: return "expt_tp";
    case Axis::kExpertData: return "expt_dp";
    case Axis::kWorld: return "world";
  }
  return "";
}

std::vector<Axis> all_axes() {
  return {Axis::kTensor,        Axis::kContext,           Axis::kData,   Axis::kPipeline,     Axis::kDataContext,
          Axis::kTensorContext, Axis::kTensorDataContext, Axis::kExpert, Axis::kExpertTensor, Axis::kExpertData,
          Axis::kWorld};
}

ParallelDims::ParallelDims(const ParallelSpec& spec) : spec_(spec) {
  std::string problems;
  for (const std::string& problem : parallel_problems(spec)) problems += (problems.empty() ? "" : "; ") + problem;
  if (!problems.empty()) throw DocumentError("parallel: " + problems);
}

std::int64_t ParallelDims::data_parallel_size() const {
  return spec_.world_size / (spec_.tensor_model_parallel_size * spec_.pipeline_model_parallel_size * spec_.context_parallel_size);
}

std::int64_t ParallelDims::expert_data_parallel_size() const {
  return spec_.world_size / (spec_.pipeline_model_parallel_size * spec_.expert_model_parallel_size * spec_.expert_tensor_parallel_size);
}

std::vector<int> ParallelDims::group_ranks(Axis axis, int rank) const { return ranks_along(rank, digits_of(axis, *this)); }

int ParallelDims::position(Axis axis, int rank) const {
  const auto ranks = group_ranks(axis, rank);
  return static_cast<int>(std::find(ranks.begin(), ranks.end(), rank) - ranks.begin());
}

}  // namespace rematch::protocol
