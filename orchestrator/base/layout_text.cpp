#include "orchestrator/base/layout_text.h"

#include <utility>
#include <vector>

namespace rematch::base {

namespace {

std::string degrees_text(const protocol::ParallelSpec& spec) {
  const protocol::ParallelDims dims(spec);
  const std::pair<const char*, std::int64_t> degrees[] = {{"TP", spec.tensor_model_parallel_size},
                                                          {"PP", spec.pipeline_model_parallel_size},
                                                          {"VPP", spec.virtual_pipeline_model_parallel_size.value_or(1)},
                                                          {"CP", spec.context_parallel_size},
                                                          {"EP", spec.expert_model_parallel_size},
                                                          {"ETP", spec.expert_tensor_parallel_size},
                                                          {"DP", dims.data_parallel_size()}};
  std::string text;
  for (const auto& [name, degree] : degrees)
    if (degree != 1) text += (text.empty() ? "" : " ") + std::string(name) + "=" + std::to_string(degree);
  return text;
}

std::vector<std::string> options_of(const protocol::ParallelSpec& spec) {
  std::vector<std::string> options;
  if (spec.sequence_parallel) options.emplace_back("SP");
  if (spec.context_parallel_size > 1) options.push_back("cp_comm_type " + spec.cp_comm_type);
  if (const auto& first = spec.num_layers_in_first_pipeline_stage) options.push_back(std::to_string(*first) + " layers first");
  if (const auto& last = spec.num_layers_in_last_pipeline_stage) options.push_back(std::to_string(*last) + " layers last");
  if (spec.account_for_embedding_in_pipeline_split) options.emplace_back("embedding counts as a layer");
  if (spec.account_for_loss_in_pipeline_split) options.emplace_back("loss counts as a layer");
  return options;
}

}  // namespace

std::string layout_text(const protocol::ParallelSpec& spec) {
  std::string text = std::to_string(spec.world_size) + (spec.world_size == 1 ? " rank" : " ranks");
  const std::string degrees = degrees_text(spec);
  if (!degrees.empty()) text += ", " + degrees;
  for (const std::string& option : options_of(spec)) text += ", " + option;
  return text;
}

std::string pipeline_place(const protocol::ParallelSpec& spec, std::int64_t rank) {
  if (spec.pipeline_model_parallel_size == 1) return "";
  const int place = protocol::ParallelDims(spec).position(protocol::Axis::kPipeline, static_cast<int>(rank));
  return "pipeline rank " + std::to_string(place) + " of " + std::to_string(spec.pipeline_model_parallel_size);
}

}  // namespace rematch::base
