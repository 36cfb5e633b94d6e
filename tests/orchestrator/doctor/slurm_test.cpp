#include "orchestrator/doctor/slurm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <stdexcept>

#include "orchestrator/doctor/workspace.h"
#include "tests/orchestrator/doctor/scripted_client.h"
#include "tests/support/temp_dir.h"

namespace rematch::doctor {
namespace {

const char* const kConfig =
    "Configuration data as of 2026-01-31T09:30:00\n"
    "ClusterName             = lab\n"
    "JobRequeue              = 1\n"
    "KillWait                = 30 sec\n"
    "MaxArraySize            = 1001\n"
    "MinJobAge               = 300 sec\n"
    "PreemptMode             = REQUEUE\n"
    "SlurmctldTimeout        = 120 sec\n"
    "SLURM_VERSION           = 22.05.8\n"
    "\n"
    "Slurmctld(primary) at vm is UP\n";

const std::string kSacct = "sacct -X -n -P -j 1 -o JobIDRaw";
const std::string kSinfo = "sinfo -h -o %P|%a|%l|%L|%D";

// As a small cluster without accounting answers.
ScriptedClient a_cluster() {
  ScriptedClient client;
  for (const char* program : {"sbatch", "squeue", "scancel", "scontrol", "srun", "sinfo", "sacct"})
    client.answers[std::string(program) + " --version"] = {0, "slurm-wlm 22.05.8\n", ""};
  client.answers["scontrol show config"] = {0, kConfig, ""};
  client.answers[kSacct] = {1, "", "Slurm accounting storage is disabled\n"};
  client.answers[kSinfo] = {0, "main*|up|infinite|10:00|2\nlow|drain|1:00:00|10:00|2\n", ""};
  return client;
}

ClusterPlace a_place(const std::string& partition = "") { return {"/tmp", std::nullopt, partition, {"HOME", "PATH"}}; }

std::map<std::string, Finding> by_name(const Findings& findings) {
  std::map<std::string, Finding> named;
  for (const Finding& finding : findings) {
    EXPECT_FALSE(finding.wanted.empty() || finding.found.empty()) << finding.name;
    EXPECT_EQ(finding.advice.empty(), finding.state == State::kOk) << finding.name;
    EXPECT_TRUE(named.emplace(finding.name, finding).second) << finding.name << " is said twice";
  }
  return named;
}

std::map<std::string, Finding> of_config(const std::string& key, const std::string& value, bool has_accounting) {
  std::string text = kConfig;
  const std::size_t place = text.find(key + " ");
  if (place == std::string::npos) throw std::runtime_error("no " + key);
  text.replace(place, text.find('\n', place) - place, key + " = " + value);
  return by_name(examine_cluster_config(slurm::ClusterConfig(text), has_accounting));
}

TEST(ExamineSlurm, SaysOfAClusterWithoutAccountingThatNothingElseIsMissing) {
  ScriptedClient client = a_cluster();
  const auto found = by_name(examine_slurm(client, a_place()));
  for (const auto& [name, finding] : found) {
    if (name == "slurm_workspace") continue;  // that is of this machine
    EXPECT_EQ(finding.state, name == "slurm_accounting" ? State::kWarning : State::kOk) << name << ": " << finding.found;
  }
  EXPECT_NE(found.at("slurm_controller").found.find("cluster lab, Slurm 22.05.8"), std::string::npos);
  EXPECT_NE(found.at("slurm_accounting").found.find("storage is disabled"), std::string::npos);
  EXPECT_NE(found.at("slurm_partitions").found.find("low (drain, time limit 1:00:00, by default 10:00, nodes: 2)"), std::string::npos);
  for (const std::string& command : client.commands)
    EXPECT_TRUE(command.find("--version") != std::string::npos || command.find("show") != std::string::npos || command == kSacct ||
                command == kSinfo)
        << command << " may change something";
}

TEST(ExamineSlurm, AsksNothingMoreWhereAProgramIsMissingOrTheControllerDoesNotAnswer) {
  ScriptedClient client = a_cluster();
  client.answers.erase("sbatch --version");
  Findings findings = examine_slurm(client, a_place());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].state, State::kProblem);
  EXPECT_NE(findings[0].found.find("not of use: sbatch (sbatch is not on PATH)"), std::string::npos) << findings[0].found;

  client = a_cluster();
  client.answers["scontrol show config"] = {1, "", "Unable to contact slurm controller (connect failure)\n"};
  findings = examine_slurm(client, a_place());
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[1].name, "slurm_controller");
  EXPECT_EQ(findings[1].state, State::kProblem);
  EXPECT_NE(findings[1].found.find("Unable to contact"), std::string::npos) << findings[1].found;
}

