#include "orchestrator/rules/published_match.h"

#include <algorithm>

#include "orchestrator/rules/compare_published.h"
#include "orchestrator/rules/published_setting.h"

namespace rematch::rules {

namespace {

using protocol::Published;
using protocol::PublishedRow;

bool is_control(const PublishedRow& row) {
  if (!row.recompute) return false;
  const auto& modules = row.recompute->recompute_modules;
  if (!row.recompute->recompute_granularity) return true;
  return *row.recompute->recompute_granularity == "selective" && modules && modules->empty();
}

class NotStated {
 public:
  template <typename T>
  void setting(const char* name, const std::optional<T>& value) {
    if (!value) fields_.push_back(std::string("setting.") + name);
  }
  template <typename Has>
  void rows(const char* name, const std::vector<PublishedRow>& rows, Has has) {
    std::string lacking;
    for (const PublishedRow& row : rows)
      if (!has(row)) lacking += (lacking.empty() ? "" : ", ") + name_of(row);
    if (!lacking.empty()) fields_.push_back(std::string(name) + " of " + lacking);
  }
  std::vector<std::string> fields() && { return std::move(fields_); }

 private:
  std::vector<std::string> fields_;
};

void add_layout(const protocol::PublishedLayout& layout, NotStated& missing) {
  missing.setting("layout.tensor_model_parallel_size", layout.tensor_model_parallel_size);
  missing.setting("layout.pipeline_model_parallel_size", layout.pipeline_model_parallel_size);
  if (layout.pipeline_model_parallel_size != 1)  // one stage has no virtual ones
    missing.setting("layout.virtual_pipeline_model_parallel_size", layout.virtual_pipeline_model_parallel_size);
  missing.setting("layout.context_parallel_size", layout.context_parallel_size);
  missing.setting("layout.expert_model_parallel_size", layout.expert_model_parallel_size);
}

std::string settings_text(const base::StudyRows& study, const Published& published) {
  if (study.plan.trials.empty()) return "";
  const std::vector<SettingDifference> differences = setting_differences(published, study.plan.trials.front());
  std::string fields;
  for (const SettingDifference& difference : differences) fields += (fields.empty() ? "" : ", ") + difference.field;
  return fields.empty() ? "" : "its setting differs from the study's in " + fields;
}

std::string rows_text(const std::vector<ComparedRow>& rows) {
  std::string text;
  for (const ComparedRow& row : rows)
    text += (text.empty() ? "" : "; ") + (row.arm.empty() ? "'" + row.description + "'" : row.arm) + ": " + row.not_comparable;
  return text;
}

}  // namespace

std::string name_of(const PublishedRow& row) { return row.arm ? *row.arm : "'" + row.description + "'"; }

const PublishedRow* find_control(const Published& published) {
  const auto found = std::find_if(published.rows.begin(), published.rows.end(), is_control);
  return found == published.rows.end() ? nullptr : &*found;
}

bool has_control(const Published& published) { return find_control(published) != nullptr; }

std::vector<std::string> fields_not_stated(const Published& published) {
  NotStated missing;
  missing.setting("bridge_revision", published.source.bridge_revision);
  missing.setting("core_revision", published.source.core_revision);
  missing.setting("attention", published.setting.attention);
  missing.setting("train_iters", published.setting.train_iters);
  missing.setting("seq_length", published.setting.seq_length);
  missing.setting("micro_batch_size", published.setting.micro_batch_size);
  missing.setting("global_batch_size", published.setting.global_batch_size);
  add_layout(published.setting.layout, missing);
  missing.rows("recompute", published.rows, [](const PublishedRow& row) { return row.recompute.has_value(); });
  missing.rows("peak_allocated", published.rows, [](const PublishedRow& row) { return row.peak_allocated.has_value(); });
  missing.rows("peak_allocated.ranks", published.rows, [](const auto& row) { return !row.peak_allocated || row.peak_allocated->ranks; });
  missing.rows("peak_allocated.after_iteration", published.rows,
               [](const PublishedRow& row) { return !row.peak_allocated || row.peak_allocated->after_iteration; });
  missing.rows("outcome", published.rows, [](const PublishedRow& row) { return row.outcome.kind != protocol::PublishedEnd::kNotStated; });
  return std::move(missing).fields();
}

std::string published_refusal(const base::StudyRows& study, const Published& published) {
  const std::vector<ComparedRow> rows = compare_published(study, published);
  if (std::any_of(rows.begin(), rows.end(), [](const ComparedRow& row) { return row.not_comparable.empty(); })) return "";
  std::string why = has_control(published) ? "" : "it has no row without recompute, so no matched control";
  if (const std::string settings = settings_text(study, published); !settings.empty()) why += (why.empty() ? "" : "; ") + settings;
  return "unmatched: no row of " + published.name + " may be set against this study" + (why.empty() ? "" : ": " + why) +
         ". By row: " + rows_text(rows);
}

}  // namespace rematch::rules
