// `rematch run` with real processes: the controller, its supervisors and the fake trainer.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "tests/orchestrator/store/dump_rows.h"
#include "tests/support/child_program.h"
#include "tests/support/eventually.h"
#include "tests/support/temp_dir.h"

namespace rematch::tests {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSweep = R"(schema: rematch/sweep/1
name: fake
model:
  preset: moonlight_16b
  num_layers: 4
training: {seq_length: 64, micro_batch_size: 1, global_batch_size: 4, train_iters: 16, seed: 1234, bf16: true}
parallel: {world_size: 2, expert_model_parallel_size: 2}
backend: {device: cpu, attention: fused}
recompute:
  control: {recompute_granularity: selective, recompute_modules: []}
  labels: [moe_act, moe]
measure: {blocks: 1, steady_steps: 10, warmup: 2}
launch: {kind: local, timeout: 20s}
)";
constexpr int kNumTrials = 4;  // the control twice, each label once

class Run : public ::testing::Test {
 protected:
  Run() { std::ofstream(folder_.path() / "sweep.yaml") << kSweep; }

  std::vector<std::string> command(std::vector<std::string> words) const {
    std::vector<std::string> all = {REMATCH_BIN_DIR "/rematch", "--workspace", workspace().string(), "--trainer",
                                    REMATCH_BIN_DIR "/fake_trainer"};
    all.insert(all.end(), words.begin(), words.end());
    return all;
  }
  std::unique_ptr<ChildProgram> start(const std::string& behaviour, std::vector<std::string> words = {}) const {
    if (words.empty()) words = {"run", sweep().string()};
    return std::make_unique<ChildProgram>(command(std::move(words)), std::map<std::string, std::string>{{"REMATCH_FAKE", behaviour}},
                                          folder_.path());
  }
  int run(const std::string& behaviour = "", std::vector<std::string> words = {}) {
    const auto program = start(behaviour, std::move(words));
    const int code = program->wait();
    out_ = program->out();
    err_ = program->err();
    return code;
  }

  fs::path sweep() const { return folder_.path() / "sweep.yaml"; }
  fs::path workspace() const { return folder_.path() / "runs"; }
  std::set<fs::path> files(const std::string& name) const {
    std::set<fs::path> found;
    std::error_code none;
    for (const auto& entry : fs::recursive_directory_iterator(workspace(), none))
      if (entry.path().filename() == name) found.insert(entry.path());
    return found;
  }
  // Processes whose command line or environment names this test's folder, the test itself aside.
  std::vector<pid_t> processes_of_this_test() const {
    std::vector<pid_t> found;
    for (const auto& entry : fs::directory_iterator("/proc")) {
      const std::string name = entry.path().filename();
      if (name.find_first_not_of("0123456789") != std::string::npos) continue;
      std::ifstream file(entry.path() / "cmdline");
      const std::string text{std::istreambuf_iterator<char>(file), {}};
      const auto pid = static_cast<pid_t>(std::stol(name));
      if (text.find(folder_.path().string()) != std::string::npos && is_alive(pid)) found.push_back(pid);
    }
    return found;
  }
  TempDir folder_;
  std::string out_;
  std::string err_;
};

TEST_F(Run, CarriesTheSweepOutAndPrintsItsTable) {
  EXPECT_EQ(run(), 0) << err_;
  EXPECT_EQ(files("done.json").size(), kNumTrials);
  EXPECT_NE(out_.find("| moe_act |"), std::string::npos) << out_;
  EXPECT_EQ(err_.find("\x1b["), std::string::npos) << "escape codes outside of a terminal";
}

TEST_F(Run, CarriesArmsOfFullRecomputeOutToTheirTable) {
  const int code = run("", {"run", sweep().string(), "--set", "recompute.labels=moe_act", "--set", "recompute.full=uniform:3,block:1"});
  EXPECT_EQ(code, 0) << err_;
  EXPECT_EQ(files("done.json").size(), 5U) << "the control twice, each other arm once";
  for (const char* row : {"| full:uniform:3 | pass    | 1/1  |", "| full:block:1   | pass    | 1/1  |"})
    EXPECT_NE(out_.find(row), std::string::npos) << out_;
  EXPECT_NE(err_.find(" full:uniform:3, block 0, slot "), std::string::npos) << err_;
  EXPECT_EQ(run("", {"show", "full:uniform:3"}), 0) << err_;
  EXPECT_NE(out_.find("recompute_granularity=full recompute_modules=unset recompute_method=uniform recompute_num_layers=3"),
            std::string::npos)
      << out_;
  EXPECT_NE(out_.find("| full           |                    4 |       4 |                128 |"), std::string::npos)
      << "two groups on two ranks, two micro-batches, 16 steps: " << out_;
}

