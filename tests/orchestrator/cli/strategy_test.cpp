// Strategies with real processes: the controller, and a fake trainer that replays the guide's tables.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "tests/support/child_program.h"
#include "tests/support/eventually.h"
#include "tests/support/temp_dir.h"

namespace rematch::tests {
namespace {

namespace fs = std::filesystem;

// One dense and three MoE layers with all labels of both tables; only the outcomes are those of the tables' models.
const std::string kSweep = R"(schema: rematch/sweep/1
name: replayed
model: {preset: moonlight_16b, num_layers: 4}
training: {seq_length: 64, micro_batch_size: 1, global_batch_size: 2, train_iters: 16, seed: 1234, bf16: true}
parallel: {world_size: 2, expert_model_parallel_size: 2}
backend: {device: cpu, attention: fused}
recompute:
  control: {recompute_granularity: selective, recompute_modules: []}
measure: {blocks: 1, steady_steps: 10, warmup: 2}
launch: {kind: local, timeout: 20s}
)";

const std::vector<std::string> kNemotronArms = {"--set", "recompute.labels=core_attn,moe_act,moe", "--set",
                                                "recompute.sets=layernorm+moe_act;moe+layernorm"};
const std::vector<std::string> kMoonlightArms = {"--set", "recompute.labels=core_attn,mla_up_proj,moe_act", "--set",
                                                 "recompute.sets=mla_up_proj+mlp;layernorm+moe_act"};

std::string table_of(const std::string& name) { return REMATCH_SOURCE_DIR "/sweeps/published/" + name + ".json"; }

class Replayed : public ::testing::Test {
 protected:
  Replayed() { std::ofstream(folder_.path() / "sweep.yaml") << kSweep; }

  std::unique_ptr<ChildProgram> start(const std::string& table, const std::vector<std::string>& words) const {
    std::vector<std::string> all = {REMATCH_BIN_DIR "/rematch", "--workspace", workspace().string(), "--trainer",
                                    REMATCH_BIN_DIR "/fake_trainer"};
    all.insert(all.end(), words.begin(), words.end());
    return std::make_unique<ChildProgram>(all, std::map<std::string, std::string>{{"REMATCH_FAKE_TABLE", table}}, folder_.path());
  }
  nlohmann::json run(const std::string& table, std::vector<std::string> words, int wanted_exit = 0) {
    words.insert(words.begin(), {"run", (folder_.path() / "sweep.yaml").string(), "-f", "json"});
    const auto program = start(table, words);
    EXPECT_EQ(program->wait(), wanted_exit) << program->err();
    err_ = program->err();
    return nlohmann::json::parse(program->out());
  }
  fs::path workspace() const { return folder_.path() / "runs"; }
  std::size_t num_files(const std::string& name) const {
    std::size_t count = 0;
    std::error_code none;
    for (const auto& entry : fs::recursive_directory_iterator(workspace(), none)) count += entry.path().filename() == name ? 1 : 0;
    return count;
  }

