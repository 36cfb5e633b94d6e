#include "orchestrator/rules/judge.h"

#include <algorithm>
#include <utility>

#include "orchestrator/base/study_plan.h"
#include "orchestrator/rules/answer.h"
#include "orchestrator/rules/compare_arms.h"
#include "orchestrator/rules/conclusion.h"
#include "orchestrator/rules/control_pairs.h"
#include "orchestrator/rules/diagnose.h"
#include "orchestrator/rules/interaction.h"
#include "orchestrator/rules/judge_arm.h"
#include "orchestrator/rules/judge_runs.h"
#include "orchestrator/rules/memory_verdict.h"
#include "orchestrator/rules/notes.h"
#include "orchestrator/rules/pareto.h"
#include "orchestrator/rules/time_verdicts.h"

namespace rematch::rules {

namespace {

// In the order of their first arm.
std::vector<base::GroupVerdict> judge_groups(const base::StudyRows& study, const base::StudyVerdict& verdict) {
  std::vector<base::GroupVerdict> groups;
  for (std::size_t i = 0; i < verdict.arms.size(); ++i) {
    const base::ArmVerdict& arm = verdict.arms[i];
    auto group = std::find_if(groups.begin(), groups.end(), [&](const auto& other) { return other.group_id == arm.group_id; });
    if (group == groups.end()) group = groups.insert(group, {.group_id = arm.group_id, .variation = study.plan.arms[i].variation});
    if (arm.is_control) group->control_pairs = control_pairs(verdict.runs, arm.arm);
  }
  for (base::GroupVerdict& group : groups)
    if (const base::ArmVerdict* reference = find_reference(study.plan, verdict.arms, group.group_id)) group.reference_arm = reference->arm;
  return groups;
}

}  // namespace

base::StudyVerdict judge_study(const base::StudyRows& study, Comparison comparison) {
  base::StudyVerdict verdict;
  verdict.unmatched = find_unmatched(study);
  verdict.runs = judge_runs(study, verdict.unmatched);
  for (const base::ArmRow& arm : study.plan.arms) verdict.arms.push_back(judge_arm(study, verdict.runs, arm));
  compare_arms(study, verdict.arms);
  verdict.groups = judge_groups(study, verdict);
  compare_times(study, verdict);
  compare_memory(study, verdict);
  refuse_comparisons(verdict.unmatched, comparison, verdict);
  for (const base::ArmVerdict& arm : verdict.arms) {
    verdict.num_planned += arm.num_planned;
    verdict.num_missing += arm.num_planned - arm.num_judged;
  }
  Concluded concluded = conclude(study, verdict);
  verdict.conclusion = concluded.conclusion;
  verdict.conclusion_reason = std::move(concluded.reason);
  if (verdict.unmatched.empty()) {
    mark_pareto(verdict.arms);
    verdict.interactions = find_interactions(study.plan, verdict);
    verdict.answer = find_answer(study, verdict);
  } else {
    verdict.answer.reason = "trials of this study may not be compared";
  }
  if (verdict.num_missing > 0 || base::awaits_decision(study.plan)) verdict.answer.reason += " (so far: the study is not complete)";
  verdict.diagnoses = diagnose(study, verdict);
  verdict.unjudged = find_unjudged(study, verdict);
  verdict.notes = make_notes(study, verdict);
  return verdict;
}

}  // namespace rematch::rules