TEST_F(Run, StartsNothingTheSecondTimeAndExitsTheSame) {
  const std::string failing = R"({"rules":[{"arm":"moe","rank":1,"do":"exit","code":70,"stage":"steady"}]})";
  EXPECT_EQ(run(failing), 4) << err_;
  const auto attempts = files("trial.json");
  const std::string table = out_;
  EXPECT_EQ(run(""), 4) << err_;
  EXPECT_EQ(files("trial.json"), attempts);
  EXPECT_EQ(out_, table);
}

TEST_F(Run, MakesTheKeptReportAnewWhenTheSweepOrAFolderChanged) {
  EXPECT_EQ(run(), 0) << err_;
  const std::string table = out_;
  EXPECT_EQ(run("", {"report"}), 0) << err_;
  EXPECT_EQ(out_, table) << "kept by run";
  EXPECT_EQ(run("", {"run", sweep().string(), "--set", "budget.per_rank_memory=1MB"}), 5) << "the same trials, judged by another budget";
  EXPECT_EQ(files("trial.json").size(), kNumTrials);
  EXPECT_EQ(run(), 0) << err_;
  fs::remove(*files("done.json").begin());
  EXPECT_EQ(run(), 0) << err_;
  EXPECT_EQ(files("done.json").size(), kNumTrials) << "settled again";
  EXPECT_EQ(out_, table);
  fs::remove_all((*files("trial.json").begin()).parent_path());
  EXPECT_EQ(run(), 0) << err_;
  EXPECT_EQ(files("done.json").size(), kNumTrials) << "a trial whose folder is gone runs again";
}

TEST_F(Run, AnswersQueriesAndShowsOfWhatItIsDone) {
  EXPECT_EQ(run(R"({"rules":[{"arm":"moe_act","rank":1,"do":"oom","stage":"first_backward","step":0}]})"), 0) << err_;
  EXPECT_EQ(run("", {"query", "failures", "-f", "csv"}), 0) << err_;
  EXPECT_EQ(out_.find("study,study_id,arm,block,slot,trial_id,attempt,kind,stage,"), 0U) << out_;
  EXPECT_NE(out_.find(",moe_act,0,"), std::string::npos) << out_;
  EXPECT_EQ(run("", {"query", "arms", "--outcome", "fail", "-f", "jsonl"}), 0) << err_;
  EXPECT_NE(out_.find("\"arm\":\"moe_act\""), std::string::npos) << out_;
  EXPECT_EQ(run("", {"query", "--sql", "DELETE FROM study"}), 2);
  EXPECT_NE(err_.find("a query may only read"), std::string::npos) << err_;
  EXPECT_EQ(run("", {"query", "peaks", "--limit", "2"}), 0);
  EXPECT_NE(err_.find("the first 2 rows"), std::string::npos) << err_;
  EXPECT_EQ(run("", {"query"}), 2);
  EXPECT_EQ(run("", {"status"}), 0) << err_;
  EXPECT_NE(out_.find("complete"), std::string::npos) << out_;
  const std::string rows = dump_rows(workspace() / "rematch.db");
  fs::remove(workspace() / "rematch.db");
  EXPECT_EQ(run("", {"ingest"}), 0) << err_;
  EXPECT_EQ(dump_rows(workspace() / "rematch.db"), rows);
  fs::remove(workspace() / "rematch.db");
  EXPECT_EQ(run("", {"status"}), 0) << err_;
  EXPECT_NE(out_.find("complete"), std::string::npos) << "by the folders alone: " << out_;
  EXPECT_EQ(run("", {"query", "peaks"}), 8);
}

TEST_F(Run, GoesOnAfterAFailedTrialAndPlacesItsFailure) {
  EXPECT_EQ(run(R"({"rules":[{"arm":"moe_act","rank":1,"do":"oom","stage":"first_backward","step":0}]})"), 0) << err_;
  EXPECT_EQ(files("done.json").size(), kNumTrials);
  EXPECT_NE(err_.find("oom at first_backward, step 0, rank 1"), std::string::npos) << err_;
}

