#include "orchestrator/slurm/client.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "tests/support/temp_dir.h"

namespace rematch::slurm {
namespace {

// A variable that has its value for as long as this lives.
class Variable {
 public:
  Variable(const std::string& name, const std::string& value) : name_(name) {
    const char* before = ::getenv(name.c_str());
    if (before != nullptr) before_ = before;
    ::setenv(name.c_str(), value.c_str(), 1);
  }
  ~Variable() { before_.empty() ? ::unsetenv(name_.c_str()) : ::setenv(name_.c_str(), before_.c_str(), 1); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  std::string name_;
  std::string before_;
};

TEST(ProgramClient, DoesNotLetVariablesOfTheUserOrOfAnotherJobChangeTheQuestion) {
  const tests::TempDir folder;
  std::ofstream(folder.path() / "squeue") << "#!/bin/sh\nexec /usr/bin/env\n";
  std::filesystem::permissions(folder.path() / "squeue", std::filesystem::perms::owner_all);
  const std::map<std::string, bool> seen_by_client = {
      {"SQUEUE_PARTITION", false},   {"SCANCEL_PARTITION", false},   {"SACCT_FEDERATION", false}, {"SINFO_PARTITION", false},
      {"SBATCH_WAIT", false},        {"SBATCH_TEST_ONLY", false},    {"SBATCH_ARRAY_INX", false}, {"SLURM_ARRAY_JOB_ID", false},
      {"SLURM_JOB_ID", false},       {"SLURM_ARRAY_TASK_ID", false}, {"SLURM_NTASKS", false},     {"SLURM_RESTART_COUNT", false},
      {"SLURM_MEM_PER_NODE", false}, {"SBATCH_PARTITION", true},     {"SBATCH_ACCOUNT", true},    {"SBATCH_WAIT_ALL_NODES", true},
      {"SLURM_CONF", true},          {"SLURM_UMASK", true},          {"MY_VARIABLE", true}};
  std::vector<std::unique_ptr<Variable>> variables;
  for (const auto& [name, is_seen] : seen_by_client) variables.push_back(std::make_unique<Variable>(name, "7"));
  const Variable path("PATH", folder.path());
  const auto answer = make_client()->call({"squeue"}, kClientDeadline);
  ASSERT_TRUE(answer) << answer.error().message;
  for (const auto& [name, is_seen] : seen_by_client)
    EXPECT_EQ(("\n" + answer.value().out).find("\n" + name + "=7\n") != std::string::npos, is_seen) << name;
}

}  // namespace
}  // namespace rematch::slurm
