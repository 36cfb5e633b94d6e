#include "orchestrator/compat/conditions.h"

#include <algorithm>
#include <functional>

#include "schemas/protocol/field_rules.h"
#include "schemas/protocol/pipeline_layers.h"
#include "schemas/protocol/recompute_labels.h"

namespace rematch::compat {

namespace {

using Labels = std::vector<std::string>;

const Labels& modules(const Setting& setting) {
  static const Labels none;
  const auto& list = setting.trial.recompute.recompute_modules;
  return list ? *list : none;
}

// Of the labels that take effect.
Labels selected_labels(const Setting& setting, const std::function<bool(const std::string&)>& wanted) {
  Labels found;
  if (is_selective(setting)) std::copy_if(modules(setting).begin(), modules(setting).end(), std::back_inserter(found), wanted);
  return found;
}

std::string joined(const Labels& labels) {
  std::string text;
  for (const std::string& label : labels) text += (text.empty() ? "" : ", ") + label;
  return text;
}

bool has_row(const protocol::FamilyDescription& family, std::string_view label) {
  const protocol::LabelSites* sites = protocol::find_sites(family, std::string(label));
  return sites != nullptr &&
         std::any_of(sites->per_layer.begin(), sites->per_layer.end(), [](const auto& kind) { return kind.second > 0; });
}

bool trainer_has(const Setting& setting, std::string_view label) {
  const auto& families = setting.trainer.families;
  return std::any_of(families.begin(), families.end(), [&](const auto& family) { return has_row(family, label); });
}

bool is_known(const Setting& setting, const std::string& label) {
  return protocol::find_label(label, setting.trial.recompute.core_revision).has_value();
}

std::int64_t num_sites(const Setting& setting, const std::string& label) {
  return protocol::count_sites(setting.family, setting.trial.model.fields, label);
}

// Of the largest model chunk: full recompute counts within each.
std::int64_t num_layers_of_chunk(const Setting& setting) {
  const auto num_layers = static_cast<std::int64_t>(protocol::layer_kinds(setting.family, setting.trial.model.fields).of_layer.size());
  const auto sizes = protocol::chunk_sizes(num_layers, setting.trial.parallel);
  return *std::max_element(sizes.begin(), sizes.end());
}

std::string no_site_reason(const Setting& setting, const std::string& label) {
  const protocol::LabelSites* sites = protocol::find_sites(setting.family, label);
  const bool has_reason = sites != nullptr && !sites->no_site_reason.empty();
  return label + ": " + (has_reason ? sites->no_site_reason : "family " + setting.family.name + " has no such boundary");
}

Labels unknown(const Setting& setting) {
  return selected_labels(setting, [&](const std::string& label) { return !is_known(setting, label); });
}

Labels without_unit(const Setting& setting) {
  return selected_labels(setting, [&](const std::string& label) { return is_known(setting, label) && !trainer_has(setting, label); });
}

Labels without_site(const Setting& setting) {
  return selected_labels(setting, [&](const std::string& label) { return label != "shared_experts" && num_sites(setting, label) == 0; });
}

Labels context_labels(const Setting& setting) {
  if (setting.trial.parallel.context_parallel_size == 1) return {};
  return selected_labels(setting, [&](const std::string& label) {
    return (label == "core_attn" || label == "gdn_norm_out") && num_sites(setting, label) > 0;
  });
}

std::vector<protocol::UnsplitKinds> unsplit(const Setting& setting) {
  return protocol::unsplit_kinds(setting.family, setting.trial.model.fields, setting.trial.parallel);
}

}  // namespace

bool is_full(const Setting& setting) { return setting.trial.recompute.recompute_granularity == "full"; }
bool is_selective(const Setting& setting) { return setting.trial.recompute.recompute_granularity == "selective"; }

bool selects(const Setting& setting, std::string_view label) {
  return !selected_labels(setting, [&](const std::string& selected) { return selected == label; }).empty();
}

bool family_has(const Setting& setting, std::string_view label) { return has_row(setting.family, label); }

bool selects_without_boundary(const Setting& setting, std::string_view label) {
  return selects(setting, label) && !family_has(setting, label);
}

std::string family_without_it(const Setting& setting) { return "family " + setting.family.name + " has none"; }

bool has_grouped_experts(const Setting& setting) {
  const auto flag = setting.trial.model.fields.find("moe_grouped_gemm");
  return flag != setting.trial.model.fields.end() && flag->second == protocol::FieldValue(true);
}

std::string why_no_grouped_experts(const Setting& setting) {
  if (!family_has(setting, "moe")) return "family " + setting.family.name + " has no experts";
  return "moe_grouped_gemm is not true for this model: set it to true";
}

bool has_shared_experts(const Setting& setting) { return num_sites(setting, "shared_experts") > 0; }

bool has_moe_layers(const Setting& setting) { return num_sites(setting, "moe") > 0; }

bool replays_context_traffic(const Setting& setting) { return !context_labels(setting).empty(); }

std::string replayed_context_traffic(const Setting& setting) {
  std::string text = "context_parallel_size " + std::to_string(setting.trial.parallel.context_parallel_size);
  for (const std::string& label : context_labels(setting))
    text += label == "core_attn" ? "; core_attn: keys and values go round again" : "; gdn_norm_out: the all-to-all from heads to tokens";
  return text;
}

bool has_unsplit_layers(const Setting& setting) { return !unsplit(setting).empty(); }

std::string unsplit_layers(const Setting& setting) {
  std::string text;
  for (const auto& row : unsplit(setting))
    text += (text.empty() ? "" : "; ") + row.option + " is " + std::to_string(row.degree) + ", the model has layers of kind " +
            joined(row.kinds) + " (" + setting.family.name + ")";
  return text;
}

bool has_layers_out_of_range(const Setting& setting) {
  const auto& count = setting.trial.recompute.recompute_num_layers;
  return is_full(setting) && count && (*count < 1 || *count > num_layers_of_chunk(setting));
}

bool has_unknown_label(const Setting& setting) { return !unknown(setting).empty(); }

std::string unknown_labels(const Setting& setting) {
  const std::string& revision = setting.trial.recompute.core_revision;
  return joined(unknown(setting)) + "; " + revision + " knows " + joined(protocol::labels_of_revision(revision));
}

bool has_label_without_unit(const Setting& setting) { return !without_unit(setting).empty(); }

std::string labels_without_unit(const Setting& setting) {
  Labels with_unit;
  for (const std::string& label : protocol::labels_of_revision(setting.trial.recompute.core_revision))
    if (trainer_has(setting, label)) with_unit.push_back(label);
  return joined(without_unit(setting)) + "; labels that have one: " + joined(with_unit);
}

bool has_label_without_site(const Setting& setting) { return !without_site(setting).empty(); }

std::string labels_without_site(const Setting& setting) {
  std::string reasons;
  for (const std::string& label : without_site(setting)) reasons += (reasons.empty() ? "" : "; ") + no_site_reason(setting, label);
  return reasons;
}

std::string shared_experts_without_site(const Setting& setting) { return no_site_reason(setting, "shared_experts"); }

std::string attention_backend(const Setting& setting) {
  if (setting.trial.backend.attention == "fused")
    return "backend.attention is fused: it recomputes scores and probabilities in its backward already, so that the label may cost time "
           "and save nothing";
  return "backend.attention is " + setting.trial.backend.attention + ": scores and probabilities are there to be saved";
}

std::string modules_under_full(const Setting& setting) { return "recompute_modules: " + joined(modules(setting)); }

std::string layers_of_model(const Setting& setting) {
  const bool is_split = setting.trial.parallel.pipeline_model_parallel_size > 1;
  return "wanted 1 to " + std::to_string(num_layers_of_chunk(setting)) + (is_split ? " layers of a model chunk" : "") + ", found " +
         std::to_string(*setting.trial.recompute.recompute_num_layers);
}

}  // namespace rematch::compat