TEST_F(Run, EndsAHangingRankAtTheDeadlineAndGoesOn) {
  EXPECT_EQ(
      run(R"({"rules":[{"arm":"moe","rank":0,"do":"hang","stage":"first_forward"}]})",
          {"run", sweep().string(), "--set", "launch.timeout=" + std::to_string(time_allowance(std::chrono::seconds(1)).count()) + "s"}),
      4)
      << err_;
  EXPECT_NE(err_.find("timeout at first_forward, step 0, rank 0"), std::string::npos) << err_;
  EXPECT_EQ(files("done.json").size(), kNumTrials);
}

TEST_F(Run, PlacesEachKindOfDamageAtItsRank) {
  EXPECT_EQ(run(R"({"rules":[{"arm":"moe","rank":1,"do":"signal","signal":11,"stage":"built"},
                             {"arm":"moe_act","rank":0,"do":"torn","code":1,"stage":"first_grad_sync"}]})"),
            4);
  EXPECT_NE(err_.find("crashed at built, rank 1"), std::string::npos) << err_;
  EXPECT_NE(err_.find("bad_exit at first_grad_sync, step 0, rank 0"), std::string::npos) << err_;
}

TEST_F(Run, DoesNotAcceptARecordWithGarbageInIt) {
  EXPECT_EQ(run(R"({"rules":[{"arm":"moe","rank":1,"do":"garbage","stage":"steady"}]})"), 4);
  EXPECT_NE(err_.find("damaged record"), std::string::npos) << err_;
}

TEST_F(Run, StopsAtAControlThatReplaysAnything) {
  EXPECT_EQ(run(R"({"rules":[{"arm":"[]","do":"replay"}]})"), 6) << err_;
  EXPECT_NE(err_.find("the control is not a control"), std::string::npos) << err_;
  const auto attempts = files("trial.json");
  EXPECT_LT(attempts.size(), kNumTrials);
  EXPECT_EQ(run(""), 6);
  EXPECT_EQ(files("trial.json"), attempts) << "a refuted control starts no further trial in a later run either";
}

TEST_F(Run, EndsCleanlyOnSigintAndALaterRunGoesOn) {
  const auto program = start(R"({"sleep_us":30000})");
  ASSERT_TRUE(eventually([&] { return files("done.json").size() == 1 && files("trial.json").size() == 2; }));
  program->kill(SIGINT);
  EXPECT_EQ(program->wait(), 75) << program->err();
  const auto done = files("done.json");
  EXPECT_NE(program->err().find("run again to go on"), std::string::npos) << program->err();
  EXPECT_EQ(files("launch.json").size(), 2U);
  EXPECT_EQ(run(), 0) << err_;
  EXPECT_EQ(files("done.json").size(), kNumTrials);
  for (const auto& path : done) EXPECT_TRUE(files("done.json").contains(path));
  EXPECT_EQ(files("trial.json").size(), kNumTrials + 1U) << "only the interrupted trial has a second attempt";
}

TEST_F(Run, EndsAtOnceOnASecondSigint) {
  const auto program = start(R"({"rules":[{"do":"hang_hard","stage":"steady"}]})");
  ASSERT_TRUE(eventually([&] { return files("rank-00001.jsonl").size() == 1; }));
  std::this_thread::sleep_for(time_allowance(std::chrono::milliseconds(100)));
  const auto begin = std::chrono::steady_clock::now();
  program->kill(SIGINT);
  ASSERT_TRUE(eventually([&] { return program->err().find("interrupted") != std::string::npos; }));
  program->kill(SIGINT);
  EXPECT_EQ(program->wait(), 75) << program->err();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, time_allowance(std::chrono::milliseconds(1900)))
      << "the grace of a clean stop was waited out";
}

