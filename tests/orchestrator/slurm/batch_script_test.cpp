#include "orchestrator/slurm/batch_script.h"

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <cstdio>

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <set>
#include <sstream>
#include <utility>

#include "tests/support/temp_dir.h"

namespace rematch::slurm {
namespace {

BatchJob sample_job() {
  return {.name = "first-0123456789abcdef-k3x9",
          .num_tasks = 1,
          .rematch = "/opt/bin/rematch",
          .workspace = "/shared/runs",
          .trainer = "/opt/bin/rematch-train",
          .study = "/shared/runs/studies/first-0123456789abcdef"};
}

spec::SlurmSpec sample_slurm() {
  spec::SlurmSpec slurm;
  slurm.num_nodes = 2;
  slurm.ranks_per_node = 8;
  slurm.options = {{"time", "2:00:00"}, {"partition", "gpu"}, {"gpus-per-node", "8"}};
  return slurm;
}

bool has(const std::vector<std::string>& options, const std::string& option) {
  return std::find(options.begin(), options.end(), option) != options.end();
}

bool has_name(const std::vector<std::string>& options, const std::string& name) {
  return std::any_of(options.begin(), options.end(),
                     [&](const std::string& option) { return option.substr(0, option.find('=')) == "--" + name; });
}

TEST(BatchScript, HasTheOptionsInOrderTheSetUpAndTheRunnerInTheShellsPlace) {
  spec::SlurmSpec slurm = sample_slurm();
  slurm.setup = {"module load cuda"};
  EXPECT_EQ(batch_script(slurm, sample_job()), R"(#!/bin/bash
#SBATCH --job-name=first-0123456789abcdef-k3x9
#SBATCH --comment=first-0123456789abcdef-k3x9
#SBATCH --output=/shared/runs/studies/first-0123456789abcdef/submissions/first-0123456789abcdef-k3x9.out
#SBATCH --open-mode=append
#SBATCH --export=ALL
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=8
#SBATCH --partition=gpu
#SBATCH --time=2:00:00
#SBATCH --gpus-per-node=8
#SBATCH --mem=0
#SBATCH --exclusive
#SBATCH --requeue
#SBATCH --signal=B:USR1@120
#SBATCH --no-kill

trap 'rematch_exit=$?; if ((${#BASH_SOURCE[@]} == 1)); then echo "rematch: the set-up failed with exit code $rematch_exit, at line $LINENO of the job script: $BASH_COMMAND" >&2; exit $rematch_exit; fi' ERR
module load cuda
trap - ERR

# The runner takes the shell's place, and so gets the signals that Slurm sends to it.
exec /opt/bin/rematch --workspace /shared/runs --trainer /opt/bin/rematch-train work /shared/runs/studies/first-0123456789abcdef --submission first-0123456789abcdef-k3x9
)");
}

// What the script of that set-up prints, and its exit code; `echo` is the runner.
std::pair<std::string, int> carry_out(const std::vector<std::string>& setup) {
  const tests::TempDir folder;
  spec::SlurmSpec slurm = sample_slurm();
  slurm.setup = setup;
  BatchJob job = sample_job();
  job.rematch = "/bin/echo";
  const std::string path = folder.path() / "script";
  std::ofstream(path) << batch_script(slurm, job);
  std::FILE* pipe = ::popen(("exec bash '" + path + "' 2>&1").c_str(), "r");
  std::string said;
  std::array<char, 256> part{};
  while (std::fgets(part.data(), part.size(), pipe) != nullptr) said += part.data();
  return {said, WEXITSTATUS(::pclose(pipe))};
}

TEST(BatchScript, EndsWhereACommandOfTheSetUpFailsAndNamesIt) {
  for (const auto& setup : std::vector<std::vector<std::string>>{{"true", "(exit 3)", "echo later"},
                                                                 {"load() {", "  true", "  return 3", "}", "load", "echo later"}}) {
    const auto [said, code] = carry_out(setup);
    EXPECT_EQ(code, 3) << said;
    EXPECT_NE(said.find("rematch: the set-up failed with exit code 3, at line "), std::string::npos) << said;
    EXPECT_EQ(said.find("later"), std::string::npos) << said;
    EXPECT_EQ(said.find("--workspace"), std::string::npos) << said;
  }
  EXPECT_NE(carry_out({"module_that_is_not_there load"}).first.find("of the job script: module_that_is_not_there load\n"),
            std::string::npos);
  EXPECT_EQ(carry_out({"exit 4"}).second, 4);
}

TEST(BatchScript, GoesOnWhereFailureIsPartOfTheSetUp) {
  const auto [said, code] = carry_out({"if false; then", "  exit 1", "fi", "false || true", "load() { false; true; }", "load", "! true",
                                       "[ -z x ] && exit 1", "source <(echo 'false; true')"});
  EXPECT_EQ(code, 0) << said;
  EXPECT_NE(said.find("--workspace"), std::string::npos) << said;
}

TEST(BatchScript, QuotesWhatTheShellAndSbatchWouldSplit) {
  BatchJob job = sample_job();
  job.workspace = "/a b/it's";
  job.study = "/a b/it's/50%/studies/x";
  spec::SlurmSpec slurm = sample_slurm();
  slurm.options = {{"comment", R"(say "hi" # \ there)"}};
  const std::string script = batch_script(slurm, job);
  EXPECT_NE(script.find(R"(#SBATCH --comment="say \"hi\" # \\ there")"), std::string::npos) << script;
  EXPECT_NE(script.find("#SBATCH --output=\"/a b/it's/50%%/studies/x/submissions/" + job.name + ".out\""), std::string::npos) << script;
  EXPECT_NE(script.find(R"(--workspace '/a b/it'\''s' --trainer)"), std::string::npos) << script;
}

TEST(BatchScript, HandsTheOptionsOfStepsToTheRunner) {
  spec::SlurmSpec slurm = sample_slurm();
  slurm.srun = {{"container-image", "/a b.sqsh"}, {"overlap", ""}};
  const std::string script = batch_script(slurm, sample_job());
  EXPECT_TRUE(script.ends_with(" --srun 'container-image=/a b.sqsh' --srun overlap\n")) << script;
  EXPECT_EQ(script.find("#SBATCH --container-image"), std::string::npos) << script;
}

TEST(BatchScript, OfAnArrayHasItsElementsAndAnOutputForEach) {
  spec::SlurmSpec slurm = sample_slurm();
  slurm.shape = "array";
  BatchJob job = sample_job();
  job.num_tasks = 8;
  EXPECT_TRUE(has(sbatch_options(slurm, job), "--array=0-7"));
  slurm.throttle = 3;
  const auto options = sbatch_options(slurm, job);
  EXPECT_TRUE(has(options, "--array=0-7%3"));
  const std::string output = "--output=" + element_output(job.study, job.name, 5).string();
  EXPECT_TRUE(has(options, output.substr(0, output.rfind('5')) + "%a.out")) << output;
}

TEST(Options, OfATrialShareTheirNodes) {
  spec::SlurmSpec slurm = sample_slurm();
  slurm.shape = "trials";
  const auto options = sbatch_options(slurm, sample_job());
  EXPECT_FALSE(has_name(options, "exclusive"));
  EXPECT_FALSE(has_name(options, "mem"));
  EXPECT_FALSE(has_name(options, "array"));
}

TEST(Options, OfTheSweepOutrankTheDefaults) {
  spec::SlurmSpec slurm = sample_slurm();
  slurm.options = {{"requeue", "false"}, {"exclusive", "user"}, {"mem", "64G"}, {"signal", "B:USR1@600"}, {"comment", "mine"}};
  slurm.pass_through = {{"no-kill", "off"}, {"hold", ""}};
  const auto options = sbatch_options(slurm, sample_job());
  for (const char* option :
       {"--no-requeue", "--exclusive=user", "--mem=64G", "--signal=B:USR1@600", "--comment=mine", "--no-kill=off", "--hold"})
    EXPECT_TRUE(has(options, option)) << option;
  EXPECT_FALSE(has(options, "--requeue"));
  std::set<std::string> names;
  for (const std::string& option : options) EXPECT_TRUE(names.insert(option.substr(0, option.find('='))).second) << option << " twice";
}

TEST(Options, AskForAllMemoryOfANodeOnlyWhereTheJobHasItAloneAndTheSweepIsSilent) {
  spec::SlurmSpec slurm = sample_slurm();
  slurm.pass_through = {{"mem-per-cpu", "4G"}};
  EXPECT_FALSE(has_name(sbatch_options(slurm, sample_job()), "mem"));
  slurm.pass_through.clear();
  for (const char* shared : {"false", "user"}) {
    slurm.options = {{"exclusive", shared}};
    EXPECT_FALSE(has_name(sbatch_options(slurm, sample_job()), "mem")) << shared;
  }
}

TEST(SbatchCommand, SaysTheOptionsOfTheScriptAndNamesItLast) {
  const spec::SlurmSpec slurm = sample_slurm();
  const auto command = sbatch_command(slurm, sample_job(), "/shared/x.sh");
  ASSERT_GE(command.size(), 3u);
  EXPECT_EQ(command[0], "sbatch");
  EXPECT_EQ(command[1], "--parsable");
  EXPECT_EQ(command.back(), "/shared/x.sh");
  std::vector<std::string> of_script;
  std::istringstream script(batch_script(slurm, sample_job()));
  for (std::string line; std::getline(script, line);)
    if (line.rfind("#SBATCH ", 0) == 0) of_script.push_back(line.substr(8));
  EXPECT_EQ(std::vector<std::string>(command.begin() + 2, command.end() - 1), of_script);
}

TEST(JobName, KeepsIdAndNonceWholeAndFitsInListsAndFileNames) {
  EXPECT_EQ(job_name("first", "0123456789abcdef", "k3x9"), "first-0123456789abcdef-k3x9");
  EXPECT_EQ(job_name("a,b c", "1", "n"), "a_b_c-1-n");
  const std::string cut = job_name(std::string(64, 'x'), "0123456789abcdef", "k3x9");
  EXPECT_EQ(cut, std::string(42, 'x') + "-0123456789abcdef-k3x9");
  EXPECT_EQ(cut.size(), 64u);
}

}  // namespace
}  // namespace rematch::slurm