  TempDir folder_;
  std::string err_;
};

std::vector<std::string> joined(std::vector<std::string> words, const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

std::vector<std::string> escalate_within(const std::string& budget) {
  return {"--set", "strategy.kind=escalate", "--set", "budget.per_rank_memory=" + budget};
}

const nlohmann::json& rows_of(const nlohmann::json& report, const std::string& key) {
  for (const auto& table : report["tables"])
    if (table["key"] == key) return table["rows"];
  throw std::logic_error("no table " + key);
}

TEST_F(Replayed, NemotronEndsAtMoeWithEveryStepExplained) {
  const auto report = run(table_of("nemotron_3_nano_16xh100"), joined(escalate_within("80GB"), kNemotronArms));
  EXPECT_EQ(report["answer"]["arm"], "moe");
  EXPECT_EQ(report["answer"]["headroom_arm"], "moe+layernorm (not measured)");
  EXPECT_EQ(report["answer"]["margin_bytes"], 80'000'000'000 - 64'653'000'000);
  EXPECT_NE(report["answer"]["reproduce"].get<std::string>().find("--trial"), std::string::npos);
  EXPECT_EQ(num_files("done.json"), 6U) << "the control twice, and four arms up to moe";
  std::set<std::string> decided;
  for (const auto& decision : rows_of(report, "decisions")) {
    EXPECT_FALSE(decision["reason"].get<std::string>().empty());
    if (decision["modules"].is_string()) decided.insert(decision["modules"]);
  }
  for (const char* arm : {"[]", "core_attn", "moe_act", "layernorm+moe_act", "moe", "moe+layernorm", "full:block:1", "full:uniform:1"})
    EXPECT_TRUE(decided.contains(arm)) << arm;
  EXPECT_EQ(rows_of(report, "decisions").back()["action"], "stop");
  for (const auto& arm : rows_of(report, "arms")) {
    if (arm["modules"] != "moe_act") continue;
    EXPECT_EQ(arm["failed_peak_delta_bytes"], -4'194'000'000);
  }
}

TEST_F(Replayed, MoonlightGivesMoeActWithMlaUpProjNextWithin36GB) {
  const auto report = run(table_of("moonlight_16b_8xh100"), joined(escalate_within("36.0GB"), kMoonlightArms));
  EXPECT_EQ(report["answer"]["arm"], "moe_act");
  EXPECT_EQ(report["answer"]["headroom_arm"], "mla_up_proj");
  EXPECT_EQ(report["answer"]["margin_bytes"], 59'000'000);
  EXPECT_EQ(num_files("done.json"), 7U) << "the control in both rounds, three labels";
}

TEST_F(Replayed, MoonlightGivesTheControlWithin80GBByBothStrategies) {
  const auto escalated = run(table_of("moonlight_16b_8xh100"), joined(escalate_within("80GB"), kMoonlightArms));
  EXPECT_EQ(escalated["answer"]["arm"], "[]");
  EXPECT_EQ(num_files("done.json"), 2U);
  fs::remove_all(workspace());
  const auto all = run(table_of("moonlight_16b_8xh100"), joined({"--set", "budget.per_rank_memory=80GB"}, kMoonlightArms));
  EXPECT_EQ(all["answer"]["arm"], "[]");
  EXPECT_EQ(num_files("done.json"), 7U);
}

TEST_F(Replayed, AFinishedStudyStartsNothingAgainAndIsTheSameFromItsFoldersAlone) {
  const auto words = joined(escalate_within("80GB"), kNemotronArms);
  const auto report = run(table_of("nemotron_3_nano_16xh100"), words);
  EXPECT_EQ(run(table_of("nemotron_3_nano_16xh100"), words), report);
  EXPECT_EQ(num_files("trial.json"), 6U);
  for (const char* name : {"rematch.db", "rematch.db-wal", "rematch.db-shm"}) fs::remove(workspace() / name);
  EXPECT_EQ(start("", {"ingest"})->wait(), 0);
  const auto again = start("", {"report", "-f", "json"});
  EXPECT_EQ(again->wait(), 0) << again->err();
  EXPECT_EQ(nlohmann::json::parse(again->out()), report);
  // Without what was decided, and without its database, the trials on disk lead to the same decisions.
  for (const auto& entry : fs::directory_iterator(workspace() / "studies")) fs::remove(entry.path() / "study.json");
  for (const char* name : {"rematch.db", "rematch.db-wal", "rematch.db-shm"}) fs::remove(workspace() / name);
  EXPECT_EQ(run(table_of("nemotron_3_nano_16xh100"), words), report);
  EXPECT_EQ(num_files("trial.json"), 6U);
}

TEST_F(Replayed, AControllerThatIsKilledBetweenRoundsGoesOn) {
  const auto words = joined(escalate_within("80GB"), kNemotronArms);
  auto all = words;
  all.insert(all.begin(), {"run", (folder_.path() / "sweep.yaml").string()});
  const auto program = start(table_of("nemotron_3_nano_16xh100"), all);
  ASSERT_TRUE(eventually([&] { return num_files("done.json") >= 3; }));
  program->kill(SIGKILL);
  program->wait();
  const auto report = run(table_of("nemotron_3_nano_16xh100"), words);
  EXPECT_EQ(report["answer"]["arm"], "moe");
  EXPECT_EQ(num_files("done.json"), 6U);
}

TEST_F(Replayed, AWiderBudgetLaterKeepsWhatWasMeasured) {
  run(table_of("nemotron_3_nano_16xh100"), joined(escalate_within("64GB"), kNemotronArms));
  EXPECT_EQ(num_files("trial.json"), 8U) << "up to moe+layernorm, with moe again beside it";
  const auto report = run(table_of("nemotron_3_nano_16xh100"), joined(escalate_within("80GB"), kNemotronArms));
  EXPECT_EQ(report["answer"]["arm"], "moe");
  EXPECT_EQ(num_files("trial.json"), 8U) << "nothing was started";
}

TEST_F(Replayed, APlanShowsWhatMayFollowAndWhatItCostsAtMost) {
  auto words = joined(escalate_within("80GB"), kNemotronArms);
  words.insert(words.begin(), {"plan", (folder_.path() / "sweep.yaml").string()});
  const auto text = start("", words);
  EXPECT_EQ(text->wait(), 0) << text->err();
  for (const char* said : {"strategy escalate, for at most 80GB a rank", "narrow labels", "core_attn, moe_act",
                           "full:block:1, full:block:2, full:block:3", "cost: 2 trials of 2 ranks", "with all that may follow "})
    EXPECT_NE(text->out().find(said), std::string::npos) << said << "\nin\n" << text->out();
  words.push_back("--json");
  const auto json = start("", words);
  EXPECT_EQ(json->wait(), 0) << json->err();
  const auto document = nlohmann::json::parse(json->out());
  std::int64_t num_trials = document["cost"]["num_trials"];
  for (const auto& round : document["rounds_to_come"]) num_trials += round["num_trials_at_most"].get<std::int64_t>();
  EXPECT_EQ(document["cost"]["num_trials_at_most"], num_trials);
}

}  // namespace
}  // namespace rematch::tests
