// The flags that say where a sweep runs, and what `plan` shows of it.
#include "orchestrator/cli/slurm_arguments.h"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "orchestrator/cli/slurm_preview.h"
#include "orchestrator/cli/sweep_input.h"
#include "orchestrator/spec/slurm_options.h"
#include "schemas/protocol/record_file.h"

namespace rematch::cli {
namespace {

const std::string kSweep = REMATCH_SOURCE_DIR "/sweeps/slurm/first.yaml";

class CommandLine {
 public:
  CommandLine() { arguments_.declare(app_); }
  void parse(std::vector<std::string> words) {
    words.insert(words.begin(), kSweep);
    std::reverse(words.begin(), words.end());  // as CLI11 wants them
    app_.parse(words);
  }
  SweepInput load(const std::vector<std::string>& words) {
    parse(words);
    options_.workspace = workspace;
    options_.trainer = REMATCH_BIN_DIR "/fake_trainer";
    auto result = load_sweep(arguments_, options_, {out_, err_});
    EXPECT_TRUE(std::holds_alternative<SweepInput>(result)) << err_.str();
    return std::get<SweepInput>(std::move(result));
  }
  std::optional<SlurmPreview> preview(const std::vector<std::string>& words) { return preview_slurm(load(words), options_); }
  // What is said where the sweep is refused.
  std::string refusal(const std::vector<std::string>& words) {
    parse(words);
    options_.trainer = REMATCH_BIN_DIR "/fake_trainer";
    EXPECT_TRUE(std::holds_alternative<Exit>(load_sweep(arguments_, options_, {out_, err_})));
    return err_.str();
  }
  std::string overrides(const std::vector<std::string>& words) {
    parse(words);
    std::string text;
    for (const auto& override : arguments_.slurm.overrides()) text += override.origin + ": " + override.key + "=" + override.value + "\n";
    return text;
  }
  bool has(const std::string& flag) const { return app_.get_option_no_throw(flag) != nullptr; }

  std::string workspace = "/shared/my runs";