TEST_F(Run, LeavesNoProcessWhenTheControllerIsKilledAndThenRedoesOnlyTheTrialInFlight) {
  const auto program = start(R"({"sleep_us":50000,"rules":[{"rank":1,"do":"daemon"}]})");
  ASSERT_TRUE(eventually([&] { return files("done.json").size() == 1 && files("daemon-1.pid").size() == 2; }));
  const auto done = files("done.json");
  EXPECT_GE(processes_of_this_test().size(), 4U) << "wanted: controller, supervisor, a rank, a daemon";
  program->kill(SIGKILL);
  EXPECT_EQ(program->wait(), 128 + SIGKILL);
  EXPECT_TRUE(eventually([&] { return processes_of_this_test().empty(); })) << processes_of_this_test().size() << " processes survive";
  EXPECT_EQ(run(), 0) << err_;
  EXPECT_EQ(files("done.json").size(), kNumTrials);
  for (const auto& path : done) EXPECT_TRUE(files("done.json").contains(path));
  EXPECT_EQ(files("trial.json").size(), kNumTrials + 1U) << "only the trial in flight has a second attempt";
}

// The launches' own durations are the machine's.
std::string without_time_spent(std::string report) {
  const auto begin = report.find("- device-hours spent:");
  if (begin == std::string::npos) throw std::logic_error("no device-hours spent in " + report);
  return report.erase(begin, report.find('\n', begin) - begin);
}

TEST_F(Run, PrintsTheSameTableAfterTheControllerWasKilledAsUndisturbed) {
  const auto program = start(R"({"sleep_us":30000})");
  ASSERT_TRUE(eventually([&] { return files("done.json").size() == 2; }));
  program->kill(SIGKILL);
  program->wait();
  EXPECT_EQ(run(), 0) << err_;
  const std::string disturbed = without_time_spent(out_);
  fs::remove_all(workspace());
  EXPECT_EQ(run(), 0) << err_;
  EXPECT_EQ(without_time_spent(out_), disturbed) << "the fake trainer's step times are fixed, so all columns are equal";
}

TEST_F(Run, TakesEveryAttemptBackFromItsFolderWhenTheDatabaseIsGone) {
  EXPECT_EQ(run(), 0) << err_;
  const std::string table = out_;
  const auto attempts = files("trial.json");
  for (const char* name : {"rematch.db", "rematch.db-wal", "rematch.db-shm"}) fs::remove(workspace() / name);
  EXPECT_EQ(run(), 0) << err_;
  EXPECT_EQ(out_, table);
  EXPECT_EQ(files("trial.json"), attempts) << "nothing was started";
}

TEST_F(Run, RefusesASecondControllerAndNamesTheFirst) {
  const auto first = start(R"({"rules":[{"do":"hang"}]})");
  ASSERT_TRUE(eventually([&] { return !files("rank-00001.jsonl").empty(); }));
  TempDir output;
  ChildProgram second(command({"run", sweep().string()}), {}, output.path());
  EXPECT_EQ(second.wait(), 8);
  EXPECT_NE(second.err().find("is in use by process " + std::to_string(first->pid())), std::string::npos) << second.err();
  EXPECT_NE(second.err().find("--workspace"), std::string::npos) << second.err();
}

TEST_F(Run, ShowsInStatusWhatRunsAndWhatIsDone) {
  const auto program = start(R"({"sleep_us":30000})");
  ASSERT_TRUE(eventually([&] { return files("done.json").size() == 1 && files("trial.json").size() == 2; }));
  TempDir output;
  ChildProgram status(command({"status"}), {}, output.path());
  EXPECT_EQ(status.wait(), 0);
  EXPECT_NE(status.out().find("running in process " + std::to_string(program->pid())), std::string::npos) << status.out();
  program->wait();
  EXPECT_EQ(run("", {"status", "--json"}), 0);
  EXPECT_NE(out_.find("\"num_done\": 4"), std::string::npos) << out_;
  EXPECT_NE(out_.find("\"running\": null"), std::string::npos) << out_;
}

TEST_F(Run, BoundsTheArmsOfAPlanOnceTheControlWasMeasured) {
  EXPECT_EQ(run("", {"plan", sweep().string()}), 0) << err_;
  EXPECT_EQ(out_.find("at most -"), std::string::npos) << out_;
  EXPECT_FALSE(fs::exists(workspace())) << "a plan makes no workspace";
  EXPECT_EQ(run(), 0) << err_;
  EXPECT_EQ(run("", {"plan", sweep().string()}), 0) << err_;
  EXPECT_NE(out_.find("of the control's 210.764 MB peak"), std::string::npos) << out_;
  const std::string bounded = out_;
  EXPECT_EQ(run("", {"run", sweep().string(), "--dry-run"}), 0) << err_;
  EXPECT_EQ(out_, bounded);
}

