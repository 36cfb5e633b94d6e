#include <algorithm>

#include "orchestrator/doctor/slurm.h"
#include "orchestrator/launch/supervisor.h"
#include "orchestrator/slurm/poll_policy.h"

namespace rematch::doctor {

namespace {

using slurm::ClusterConfig;

constexpr auto kLongestPoll = std::chrono::duration_cast<std::chrono::seconds>(slurm::PollPolicy::kLongest);
constexpr std::int64_t kLongControllerTimeoutSeconds = 300;

// Slurm's own spelling of a value is shown; `wanted` and `advice` say what it means here.
Finding about(const ClusterConfig& config, const std::string& key, const std::string& name, const std::string& wanted) {
  return {name, State::kOk, wanted, key + " = " + config.text(key).value_or("(not shown)"), ""};
}

void warn(Finding& finding, const std::string& advice) {
  finding.state = State::kWarning;
  finding.advice = advice;
}

Finding kill_wait(const ClusterConfig& config) {
  const std::int64_t needed_ms = launch::Graces{}.stopped.count();
  Finding finding = about(config, "KillWait", "slurm_kill_wait",
                          "more than the " + std::to_string(needed_ms) + " ms that ranks get to write their last lines");
  const auto seconds = config.number("KillWait");
  if (seconds && *seconds * 1000 <= needed_ms)
    warn(finding,
         "A trial that is in flight at preemption or cancellation may end without a launch record; it counts as lost and is run again");
  return finding;
}

Finding min_job_age(const ClusterConfig& config, bool has_accounting) {
  Finding finding =
      about(config, "MinJobAge", "slurm_min_job_age",
            "more than " + std::to_string(kLongestPoll.count()) + " s, the longest time between two looks at the queue, or sacct");
  const auto seconds = config.number("MinJobAge");
  if (seconds && *seconds <= kLongestPoll.count() && !has_accounting)
    warn(finding, "A job that ends between two looks is not seen to end: what it left in the study's folder then decides alone");
  return finding;
}

Finding max_array_size(const ClusterConfig& config) {
  Finding finding = about(config, "MaxArraySize", "slurm_max_array_size", "2 or more, for launch.shape: array");
  const auto number = config.number("MaxArraySize");
  if (!number) return finding;
  if (*number >= 2)
    finding.found += ": an array of more than " + std::to_string(*number - 1) + " blocks is submitted in parts";
  else
    warn(finding, "This cluster takes no job arrays: use launch.shape: allocation");
  return finding;
}

Finding preemption(const ClusterConfig& config) {
  Finding finding = about(config, "PreemptMode", "slurm_preemption", "OFF or REQUEUE");
  const std::string mode = config.text("PreemptMode").value_or("");
  if (mode.find("SUSPEND") != std::string::npos || mode.find("GANG") != std::string::npos)
    warn(finding,
         "A job may be stopped in the midst of a step, whose time then counts the pause: choose a partition whose jobs are not preempted");
  else if (mode.find("CANCEL") != std::string::npos)
    warn(finding, "A preempted job does not come back by itself: run the study again, it goes on with what is left");
  return finding;
}

Finding requeue(const ClusterConfig& config) {
  Finding finding = about(config, "JobRequeue", "slurm_requeue", "1, or jobs submitted with --requeue");
  if (config.number("JobRequeue") == 0)
    warn(finding,
         "Keep launch.requeue on: a job that did not ask for it cannot put itself back into the queue when its time limit is near");
  return finding;
}

Finding controller_timeout(const ClusterConfig& config) {
  Finding finding = about(config, "SlurmctldTimeout", "slurm_controller_timeout",
                          std::to_string(kLongControllerTimeoutSeconds) + " s or less until a backup controller takes over");
  if (config.number("SlurmctldTimeout").value_or(0) > kLongControllerTimeoutSeconds)
    warn(finding, "While the controller is away the states of jobs are unknown and nothing can be submitted; jobs that run go on");
  return finding;
}

}  // namespace

Findings examine_cluster_config(const ClusterConfig& config, bool has_accounting) {
  return {kill_wait(config), min_job_age(config, has_accounting), max_array_size(config), preemption(config),
          requeue(config),   controller_timeout(config)};
}

}  // namespace rematch::doctor
