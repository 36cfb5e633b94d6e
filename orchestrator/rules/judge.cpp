#include "orchestrator/rules/judge.h"

#include <utility>

#include "orchestrator/rules/answer.h"
#include "orchestrator/rules/compare_arms.h"
#include "orchestrator/rules/conclusion.h"
#include "orchestrator/rules/control_pairs.h"
#include "orchestrator/rules/judge_arm.h"
#include "orchestrator/rules/judge_runs.h"
#include "orchestrator/rules/notes.h"

namespace rematch::rules {

base::StudyVerdict judge_study(const base::StudyRows& study) {
  base::StudyVerdict verdict;
  verdict.runs = judge_runs(study);
  for (const base::ArmRow& arm : study.plan.arms) verdict.arms.push_back(judge_arm(study, verdict.runs, arm));
  compare_arms(study, verdict.arms);
  if (const base::ArmVerdict* reference = find_reference(study.plan, verdict.arms)) verdict.reference_arm = reference->arm;
  for (const base::ArmVerdict& arm : verdict.arms) {
    verdict.num_planned += arm.num_planned;
    verdict.num_missing += arm.num_planned - arm.num_judged;
    if (arm.is_control) verdict.control_pairs = control_pairs(verdict.runs, arm.arm);
  }
  Concluded concluded = conclude(study, verdict);
  verdict.conclusion = concluded.conclusion;
  verdict.conclusion_reason = std::move(concluded.reason);
  verdict.answer = find_answer(study, verdict.arms, verdict.control_pairs);
  if (verdict.num_missing > 0) verdict.answer.reason += " (so far: the study is not complete)";
  verdict.notes = make_notes(study, verdict);
  return verdict;
}

}  // namespace rematch::rules
