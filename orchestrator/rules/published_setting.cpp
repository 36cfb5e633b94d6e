#include "orchestrator/rules/published_setting.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "schemas/protocol/parallel_dims.h"

namespace rematch::rules {

namespace {

class Differences {
 public:
  void note(const std::string& name, const std::string& published, const std::string& here) {
    if (published != here) all_.push_back({name, published, here});
  }
  void note(const std::string& name, const std::optional<std::int64_t>& published, std::int64_t here) {
    if (published) note(name, std::to_string(*published), std::to_string(here));
  }
  std::vector<SettingDifference> all() && { return std::move(all_); }

 private:
  std::vector<SettingDifference> all_;
};

std::string value_text(const protocol::FieldMap& fields, const std::string& name) {
  const auto found = fields.find(name);
  return found == fields.end() ? "none" : protocol::to_json_value(found->second).dump();
}

void compare_model(const protocol::PublishedSetting& setting, const protocol::ModelSpec& model, Differences& differences) {
  if (!setting.preset) return;
  differences.note("preset", *setting.preset, model.preset.value_or("none"));
  for (const auto& [name, value] : setting.changed_fields)
    differences.note("model." + name, protocol::to_json_value(value).dump(), value_text(model.fields, name));
  for (const std::string& name : model.overridden)
    if (!setting.changed_fields.contains(name)) differences.note("model." + name, "the preset's", value_text(model.fields, name));
}

void compare_layout(const protocol::PublishedLayout& layout, const protocol::ParallelSpec& parallel, Differences& differences) {
  const protocol::ParallelDims dims(parallel);
  differences.note("world_size", layout.world_size, parallel.world_size);
  differences.note("tensor_model_parallel_size", layout.tensor_model_parallel_size, parallel.tensor_model_parallel_size);
  differences.note("pipeline_model_parallel_size", layout.pipeline_model_parallel_size, parallel.pipeline_model_parallel_size);
  differences.note("virtual_pipeline_model_parallel_size", layout.virtual_pipeline_model_parallel_size, dims.num_model_chunks());
  differences.note("context_parallel_size", layout.context_parallel_size, parallel.context_parallel_size);
  differences.note("expert_model_parallel_size", layout.expert_model_parallel_size, parallel.expert_model_parallel_size);
  differences.note("data_parallel_size", layout.data_parallel_size, dims.data_parallel_size());
  differences.note("expert_data_parallel_size", layout.expert_data_parallel_size, dims.expert_data_parallel_size());
}

}  // namespace

std::string precision_of(const protocol::Trial& trial) {
  if (trial.features.fp8) return "fp8";
  return trial.training.bf16 ? "bf16" : "fp32";
}

std::vector<SettingDifference> setting_differences(const protocol::Published& published, const protocol::Trial& trial) {
  const protocol::PublishedSetting& setting = published.setting;
  Differences differences;
  compare_model(setting, trial.model, differences);
  differences.note("seq_length", setting.seq_length, trial.training.seq_length);
  differences.note("micro_batch_size", setting.micro_batch_size, trial.training.micro_batch_size);
  differences.note("global_batch_size", setting.global_batch_size, trial.training.global_batch_size);
  if (setting.attention) differences.note("attention", *setting.attention, trial.backend.attention);
  compare_layout(setting.layout, trial.parallel, differences);
  if (const auto& revision = published.source.core_revision; revision && !revision->starts_with(trial.recompute.core_revision))
    differences.note("core_revision", *revision, trial.recompute.core_revision);
  return std::move(differences).all();
}

bool does_same_work(const protocol::Published& published, const protocol::Trial& trial) {
  const protocol::PublishedSetting& setting = published.setting;
  if (!setting.preset || !setting.seq_length || !setting.global_batch_size) return false;
  Differences differences;
  compare_model(setting, trial.model, differences);
  differences.note("seq_length", setting.seq_length, trial.training.seq_length);
  differences.note("global_batch_size", setting.global_batch_size, trial.training.global_batch_size);
  return std::move(differences).all().empty();
}

}  // namespace rematch::rules
