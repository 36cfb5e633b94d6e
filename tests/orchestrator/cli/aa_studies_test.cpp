// Twenty A/A studies judged end to end: `rematch run` of arms that take equally long, with the noise of a machine, and what the report
// says. Beside them studies in which one arm does take longer, so that a judge that never says a word fails.
#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/child_program.h"
#include "tests/support/temp_dir.h"

namespace rematch::tests {
namespace {

// Three candidates, three blocks: 15 trials. Intervals that exclude 0 get their word: nothing is called equal.
constexpr const char* kSweep = R"(schema: rematch/sweep/1
name: aa
model:
  preset: moonlight_16b
  num_layers: 4
training: {seq_length: 64, micro_batch_size: 1, global_batch_size: 1, train_iters: 13, seed: 1234, bf16: true}
parallel: {world_size: 1}
backend: {device: cpu, attention: fused}
recompute:
  control: {recompute_granularity: selective, recompute_modules: []}
  labels: [moe_act, moe, layernorm]
measure: {blocks: 3, steady_steps: 10, warmup: 2, smallest_effect: 0.01%}
launch: {kind: local, timeout: 20s}
)";

std::vector<std::string> rematch(const TempDir& folder, const std::vector<std::string>& words) {
  std::vector<std::string> command = {REMATCH_BIN_DIR "/rematch", "--workspace", (folder.path() / "runs").string(), "--trainer",
                                      REMATCH_BIN_DIR "/fake_trainer"};
  command.insert(command.end(), words.begin(), words.end());
  return command;
}

struct RunningStudy {
  TempDir folder;
  std::unique_ptr<ChildProgram> program;
};

std::unique_ptr<RunningStudy> start_study(int seed, int step_time_of_moe_us) {
  auto study = std::make_unique<RunningStudy>();
  const auto sweep = study->folder.path() / "sweep.yaml";
  std::ofstream(sweep) << kSweep;
  const nlohmann::json behaviour = {{"noise", seed},
                                    {"step_time_us", 10'000},
                                    {"rules", nlohmann::json::array({{{"arm", "moe"}, {"step_time_us", step_time_of_moe_us}}})}};
  study->program =
      std::make_unique<ChildProgram>(rematch(study->folder, {"run", sweep.string()}),
                                     std::map<std::string, std::string>{{"REMATCH_FAKE", behaviour.dump()}}, study->folder.path());
  return study;
}

// The words on the candidates' step times, by arm, as `rematch report` gives them to programs.
std::map<std::string, std::string> words_of(const RunningStudy& study) {
  ChildProgram report(rematch(study.folder, {"report", "-f", "json"}), {}, study.folder.path());
  EXPECT_EQ(report.wait(), 0) << report.err();
  std::map<std::string, std::string> words;
  const nlohmann::json document = nlohmann::json::parse(report.out());
  for (const auto& table : document.at("tables"))
    if (table.at("key") == "arms")
      for (const auto& row : table.at("rows"))
        if (row.at("modules") != "[]") words[row.at("modules")] = row.at("time_verdict");
  return words;
}

// Two studies at a time; seeds from 1.
std::vector<std::map<std::string, std::string>> run_studies(int num_studies, int step_time_of_moe_us) {
  std::vector<std::map<std::string, std::string>> words;
  for (int seed = 1; seed <= num_studies; seed += 2) {
    const auto first = start_study(seed, step_time_of_moe_us);
    const auto second = start_study(seed + 1, step_time_of_moe_us);
    for (const auto* study : {first.get(), second.get()}) {
      EXPECT_EQ(study->program->wait(), 0) << study->program->err();
      words.push_back(words_of(*study));
    }
  }
  return words;
}

// A right method alarms in a study with a probability of 5 %, in more than four of twenty with one of 0.3 %.
TEST(AaStudies, TwentyOfThemRaiseNoMoreFalseAlarmsThanPromised) {
  int num_alarms = 0;
  for (const auto& words : run_studies(20, 10'000)) {
    ASSERT_EQ(words.size(), 3U);
    bool has_alarm = false;
    for (const auto& [arm, word] : words) has_alarm = has_alarm || word != "undecided";
    num_alarms += has_alarm ? 1 : 0;
  }
  RecordProperty("false_alarms", num_alarms);
  EXPECT_LE(num_alarms, 4);
}

// At this noise and 3 blocks the half-width is 1.7 %: an effect of 3 % is found with a probability of about 0.96, in fewer than six of
// eight studies with one of 0.003.
TEST(AaStudies, AnArmThatTakesThreePercentLongerIsFoundInMost) {
  int num_found = 0;
  for (const auto& words : run_studies(8, 10'300)) num_found += words.at("moe") == "slower" ? 1 : 0;
  RecordProperty("found", num_found);
  EXPECT_GE(num_found, 6);
}

}  // namespace
}  // namespace rematch::tests