TEST_F(Run, ShowsWhatThePeakOfAnArmIsMadeOf) {
  EXPECT_EQ(run(), 0) << err_;
  EXPECT_EQ(run("", {"show", "[]"}), 0) << err_;
  EXPECT_NE(out_.find("What the peak is made of (rank 1, backward of step 0)"), std::string::npos) << out_;
  EXPECT_NE(out_.find("moe/moe_act"), std::string::npos) << out_;
  EXPECT_EQ(run("", {"show", "moe_act"}), 0) << err_;
  EXPECT_EQ(out_.find("moe/moe_act"), std::string::npos) << out_;
}

const std::string kPublished = REMATCH_SOURCE_DIR "/sweeps/published/moonlight_16b_8xh100.json";

TEST_F(Run, SetsTheStudyBesideAPublishedTable) {
  EXPECT_EQ(run("", {"run", sweep().string(), "--published", kPublished}), 7) << "no row is of this setting: " << err_;
  EXPECT_NE(err_.find("unmatched: no row of moonlight_16b_8xh100 may be set against this study: its setting differs"), std::string::npos)
      << err_;
  EXPECT_NE(out_.find("another setting: "), std::string::npos) << out_;
  EXPECT_NE(out_.find("| seq_length "), std::string::npos) << out_;
  const std::string table = out_;
  EXPECT_EQ(run("", {"report", "--published", kPublished}), 7) << err_;
  EXPECT_EQ(out_, table) << "`run` and `report` print one report";
  EXPECT_EQ(run("", {"report"}), 0) << err_;
  EXPECT_EQ(out_.find("published"), std::string::npos) << out_;
}

TEST_F(Run, RefusesAPublishedTableThatIsNoneBeforeAnythingIsStarted) {
  const std::string missing = (folder_.path() / "none.json").string();
  EXPECT_EQ(run("", {"run", sweep().string(), "--published", missing}), 2);
  EXPECT_NE(err_.find("--published: " + missing + ": wanted a JSON document, found no such file"), std::string::npos) << err_;
  EXPECT_EQ(run("", {"run", sweep().string(), "--published", sweep().string()}), 2);
  EXPECT_NE(err_.find("wanted JSON"), std::string::npos) << err_;
  EXPECT_FALSE(fs::exists(workspace()));
  EXPECT_EQ(run(), 0) << err_;
  const std::string invalid = REMATCH_SOURCE_DIR "/schemas/examples/published/invalid-bytes-not-as-published.json";
  EXPECT_EQ(run("", {"report", "--published", invalid}), 2);
  EXPECT_NE(err_.find("published.rows[0].peak_allocated.bytes: wanted 66297000000 of 66.297 GB, found 66297000001"), std::string::npos)
      << err_;
  EXPECT_EQ(out_, "");
}

TEST_F(Run, StartsNothingInADryRun) {
  EXPECT_EQ(run("", {"run", sweep().string(), "--dry-run"}), 0) << err_;
  EXPECT_FALSE(fs::exists(workspace()));
}

TEST_F(Run, SaysWhichPlacesItSearchedForATrainer) {
  const TempDir output;
  ChildProgram program({REMATCH_BIN_DIR "/rematch", "run", sweep().string()}, {{"REMATCH_TRAINER", "/no/such/trainer"}}, output.path());
  EXPECT_EQ(program.wait(), 8);
  EXPECT_NE(program.err().find("REMATCH_TRAINER names /no/such/trainer"), std::string::npos) << program.err();
}

TEST_F(Run, EndsUsageErrorsWithTwoAndHelpWithZero) {
  EXPECT_EQ(run("", {"run"}), 2);
  EXPECT_EQ(run("", {"run", sweep().string(), "--no-such-option"}), 2);
  EXPECT_EQ(run("", {"no-such-verb"}), 2);
  EXPECT_EQ(run("", {"run", "--help"}), 0);
  EXPECT_LT(out_.find("Examples:"), out_.find("Options:")) << out_;
  EXPECT_EQ(run("", {"--version"}), 0);
  EXPECT_NE(out_.find("rematch/trial/1"), std::string::npos) << out_;
  EXPECT_EQ(run("", {"--help"}), 0);
  EXPECT_EQ(out_.find("supervise"), std::string::npos) << "the hidden verb is listed";
}

}  // namespace
}  // namespace rematch::tests
