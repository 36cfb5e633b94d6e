// What follows from a table and what does not, in sentences made of its rows and of what was found in them.
#include <algorithm>
#include <array>
#include <functional>

#include "orchestrator/rules/audit_checks.h"
#include "orchestrator/rules/published_match.h"

namespace rematch::rules::audit {

namespace {

using protocol::Published;
using protocol::PublishedRow;

std::vector<std::string> names_where(const Published& published, const std::function<bool(const PublishedRow&)>& wanted) {
  std::vector<std::string> names;
  for (const PublishedRow& row : published.rows)
    if (wanted(row)) names.push_back(name_of(row));
  return names;
}

std::vector<std::string> arms_of(const PublishedAudit& audit, const std::function<bool(const AuditedPair&)>& wanted) {
  std::vector<std::string> arms;
  for (const AuditedPair& pair : audit.pairs)
    if (wanted(pair)) arms.push_back(pair.arm);
  return arms;
}

bool is_of_control(const AuditedPair& pair) { return pair.basis == PairBasis::kControl; }
bool is_of_reference(const AuditedPair& pair) { return pair.basis == PairBasis::kReference; }
bool is_of_iteration(const AuditedPair& pair) { return pair.basis == PairBasis::kAfterIteration; }

bool named(const std::string& label, const PublishedRow& row) {
  if (!row.recompute || !row.recompute->recompute_modules) return false;
  const auto& labels = *row.recompute->recompute_modules;
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

bool any_row_names(const Published& published, const ModelLabels& labels) {
  return std::any_of(published.rows.begin(), published.rows.end(), [&](const PublishedRow& row) {
    return std::any_of(labels.begin(), labels.end(), [&](const std::string& label) { return named(label, row); });
  });
}

struct ModelPart {
  const char* name;
  ModelLabels labels;  // that recompute a piece of it
};

const std::array<ModelPart, 3>& model_parts() {
  static const std::array<ModelPart, 3> parts = {ModelPart{"multi-latent attention", {"mla_up_proj"}},
                                                 ModelPart{"mixtures of experts", {"moe", "moe_act", "shared_experts"}},
                                                 ModelPart{"gated delta nets", {"gdn_norm_out", "gdn"}}};
  return parts;
}

const ModelPart& experts() { return model_parts()[1]; }

bool has_part(const ModelLabels& labels, const ModelPart& part) {
  return std::any_of(part.labels.begin(), part.labels.end(),
                     [&](const std::string& label) { return std::find(labels.begin(), labels.end(), label) != labels.end(); });
}

std::string workload_text(const PublishedAudit& audit) {
  const protocol::PublishedSetting& setting = audit.published.setting;
  const bool is_dense = audit.model_labels && !has_part(*audit.model_labels, experts());
  return std::string(is_dense ? "one dense workload" : "one workload") + " (" + setting.model + ", " + setting.precision + ", " +
         std::to_string(setting.layout.world_size) + " GPUs)";
}

bool names_arms(const Published& published) {
  return std::any_of(published.rows.begin(), published.rows.end(), [](const PublishedRow& row) { return row.arm; });
}

std::string joined_by_or(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : " or ") + name;
  return text;
}

// What the rows say nothing of: parts of the model that no row recomputes, and parts that the model has not.
std::string untouched_parts(const PublishedAudit& audit) {
  if (!audit.model_labels) return "";
  std::vector<std::string> untouched, missing;
  for (const ModelPart& part : model_parts())
    if (!has_part(*audit.model_labels, part))
      missing.emplace_back(part.name);
    else if (!any_row_names(audit.published, part.labels))
      untouched.emplace_back(part.name);
  std::string text;
  if (!untouched.empty() && names_arms(audit.published)) text += ", and no row recomputes a part of " + joined_by_or(untouched);
  if (!missing.empty()) text += "; the model has no " + joined_by_or(missing);
  return text;
}

std::vector<std::string> arms_not_told_apart(const PublishedAudit& audit) {
  std::vector<std::string> arms;
  for (const AuditedTime& time : audit.times)
    if (time.stands == TimeStands::kNotToldApart || time.stands == TimeStands::kWithinSpreadBounds)
      arms.push_back(time.arm + " from " + time.against);
  return arms;
}

bool names_a_setting(const Published& published, const std::string& arm) { return protocol::find_row(published, arm) != nullptr; }

std::string reference_name(const PublishedAudit& audit) {
  const PublishedRow* reference = reference_row(audit.published);
  return reference == nullptr ? "" : name_of(*reference);
}

std::string why_no_ranking(const PublishedAudit& audit) {
  std::vector<std::string> reasons = {"it is of " + workload_text(audit)};
  const PublishedRow* control = find_control(audit.published);
  if (control == nullptr) reasons.emplace_back("has no matched control");
  if (control != nullptr && failed(*control)) reasons.emplace_back("has no control that completed");
  reasons.emplace_back("has one run a row");
  return listed(reasons);
}

void add(const std::vector<std::string>& names, const std::string& before, const std::string& after, std::vector<std::string>& sentences) {
  if (!names.empty()) sentences.push_back(before + listed(names) + after);
}

}  // namespace

std::vector<std::string> supports(const PublishedAudit& audit) {
  std::vector<std::string> sentences;
  const auto num_confirmed = std::count_if(audit.deltas.begin(), audit.deltas.end(),
                                           [](const AuditedDelta& delta) { return delta.verdict == AuditSeverity::kConfirmed; });
  if (num_confirmed > 0)
    sentences.push_back("It confirms " + std::to_string(num_confirmed) + " of its " + std::to_string(audit.deltas.size()) +
                        " printed differences from its own figures.");
  const std::string reference = reference_name(audit);
  add(arms_of(audit, is_of_control), "It sets ", " against the control " + reference + " in this setting.", sentences);
  add(arms_of(audit, is_of_reference), "It sets ",
      " against " + reference + " as a reference, not a control: a local trade-off of memory and throughput between these rows.",
      sentences);
  add(arms_of(audit, is_of_iteration), "It sets ", " against the control up to the last iteration that both completed, which is no pass.",
      sentences);
  const auto completed =
      names_where(audit.published, [](const auto& row) { return row.outcome.kind == protocol::PublishedEnd::kCompleted; });
  const auto not_fitting = names_where(audit.published, failed);
  add(completed, "It shows that ", " completed in this setting.", sentences);
  add(not_fitting, "It shows that ", " ran out of memory in this setting.", sentences);
  return sentences;
}

std::vector<std::string> leaves_open(const PublishedAudit& audit) {
  const Published& published = audit.published;
  std::vector<std::string> sentences;
  const PublishedRow* control = find_control(published);
  if (names_arms(published) && control == nullptr)
    sentences.emplace_back("No matched control: no row says what a label saves or costs against no recompute.");
  if (control != nullptr && failed(*control))
    sentences.push_back("The control " + name_of(*control) + " failed: nothing says what a row that completed costs against no recompute.");
  add(names_where(published,
                  [](const auto& row) { return !row.recompute && (row.tflops_per_gpu || row.step_time_ms || row.peak_allocated); }),
      "", " is unpaired: it names no recompute setting, and its figure is compared with no row's.", sentences);
  const std::string reference = reference_name(audit);
  add(arms_of(audit,
              [&](const AuditedPair& pair) {
                return pair.basis == PairBasis::kNone && pair.arm != reference && names_a_setting(published, pair.arm);
              }),
      "It has no numbers to compare of ", ".", sentences);
  add(arms_not_told_apart(audit), "It does not tell the step time of ", " apart: one run each, and steps spread, or may spread, that much.",
      sentences);
  sentences.push_back("It is of " + workload_text(audit) + ": nothing follows for another model, layout or precision" +
                      untouched_parts(audit) + ".");
  if (names_arms(published)) sentences.push_back("It does not rank labels: " + why_no_ranking(audit) + ".");
  return sentences;
}

}  // namespace rematch::rules::audit
