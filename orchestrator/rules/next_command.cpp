#include "orchestrator/rules/next_command.h"

#include <algorithm>

#include "orchestrator/base/predicted.h"
#include "orchestrator/base/shell_text.h"

namespace rematch::rules {

std::string run_command(const base::StudyPlan& plan, const std::vector<std::string>& settings) {
  std::vector<std::string> words = {"rematch", "run"};
  if (base::is_predicted(plan)) words.emplace_back("--simulate");
  words.push_back(plan.sweep_path.empty() ? "SWEEP" : plan.sweep_path);
  for (const std::string& setting : settings) {
    words.emplace_back("--set");
    words.push_back(setting);
  }
  return base::shell_command(words);
}

std::string measure_labels_command(const base::StudyPlan& plan, const std::vector<std::string>& labels) {
  std::vector<std::string> all;
  const auto add = [&](const std::string& label) {
    if (std::find(all.begin(), all.end(), label) == all.end()) all.push_back(label);
  };
  for (const base::ArmRow& arm : plan.arms)
    if (arm.recompute.recompute_modules && arm.recompute.recompute_modules->size() == 1) add(arm.recompute.recompute_modules->front());
  for (const std::string& label : labels) add(label);
  std::string listed;
  for (const std::string& label : all) listed += (listed.empty() ? "" : ",") + label;
  return run_command(plan, {"recompute.labels=" + listed});
}

std::string study_command(const std::string& verb, const std::vector<std::string>& subjects, const base::StudyPlan& plan) {
  std::vector<std::string> words = {"rematch", verb};
  words.insert(words.end(), subjects.begin(), subjects.end());
  words.emplace_back("--study");
  words.push_back(plan.study_id);
  return base::shell_command(words);
}

std::string explain_command(const std::string& name) { return base::shell_command({"rematch", "explain", name}); }

}  // namespace rematch::rules