TEST(ExamineSlurm, TakesAMissingSacctAndTwoVersionsForWarnings) {
  ScriptedClient client = a_cluster();
  client.answers.erase("sacct --version");
  EXPECT_EQ(by_name(examine_slurm(client, a_place())).at("slurm_programs").state, State::kWarning);
  client.answers["sacct --version"] = {0, "slurm 24.11.0\n", ""};
  const Finding programs = by_name(examine_slurm(client, a_place())).at("slurm_programs");
  EXPECT_EQ(programs.state, State::kWarning);
  EXPECT_NE(programs.found.find("slurm 24.11.0 (sacct)"), std::string::npos) << programs.found;
}

TEST(ExamineSlurm, FindsTheNamedPartitionOrNamesThoseThereAre) {
  ScriptedClient client = a_cluster();
  EXPECT_EQ(by_name(examine_slurm(client, a_place("main"))).at("slurm_partitions").state, State::kOk);
  EXPECT_EQ(by_name(examine_slurm(client, a_place("low"))).at("slurm_partitions").state, State::kProblem) << "it is drained";
  const Finding unknown = by_name(examine_slurm(client, a_place("gpu"))).at("slurm_partitions");
  EXPECT_EQ(unknown.state, State::kProblem);
  EXPECT_NE(unknown.found.find("main (up"), std::string::npos) << unknown.found;
  client.answers[kSinfo] = {0, "main|up|infinite|10:00|2\n", ""};
  EXPECT_EQ(by_name(examine_slurm(client, a_place())).at("slurm_partitions").state, State::kWarning) << "no default";
  client.answers[kSinfo] = {1, "", "slurm_load_partitions: Unable to contact slurm controller\n"};
  EXPECT_EQ(by_name(examine_slurm(client, a_place("gpu"))).at("slurm_partitions").state, State::kWarning) << "not known is not missing";
}

struct ConfigCase {
  const char* key;
  const char* value;
  bool has_accounting;
  const char* finding;
  State state;
};

TEST(ExamineClusterConfig, KnowsWhatAValueMeansForAStudy) {
  const ConfigCase cases[] = {
      {"KillWait", "2 sec", true, "slurm_kill_wait", State::kWarning},
      {"KillWait", "3 sec", true, "slurm_kill_wait", State::kOk},
      {"MinJobAge", "60 sec", false, "slurm_min_job_age", State::kWarning},
      {"MinJobAge", "60 sec", true, "slurm_min_job_age", State::kOk},
      {"MinJobAge", "61 sec", false, "slurm_min_job_age", State::kOk},
      {"MaxArraySize", "1", true, "slurm_max_array_size", State::kWarning},
      {"MaxArraySize", "2", true, "slurm_max_array_size", State::kOk},
      {"PreemptMode", "OFF", true, "slurm_preemption", State::kOk},
      {"PreemptMode", "CANCEL", true, "slurm_preemption", State::kWarning},
      {"PreemptMode", "GANG,SUSPEND", true, "slurm_preemption", State::kWarning},
      {"JobRequeue", "0", true, "slurm_requeue", State::kWarning},
      {"SlurmctldTimeout", "301 sec", true, "slurm_controller_timeout", State::kWarning},
      {"SlurmctldTimeout", "300 sec", true, "slurm_controller_timeout", State::kOk},
      {"KillWait", "(null)", true, "slurm_kill_wait", State::kOk},
  };
  for (const ConfigCase& one : cases) {
    const Finding finding = of_config(one.key, one.value, one.has_accounting).at(one.finding);
    EXPECT_EQ(finding.state, one.state) << one.key << " = " << one.value;
    EXPECT_NE(finding.found.find(one.value), std::string::npos) << finding.found;
  }
}

TEST(ExamineClusterPlace, WarnsOfVariablesThatSbatchWouldReadOrHandOn) {
  ClusterPlace place = a_place();
  EXPECT_EQ(by_name(examine_cluster_place(place)).at("slurm_variables").state, State::kOk);
  place.variables = {"HOME", "REMATCH_TRAINER", "SBATCH_PARTITION", "SLURM_CONF", "SLURM_JOB_ID"};
  const Finding finding = by_name(examine_cluster_place(place)).at("slurm_variables");
  EXPECT_EQ(finding.state, State::kWarning);
  EXPECT_EQ(finding.found, "REMATCH_TRAINER, SBATCH_PARTITION, SLURM_JOB_ID");
}

TEST(ExamineClusterPlace, WarnsOfALocalFileSystemAndMakesNothingThere) {
  const tests::TempDir folder;
  ClusterPlace place = a_place();
  place.workspace = folder.path() / "not" / "there";
  place.trainer = folder.path() / "trainer";
  const auto found = by_name(examine_cluster_place(place));
  for (const char* name : {"slurm_workspace", "slurm_trainer"}) {
    const bool is_network = file_system_of(folder.path())->is_network;
    EXPECT_EQ(found.at(name).state, is_network ? State::kOk : State::kWarning) << found.at(name).found;
    EXPECT_NE(found.at(name).found.find(folder.path().string()), std::string::npos) << found.at(name).found;
  }
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "not"));
}

}  // namespace
}  // namespace rematch::doctor
