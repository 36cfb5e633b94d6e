#include "orchestrator/cli/comparison_input.h"

#include <algorithm>

#include "orchestrator/rules/judge.h"

namespace rematch::cli {

namespace {

using store::StudySummary;

// What a key may mean in the studies that are asked.
struct Candidates {
  std::vector<ComparedSubject> exact_studies;
  std::vector<ComparedSubject> exact_arms;
  std::vector<ComparedSubject> begins;
  std::string arms;  // listed
};

ComparedSubject of_study(const StudySummary& study, ComparedKind kind, const std::string& arm = "", const std::string& trial_id = "") {
  return {kind, study.study_id, study.name, arm, trial_id};
}

void add_arms(const store::Store& store, const StudySummary& study, const std::string& key, Candidates& found) {
  found.arms += (found.arms.empty() ? "" : "; ") + study.name + " (" + study.study_id + "):";
  for (const base::ArmRow& arm : store.load_plan_head(study.study_id).arms) {
    found.arms += " " + arm.arm;
    if (arm.arm == key) found.exact_arms.push_back(of_study(study, ComparedKind::kArm, key));
  }
}

Candidates candidates(const store::Store& store, const std::vector<StudySummary>& studies, const std::string& key, bool studies_too) {
  Candidates found;
  for (const StudySummary& study : studies) {
    add_arms(store, study, key, found);
    if (!studies_too) continue;
    if (study.name == key || study.study_id == key)
      found.exact_studies.push_back(of_study(study, ComparedKind::kStudy));
    else if (study.name.starts_with(key) || study.study_id.starts_with(key))
      found.begins.push_back(of_study(study, ComparedKind::kStudy));
  }
  if (!found.exact_studies.empty() || !found.exact_arms.empty() || key.empty()) return found;
  for (const StudySummary& study : studies)
    for (const store::TrialPlace& trial : store.find_trials(key, study.study_id))
      found.begins.push_back(of_study(study, ComparedKind::kTrial, trial.arm, trial.trial_id));
  return found;
}

std::string described(const ComparedSubject& subject) {
  std::string study = "study " + subject.study + " (" + subject.study_id + ")";
  switch (subject.kind) {
    case ComparedKind::kStudy: return study;
    case ComparedKind::kArm: return "arm " + subject.arm + " of " + study;
    case ComparedKind::kTrial: return "trial " + subject.trial_id + " of " + study;
  }
  return study;
}

std::string listed(const std::vector<ComparedSubject>& subjects) {
  constexpr std::size_t kMostListed = 12;
  std::string text;
  for (std::size_t i = 0; i < std::min(subjects.size(), kMostListed); ++i) text += (i == 0 ? "" : ", ") + described(subjects[i]);
  return subjects.size() > kMostListed ? text + " and " + std::to_string(subjects.size() - kMostListed) + " more" : text;
}

base::StudySummaries judged(const base::StudyRows& study) {
  const base::StudyVerdict verdict = rules::judge_study(study);
  base::StudySummaries summaries;
  for (std::size_t i = 0; i < verdict.arms.size(); ++i)
    summaries.arms.push_back({verdict.arms[i].arm, study.plan.arms[i].variation, verdict.arms[i].outcome, verdict.arms[i].reason});
  for (const base::RunVerdict& run : verdict.runs) summaries.runs.push_back(base::summary_of(run));
  summaries.unmatched = verdict.unmatched;
  return summaries;
}

std::vector<std::string> arms_of(const base::StudyPlan& plan, const ComparedSubject& subject) {
  if (subject.kind != ComparedKind::kStudy) return {subject.arm};
  std::vector<std::string> arms;
  for (const base::ArmRow& arm : plan.arms) arms.push_back(arm.arm);
  return arms;
}

rules::ComparedSide side_of(const base::StudySummaries& summaries, const base::ArmSummary& arm, const ComparedSubject& subject) {
  const bool is_trial = subject.kind == ComparedKind::kTrial;
  rules::ComparedSide side{is_trial ? subject.trial_id : arm.arm, arm.arm, arm.variation, arm.outcome, arm.reason, {}, {}, nullptr};
  std::vector<base::RunSummary> own;
  std::copy_if(summaries.runs.begin(), summaries.runs.end(), std::back_inserter(own),
               [&](const base::RunSummary& run) { return run.arm == arm.arm && (!is_trial || run.trial_id == subject.trial_id); });
  side.runs = rules::runs_that_count(own);
  if (is_trial && !side.runs.empty()) {
    side.outcome = side.runs.front().outcome;
    side.reason = side.runs.front().reason;
  }
  const auto is_of_side = [&](const base::Unmatched& one) {
    return std::any_of(side.runs.begin(), side.runs.end(),
                       [&](const base::RunSummary& run) { return run.trial_id == one.trial_id && run.attempt == one.attempt; });
  };
  std::copy_if(summaries.unmatched.begin(), summaries.unmatched.end(), std::back_inserter(side.unmatched), is_of_side);
  return side;
}

// Loads of each side the run that stands for it.
void add_records(const store::Store& store, const std::string& study_id, ComparedSides& loaded) {
  store::TrialChoice choice;
  for (const rules::ComparedSide& side : loaded.sides)
    if (const base::RunSummary* run = rules::run_that_stands(side.runs)) choice.trial_ids.push_back(run->trial_id);
  base::StudyRows rows = store.load_attempts(study_id, choice);
  for (rules::ComparedSide& side : loaded.sides) {
    const base::RunSummary* run = rules::run_that_stands(side.runs);
    for (base::AttemptRows& attempt : rows.attempts) {
      if (run == nullptr || attempt.trial.trial_id != run->trial_id || attempt.attempt != run->attempt) continue;
      side.record = &loaded.records.emplace_back(std::move(attempt));
      break;
    }
  }
}

}  // namespace

base::Result<ComparedSubject> find_compared(const store::Store& store, const std::string& key, const std::string& study) {
  std::vector<StudySummary> studies;
  if (study.empty()) {
    studies = store.studies();
  } else {
    base::Result<StudySummary> named = store.find_study(study);
    if (!named) return named.error();
    studies.push_back(std::move(named).value());
  }
  const Candidates found = candidates(store, studies, key, study.empty());
  const std::vector<ComparedSubject>& subjects = !found.exact_studies.empty() ? found.exact_studies
                                                 : !found.exact_arms.empty()  ? found.exact_arms
                                                                              : found.begins;
  if (subjects.size() == 1) return subjects.front();
  if (subjects.empty())
    return base::Error{"no arm or trial '" + key + "'" + (study.empty() ? ", and no study" : "") + "; there are the arms of " +
                       (found.arms.empty() ? "no study" : found.arms)};
  return base::Error{"'" + key + "' is several: " + listed(subjects) + "; name the study with --study, or more of the name or id"};
}

ComparedSides load_sides(const store::Store& store, const ComparedSubject& subject) {
  ComparedSides loaded;
  loaded.plan = store.load_plan_head(subject.study_id);
  const std::vector<std::string> arms = arms_of(loaded.plan, subject);
  std::optional<base::StudySummaries> summaries = store.load_summaries(subject.study_id, arms);
  if (!summaries) summaries = judged(store.load_study(subject.study_id).value());
  for (const base::ArmSummary& arm : summaries->arms)
    if (std::find(arms.begin(), arms.end(), arm.arm) != arms.end()) loaded.sides.push_back(side_of(*summaries, arm, subject));
  add_records(store, subject.study_id, loaded);
  return loaded;
}

}  // namespace rematch::cli
