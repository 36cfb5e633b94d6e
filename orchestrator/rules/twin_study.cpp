#include "orchestrator/rules/twin_study.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "orchestrator/rules/compare_published.h"
#include "orchestrator/rules/provenance.h"
#include "orchestrator/rules/rank_peak.h"

namespace rematch::rules {

namespace {

using base::AttemptRows;
using base::RankRows;
using base::StudyRows;
using nlohmann::json;

json what_is_trained(const protocol::Trial& trial) {
  const json document = protocol::to_json(trial);
  json training = document["training"];
  training.erase("train_iters");
  return {{"family", document["model"]["family"]}, {"fields", document["model"]["fields"]}, {"training", std::move(training)},
          {"optimizer", document["optimizer"]},    {"parallel", document["parallel"]},      {"attention", document["backend"]["attention"]},
          {"features", document["features"]}};
}

std::int64_t last_start_unix_ns(const StudyRows& study) {
  std::int64_t last = 0;
  for (const AttemptRows& attempt : study.attempts) last = std::max(last, attempt.launch.start_unix_ns);
  return last;
}

std::int64_t assumed_bytes(const protocol::Trial& trial) {
  return trial.prediction ? trial.prediction->workspace_bytes + trial.prediction->graph_pool_bytes : 0;
}

std::vector<TwinPhase> phases_of(const RankRows* own, const RankRows* twin) {
  const auto own_peaks = own == nullptr ? std::map<protocol::Phase, std::int64_t>{} : phase_peaks_bytes(*own);
  const auto twin_peaks = twin == nullptr ? std::map<protocol::Phase, std::int64_t>{} : phase_peaks_bytes(*twin);
  std::vector<TwinPhase> phases;
  for (const protocol::Phase phase : protocol::kAllPhases) {
    TwinPhase row{phase, std::nullopt, std::nullopt};
    if (const auto found = own_peaks.find(phase); found != own_peaks.end()) row.own_bytes = found->second;
    if (const auto found = twin_peaks.find(phase); found != twin_peaks.end()) row.twin_bytes = found->second;
    if (row.own_bytes || row.twin_bytes) phases.push_back(row);
  }
  return phases;
}

}  // namespace

bool trains_the_same(const protocol::Trial& a, const protocol::Trial& b) { return what_is_trained(a) == what_is_trained(b); }

const StudyRows* newest_twin(const StudyRows& study, const std::vector<StudyRows>& candidates, protocol::Provenance wanted) {
  const StudyRows* newest = nullptr;
  for (const StudyRows& candidate : candidates) {
    if (study.plan.trials.empty() || candidate.plan.trials.empty() || candidate.plan.study_id == study.plan.study_id) continue;
    if (provenance_of(candidate) != wanted || !trains_the_same(study.plan.trials.front(), candidate.plan.trials.front())) continue;
    if (newest == nullptr || last_start_unix_ns(candidate) > last_start_unix_ns(*newest)) newest = &candidate;
  }
  return newest;
}

std::vector<TwinArm> compare_twin(const StudyRows& study, const StudyRows& twin) {
  std::vector<TwinArm> arms;
  for (const base::ArmRow& arm : study.plan.arms) {
    const AttemptRows* own_run = compared_attempt(study, arm.arm);
    const AttemptRows* twin_run = compared_attempt(twin, arm.arm);
    if (own_run == nullptr || twin_run == nullptr || own_run->failure || twin_run->failure) continue;
    const auto own = hot_rank(peaks_of_ranks(*own_run));
    const auto other = hot_rank(peaks_of_ranks(*twin_run));
    if (own && other)
      arms.push_back({arm.arm, *own, *other, assumed_bytes(own_run->trial),
                      phases_of(base::find_rank(own_run->ranks, own->rank), base::find_rank(twin_run->ranks, own->rank))});
  }
  return arms;
}

}  // namespace rematch::rules
