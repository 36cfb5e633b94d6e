#include "orchestrator/report/study_facts.h"

#include <algorithm>
#include <set>

#include "orchestrator/base/joined_text.h"
#include "orchestrator/base/layout_text.h"
#include "orchestrator/base/model_text.h"
#include "orchestrator/base/predicted.h"
#include "orchestrator/report/cells.h"
#include "orchestrator/report/detail_tables.h"
#include "orchestrator/report/verdict_text.h"
#include "orchestrator/rules/published_setting.h"

namespace rematch::report {

namespace {

using protocol::HelloRecord;
using protocol::Trial;

std::string training_text(const Trial& trial) {
  const protocol::TrainingSpec& training = trial.training;
  return "sequence " + std::to_string(training.seq_length) + ", MBS=" + std::to_string(training.micro_batch_size) +
         ", GBS=" + std::to_string(training.global_batch_size) + ", " + std::to_string(training.train_iters) + " steps (" +
         std::to_string(trial.measure.warmup_steps) + " warm-up), " + rules::precision_of(trial) + ", seed " +
         std::to_string(training.seed) + ", attention " + trial.backend.attention;
}

void add_trial_facts(const Trial& trial, std::vector<Fact>& facts) {
  facts.push_back({"model", "model", base::model_text(trial.model)});
  facts.push_back({"layout", "layout", base::layout_text(trial.parallel)});
  facts.push_back({"training", "training", training_text(trial)});
  facts.push_back({"memory_limit_bytes", "memory limit", cell_of<Bytes>(trial.backend.memory_limit_bytes)});
  facts.push_back({"core_revision", "core revision", text_cell(trial.recompute.core_revision)});
}

void add_machine_facts(const base::StudyRows& study, std::vector<Fact>& facts) {
  auto add = [&](const char* key, const char* title, std::string (*get)(const HelloRecord&)) {
    facts.push_back({key, title, text_cell(distinct_of_ranks(study.attempts, get))});
  };
  add("device", "device", [](const HelloRecord& hello) { return hello.device_name; });
  add("provenance", "provenance", [](const HelloRecord& hello) { return std::string(protocol::to_string(hello.provenance)); });
  add("hosts", "hosts", [](const HelloRecord& hello) { return hello.host; });
  add("trainer_build", "trainer build", [](const HelloRecord& hello) { return hello.build_id; });
  add("libtorch_version", "LibTorch", [](const HelloRecord& hello) { return hello.libtorch_version; });
  add("comm_backend", "communication", [](const HelloRecord& hello) { return hello.comm_backend; });
  add("cuda_version", "CUDA", [](const HelloRecord& hello) { return hello.machine.cuda_version.value_or(""); });
  add("nccl_version", "NCCL", [](const HelloRecord& hello) { return hello.machine.nccl_version.value_or(""); });
  add("driver_version", "driver", [](const HelloRecord& hello) { return hello.machine.driver_version.value_or(""); });
}

void add_fit_facts(const base::StudyVerdict& verdict, std::vector<Fact>& facts) {
  for (const base::GroupVerdict& group : verdict.groups)
    if (group.fit)
      facts.push_back({"time_fit" + (group.variation.empty() ? "" : "_" + group.variation),
                       "step-time fit" + (group.variation.empty() ? "" : ", " + group.variation), fit_text(group)});
}

constexpr double kMillisecondsInHour = 3'600'000;

// If every planned trial ran into its deadline; each rank has a device.
Cell device_hours_at_most(const base::StudyPlan& plan) {
  double hours = 0;
  for (const Trial& trial : plan.trials)
    hours += static_cast<double>(protocol::started_ranks(trial).size()) * static_cast<double>(trial.timeout_ms) / kMillisecondsInHour;
  return Hours{hours};
}

// Every attempt, those that came to nothing too.
Cell device_hours_spent(const base::StudyRows& study) {
  double hours = 0;
  for (const base::AttemptRows& attempt : study.attempts)
    hours += static_cast<double>(attempt.ranks.size()) * static_cast<double>(attempt.launch.end_unix_ns - attempt.launch.start_unix_ns) /
             (kMillisecondsInHour * 1e6);
  return Hours{hours};
}

Cell headroom_cell(const base::Answer& answer) {
  if (!answer.headroom_arm) return {};
  return *answer.headroom_arm + (answer.headroom_is_measured ? "" : " (not measured)");
}

std::string pareto_text(const base::StudyVerdict& verdict) {
  std::string text;
  for (const base::ArmVerdict& arm : verdict.arms)
    if (arm.is_pareto) text += (text.empty() ? "" : ", ") + arm.arm;
  return text;
}

constexpr const char* kUsualPort = "29500";  // torchrun's; that of the run may be taken by now

// Of the answer's first run that passed, from its launch record.
std::string reproduce_text(const base::StudyRows& study, const base::StudyVerdict& verdict) {
  for (std::size_t i = 0; i < study.attempts.size(); ++i) {
    if (verdict.answer.arm != study.attempts[i].trial.arm || verdict.runs[i].outcome != base::Outcome::kPass) continue;
    base::AttemptRows attempt = study.attempts[i];
    if (attempt.launch.environment.contains("MASTER_PORT")) attempt.launch.environment["MASTER_PORT"] = kUsualPort;
    return replay_command(attempt);
  }
  return "";
}

}  // namespace

std::string distinct_of_ranks(const std::vector<base::AttemptRows>& attempts, std::string (*get)(const HelloRecord&)) {
  std::set<std::string> distinct;
  for (const base::AttemptRows& attempt : attempts)
    for (const base::RankRows& rank : attempt.ranks)
      if (rank.hello) distinct.insert(get(*rank.hello));
  distinct.erase("");  // not recorded
  std::string text;
  for (const std::string& value : distinct) text += (text.empty() ? "" : ", ") + value;
  return text;
}

std::vector<Fact> study_facts(const base::StudyRows& study, const base::StudyVerdict& verdict) {
  std::vector<Fact> facts = {{"study", "study", text_cell(study.plan.name)}, {"study_id", "study id", text_cell(study.plan.study_id)}};
  if (!study.plan.trials.empty()) add_trial_facts(study.plan.trials.front(), facts);
  add_machine_facts(study, facts);
  facts.push_back({"num_blocks", "blocks", Count{study.plan.num_blocks}});
  add_fit_facts(verdict, facts);
  facts.push_back({"trials_planned", "trials planned", Count{verdict.num_planned}});
  const bool takes_devices = !base::is_predicted(study.plan);
  facts.push_back({"device_hours_at_most", "device-hours at most", takes_devices ? device_hours_at_most(study.plan) : Cell{}});
  facts.push_back({"device_hours_spent", "device-hours spent", takes_devices ? device_hours_spent(study) : Cell{}});
  facts.push_back({"trials_missing", "trials missing", Count{verdict.num_missing}});
  facts.push_back({"budget_per_rank_bytes", "budget per rank", cell_of<Bytes>(study.plan.budget_per_rank_bytes)});
  const std::string usable = base::is_predicted(study.plan) ? "predicted usable" : "usable";
  facts.push_back({"conclusion", "conclusion", text_cell(verdict.conclusion_reason.empty() ? usable : verdict.conclusion_reason)});
  facts.push_back({"exit_code", "exit code", Count{base::exit_code(verdict.conclusion)}});
  return facts;
}

std::string study_title(const base::StudyPlan& plan) { return plan.name + (base::is_predicted(plan) ? " (predicted)" : ""); }

std::vector<Fact> answer_facts(const base::StudyRows& study, const base::StudyVerdict& verdict) {
  const base::Answer& answer = verdict.answer;
  std::vector<Fact> facts = {
      {"arm", base::is_predicted(study.plan) ? "predicted answer" : "answer", answer.arm ? text_cell(*answer.arm) : Cell{"none"}},
      {"reason", "because", text_cell(answer.reason)}};
  for (const base::ArmVerdict& arm : verdict.arms) {
    if (arm.arm != answer.arm || !arm.figures) continue;
    facts.push_back({"peak_allocated_bytes", "peak allocated", Bytes{arm.figures->hot.allocated_bytes}});
    facts.push_back({"budget_per_rank_bytes", "budget per rank", cell_of<Bytes>(study.plan.budget_per_rank_bytes)});
    facts.push_back({"margin_bytes", "margin", cell_of<BytesDelta>(answer.margin_bytes)});
    facts.push_back({"step_time_ns", "step time", cell_of<Nanoseconds>(arm.figures->median_step_time_ns)});
    if (const auto& estimate = arm.figures->estimate)
      facts.push_back({"estimated_step_time_ns", "estimated step time", Nanoseconds{estimate->time_ns}});
  }
  facts.push_back({"headroom_arm", "for more headroom, first", headroom_cell(answer)});
  facts.push_back({"scope", "holds for", text_cell(answer.scope)});
  facts.push_back({"confidence", "rests on", text_cell(answer.confidence)});
  facts.push_back({"would_change", "would change it", text_cell(base::joined(answer.would_change, "; "))});
  facts.push_back({"pareto", "Pareto set", text_cell(pareto_text(verdict))});
  facts.push_back({"reproduce", "to reproduce", text_cell(reproduce_text(study, verdict))});
  return facts;
}

}  // namespace rematch::report