 private:
  CLI::App app_;
  SweepArguments arguments_;
  GlobalOptions options_;
  std::ostringstream out_;
  std::ostringstream err_;
};

TEST(Flags, FillTheKeysThatTheyAreNamedAfter) {
  const std::string overrides = CommandLine().overrides(
      {"--launcher",  "slurm",        "--partition", "gpu",    "--time=2:00:00",       "--nodes", "2",
       "--exclusive", "--no-requeue", "--shape",     "array",  "--throttle",           "3",       "--slurm",
       "nice=100",    "--slurm",      "hold",        "--srun", "container-image=/a b", "--setup", "module load a, b",
       "--setup",     "true"});
  EXPECT_EQ(overrides,
            "--launcher: launch.kind=slurm\n"
            "--partition: launch.partition=gpu\n"
            "--time: launch.time=2:00:00\n"
            "--nodes: launch.nodes=2\n"
            "--exclusive: launch.exclusive=true\n"
            "--requeue: launch.requeue=false\n"
            "--shape: launch.shape=array\n"
            "--throttle: launch.throttle=3\n"
            "--slurm: launch.slurm.nice=100\n"
            "--slurm: launch.slurm.hold=true\n"
            "--srun: launch.srun.container-image=\"/a b\"\n"
            "--setup: launch.setup=[\"module load a, b\", true]\n");
}

TEST(Flags, AreThereForEveryOptionThatHasAKey) {
  const CommandLine line;
  for (const spec::SlurmOption& option : spec::slurm_options()) EXPECT_TRUE(line.has("--" + option.name)) << option.name;
}

TEST(Flags, TakeTextsThatYamlWouldReadAsSomethingElse) {
  const SweepInput input =
      CommandLine().load({"--constraint", "[a*2&b]", "--comment", "a: b # c", "--exclude", "n[1-3],n5", "--exclusive=user"});
  const spec::SlurmSpec::Texts wanted = {{"time", "30"},           {"nodes", "2"},        {"constraint", "[a*2&b]"},
                                         {"exclude", "n[1-3],n5"}, {"exclusive", "user"}, {"comment", "a: b # c"}};
  for (const auto& option : wanted)
    EXPECT_NE(std::find(input.spec.slurm.options.begin(), input.spec.slurm.options.end(), option), input.spec.slurm.options.end())
        << option.first;
  EXPECT_EQ(input.spec.slurm.options.size(), wanted.size());
}

TEST(Flags, DoNotChangeTheStudy) {
  const std::string id = CommandLine().load({"--partition", "gpu", "--shape", "array", "--setup", "module load cuda"}).plan.study_id;
  EXPECT_EQ(CommandLine().load({"--launcher", "local"}).plan.study_id, id);
}

TEST(Flags, AreRefusedUnderTheirOwnNames) {
  const std::string said = CommandLine().refusal({"--nodes", "many"});
  EXPECT_NE(said.find("--nodes launch.nodes=many: launch.nodes: wanted an integer from 1"), std::string::npos) << said;
  EXPECT_THROW(CommandLine().overrides({"--launcher", "srun"}), CLI::ValidationError);
}

TEST(Flags, ShowWhatWouldBeSubmitted) {
  const SlurmPreview shown = CommandLine().preview({"--time", "2:00:00"}).value();
  EXPECT_EQ(shown.num_jobs, 1u);
  EXPECT_EQ(shown.num_nodes, 2);
  EXPECT_EQ(shown.node_hours_at_most, 4.0);
  const std::string text = preview_text(shown);
  EXPECT_NE(text.find("slurm: shape allocation, 1 job, 2 nodes; at most 4 node-hours for one start of each\nNothing is submitted."),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("\n  sbatch --parsable --job-name=first-"), std::string::npos) << text;
  EXPECT_NE(text.find("\n#SBATCH --time=2:00:00\n"), std::string::npos) << text;
  EXPECT_NE(text.find(" --workspace '/shared/my runs' --trainer " REMATCH_BIN_DIR "/fake_trainer work '/shared/my runs/studies/first-"),
            std::string::npos)
      << text;
}

TEST(Flags, CountTheElementsOfAnArrayAndTheJobsOfTrials) {
  const SlurmPreview array = CommandLine().preview({"--shape", "array"}).value();
  EXPECT_EQ(array.num_jobs, 1u);
  EXPECT_EQ(array.num_elements, 2u);
  EXPECT_EQ(array.node_hours_at_most, 2.0);
  const SlurmPreview trials = CommandLine().preview({"--shape", "trials", "--time", "UNLIMITED"}).value();
  EXPECT_EQ(trials.num_jobs, 10u);
  EXPECT_EQ(trials.node_hours_at_most, std::nullopt);
  EXPECT_TRUE(to_json(trials).at("node_hours_at_most").is_null());
}

TEST(Flags, BoundNoCostWhereTheTimeIsNoLimitAndRoundIt) {
  EXPECT_NE(preview_text(CommandLine().preview({"--time", "0"}).value()).find("; no bound on node-hours: time 0 is no limit\n"),
            std::string::npos);
  EXPECT_NE(preview_text(CommandLine().preview({"--time", "1"}).value()).find("; at most 0.0333 node-hours for"), std::string::npos);
  EXPECT_NE(preview_text(CommandLine().preview({"--time", "1234:30:00"}).value()).find("; at most 2469 node-hours for"), std::string::npos);
}

// The text with every `from` replaced.
std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) text.replace(at, from.size(), to);
  return text;
}

TEST(Readme, ShowsTheBatchScriptThatIsSubmitted) {
  const std::string readme = protocol::read_whole_file(REMATCH_SOURCE_DIR "/README.md").value();
  const auto begin = readme.find("#!/bin/bash\n#SBATCH");
  ASSERT_NE(begin, std::string::npos);
  CommandLine line;
  line.workspace = "/shared/me/rematch-runs";
  std::string script = line.preview({"--partition", "gpu"}).value().script;
  script = replaced(script, std::filesystem::read_symlink("/proc/self/exe"), "/shared/me/rematch/build/release/bin/rematch");
  script = replaced(script, REMATCH_BIN_DIR "/fake_trainer", "/shared/me/rematch/build/release/bin/rematch-train");
  const std::string study_id = script.substr(script.find("=first-") + 7, 16);  // it has the trainer's name in it
  script = replaced(script, study_id, "9d8939d73b8fa8f1");
  script = replaced(script, "NONCE", "4c07d2ab");
  EXPECT_EQ(readme.substr(begin, readme.find("```", begin) - begin), script);
}

TEST(Flags, ShowNothingOfSlurmForALocalLaunch) { EXPECT_FALSE(CommandLine().preview({"--launcher", "local"}).has_value()); }

}  // namespace
}  // namespace rematch::cli
