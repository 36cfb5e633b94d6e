#include "orchestrator/store/store.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <tuple>

#include "orchestrator/base/study_plan.h"
#include "orchestrator/collect/collect.h"
#include "orchestrator/rules/judge.h"
#include "orchestrator/store/kept_rows.h"
#include "orchestrator/store/migrations.h"
#include "tests/orchestrator/attempt_files.h"
#include "tests/orchestrator/predicted_study.h"
#include "tests/orchestrator/store/dump_rows.h"
#include "tests/orchestrator/store/store_fixture.h"
#include "tests/orchestrator/study_builder.h"
#include "tests/support/temp_dir.h"

namespace rematch::store {
namespace {

class StoreTest : public StoreFixture {
 protected:
  std::int64_t count(const std::string& table) {
    return std::get<std::int64_t>(Database(path_).query("SELECT count(*) FROM " + table).front().front());
  }
};

// All that a rank's records say, as the lines they would be.
std::string record_text(const base::RankRows& rank) {
  std::string text = std::to_string(rank.rank) + (rank.record_complete ? " complete" : " not complete");
  for (const std::string& problem : rank.record_problems) text += "\n" + problem;
  if (rank.hello) text += "\n" + protocol::to_line(*rank.hello);
  if (rank.model) text += "\n" + protocol::to_line(*rank.model);
  for (const auto& stage : rank.stages) text += "\n" + protocol::to_line(stage);
  for (const auto& step : rank.steps) text += "\n" + protocol::to_line(step);
  if (rank.oom) text += "\n" + protocol::to_line(*rank.oom);
  for (const auto& error : rank.errors) text += "\n" + protocol::to_line(error);
  if (rank.bye) text += "\n" + protocol::to_line(*rank.bye);
  return text;
}

void expect_same_attempt(const base::AttemptRows& loaded, const base::AttemptRows& put) {
  EXPECT_EQ(protocol::to_json(loaded.trial), protocol::to_json(put.trial));
  EXPECT_EQ(protocol::to_json(loaded.launch), protocol::to_json(put.launch));
  EXPECT_EQ(loaded.study_id, put.study_id);
  EXPECT_EQ(loaded.attempt, put.attempt);
  ASSERT_EQ(loaded.ranks.size(), put.ranks.size());
  for (std::size_t r = 0; r < put.ranks.size(); ++r) {
    EXPECT_EQ(record_text(loaded.ranks[r]), record_text(put.ranks[r]));
    EXPECT_EQ(loaded.ranks[r].exit.exit_code, put.ranks[r].exit.exit_code);
    EXPECT_EQ(loaded.ranks[r].exit.signal, put.ranks[r].exit.signal);
    EXPECT_EQ(loaded.ranks[r].exit.ended_by_supervisor, put.ranks[r].exit.ended_by_supervisor);
    EXPECT_EQ(loaded.ranks[r].exit.end_mono_ns, put.ranks[r].exit.end_mono_ns);
    EXPECT_EQ(loaded.ranks[r].exit.node, put.ranks[r].exit.node);
  }
  ASSERT_EQ(loaded.failure.has_value(), put.failure.has_value());
  if (!put.failure) return;
  EXPECT_EQ(loaded.failure->kind, put.failure->kind);
  EXPECT_EQ(loaded.failure->stage, put.failure->stage);
  EXPECT_EQ(loaded.failure->step, put.failure->step);
  EXPECT_EQ(loaded.failure->phase, put.failure->phase);
  EXPECT_EQ(loaded.failure->capacity_bytes, put.failure->capacity_bytes);
  EXPECT_EQ(loaded.failure->message, put.failure->message);
}

// Attributions of the step of each rank's largest peak, communication of its last.
void keep_what_is_stored_of_steps(base::StudyRows& study) {
  for (base::AttemptRows& attempt : study.attempts)
    for (base::RankRows& rank : attempt.ranks) {
      const protocol::StepRecord* hottest = base::hottest_step(rank);
      for (protocol::StepRecord& step : rank.steps) {
        if (&step != hottest) step.peak_attribution.reset();
        if (&step != &rank.steps.back()) step.communication.clear();
      }
    }
}

void sort_as_loaded(std::vector<base::AttemptRows>& attempts) {
  std::stable_sort(attempts.begin(), attempts.end(), [](const base::AttemptRows& a, const base::AttemptRows& b) {
    return std::pair(a.trial.block, a.trial.slot) < std::pair(b.trial.block, b.trial.slot);
  });
}

TEST_F(StoreTest, GivesBackEveryFieldThatWasPut) {
  base::StudyRows study = tests::capacity_study().rows();
  protocol::ErrorRecord error;
  error.kind = protocol::FailureKind::kComm;
  error.message = "peer gone";
  error.failed_rank = 1;
  study.attempts[0].ranks[1].errors = {error, error};
  study.attempts[0].ranks[1].hello.reset();
  study.attempts[0].ranks[1].record_problems = {"line 7: \"odd\"", "torn"};
  study.attempts.back().ranks[0].steps[3].loss.reset();
  study.attempts.back().ranks[0].steps[3].aux_losses = {{"load_balancing_loss", 0.1 + 0.2}, {"z \"loss\"", std::nullopt}};
  {
    Store store = open();
    put(store, study);
  }
  const base::StudyRows loaded = open().load_study("capacity").value();
  EXPECT_EQ(base::to_json(loaded.plan), base::to_json(study.plan));
  keep_what_is_stored_of_steps(study);
  sort_as_loaded(study.attempts);
  ASSERT_EQ(loaded.attempts.size(), study.attempts.size());
  for (std::size_t i = 0; i < study.attempts.size(); ++i) expect_same_attempt(loaded.attempts[i], study.attempts[i]);
}

TEST_F(StoreTest, LoadsTheChosenTrialsAlone) {
  const base::StudyRows study = tests::clean_study().rows();
  Store store = open();
  put(store, study);
  const base::StudyRows all = store.load_study("clean").value();
  const std::string id = study.plan.study_id;
  base::StudyPlan head = study.plan;
  head.trials.clear();
  EXPECT_EQ(base::to_json(store.load_plan_head(id)), base::to_json(head));
  EXPECT_TRUE(store.load_attempts(id, {}).attempts.empty());

  const std::string other = study.plan.trials.back().trial_id;
  ASSERT_NE(study.plan.trials.back().arm, "[]");
  const base::StudyRows chosen = store.load_attempts(id, {{"[]", "no such arm"}, {other}});
  std::vector<const base::AttemptRows*> wanted;
  for (const base::AttemptRows& attempt : all.attempts)
    if (attempt.trial.arm == "[]" || attempt.trial.trial_id == other) wanted.push_back(&attempt);
  ASSERT_EQ(chosen.attempts.size(), wanted.size());
  ASSERT_LT(wanted.size(), all.attempts.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) expect_same_attempt(chosen.attempts[i], *wanted[i]);
  EXPECT_EQ(chosen.plan.trials.size(), wanted.size());
  EXPECT_EQ(chosen.plan.arms.size(), study.plan.arms.size());
}

TEST_F(StoreTest, FindsTrialsByTheBeginningOfTheirIds) {
  const base::StudyRows study = tests::clean_study().rows();
  Store store = open();
  put(store, study);
  const protocol::Trial& trial = study.plan.trials[1];
  const std::vector<TrialPlace> found = store.find_trials(trial.trial_id);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found.front().study_id, study.plan.study_id);
  EXPECT_EQ(found.front().arm, trial.arm);
  const std::vector<TrialPlace> all = store.find_trials("", study.plan.study_id);
  ASSERT_EQ(all.size(), study.plan.trials.size());
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i].trial_id, study.plan.trials[i].trial_id);
  EXPECT_TRUE(store.find_trials("", "another").empty());
  EXPECT_TRUE(store.find_trials("%").empty());
}

TEST_F(StoreTest, ReplacesAnAttemptThatIsPutAgain) {
  const base::StudyRows study = tests::capacity_study().rows();
  Store store = open();
  put(store, study);
  const std::string before = tests::dump_rows(path_);
  put(store, study);
  EXPECT_EQ(tests::dump_rows(path_), before);
  base::AttemptRows shorter = study.attempts.back();
  shorter.ranks[0].steps.resize(1);
  store.put_attempt(shorter);
  EXPECT_NE(tests::dump_rows(path_), before);
  const auto num_verdicts = [&] { return count("verdict") + count("diagnosis") + count("effect"); };
  EXPECT_EQ(num_verdicts(), 0) << "what was judged of other rows holds no more";
  store.put_attempt(study.attempts.back());
  store.put_verdicts(study.plan.study_id, rules::judge_study(study));
  EXPECT_EQ(tests::dump_rows(path_), before);
}

TEST_F(StoreTest, HasTheSameRowsAfterTheDatabaseWasDeletedAndMadeAgainFromTheFolders) {
  const base::StudyRows study = tests::capacity_study().rows();
  std::vector<std::filesystem::path> folders;
  for (const base::AttemptRows& attempt : study.attempts)
    folders.push_back(tests::write_attempt(temp_.path() / "trials" / attempt.trial.trial_id, attempt));
  auto rebuild = [&] {
    Store store = open();
    store.put_plan(base::parse_study_plan(base::to_json(study.plan)));
    for (const auto& folder : folders) store.put_attempt(collect::collect_attempt(folder, study.plan.study_id));
    store.put_verdicts(study.plan.study_id, rules::judge_study(store.load_study(study.plan.study_id).value()));
  };
  rebuild();
  const std::string before = tests::dump_rows(path_);
  std::filesystem::remove(path_);
  std::reverse(folders.begin(), folders.end());
  rebuild();
  EXPECT_EQ(tests::dump_rows(path_), before);
  EXPECT_GT(before.size(), 10'000U);
}

TEST_F(StoreTest, KeepsAttemptsOfTrialsThatAreStillPlannedAndDropsTheOthers) {
  base::StudyRows study = tests::clean_study().rows();
  Store store = open();
  put(store, study);
  store.put_plan(study.plan);
  EXPECT_EQ(count("attempt"), 8);
  std::erase_if(study.plan.trials, [](const protocol::Trial& trial) { return trial.arm == "moe_act"; });
  std::erase_if(study.plan.arms, [](const base::ArmRow& arm) { return arm.arm == "moe_act"; });
  store.put_plan(study.plan);
  EXPECT_EQ(count("attempt"), 6);
  EXPECT_EQ(count("arm"), 3);
}

TEST_F(StoreTest, RefusesAnAttemptOfATrialThatWasNeverPlanned) {
  base::StudyRows study = tests::clean_study().rows();
  Store store = open();
  store.put_plan(study.plan);
  study.attempts[0].trial.trial_id = "00000000000000ff";
  EXPECT_THROW(store.put_attempt(study.attempts[0]), StoreError);
  EXPECT_EQ(count("attempt"), 0);
  EXPECT_EQ(count("step"), 0);
}

TEST_F(StoreTest, HoldsThePeaksOfEveryRankStepAndPhase) {
  Store store = open();
  put(store, tests::clean_study().rows());
  Database database(path_);
  const auto rows =
      database.query("SELECT count(*), max(peak_allocated_bytes) FROM peaks WHERE arm = 'moe_act' AND rank = 1 AND phase = 'backward'");
  EXPECT_EQ(std::get<std::int64_t>(rows[0][0]), 2 * 20);
  EXPECT_EQ(std::get<std::int64_t>(rows[0][1]), 830 * tests::kMegabyte);
}

TEST_F(StoreTest, HoldsTheAttributionOfTheStepOfEachRanksLargestPeak) {
  base::StudyRows study = tests::clean_study().rows();
  for (base::RankRows& rank : study.attempts[0].ranks) {
    rank.steps[7].phases[protocol::Phase::kBackward].peak_allocated_bytes += 512;
    rank.steps[7].peak_attribution->front().bytes += 512;
  }
  Store store = open();
  put(store, study);
  const std::string& trial_id = study.attempts[0].trial.trial_id;
  const auto rows = Database(path_).query(
      "SELECT rank, source, step, sum(bytes) FROM peak_attribution WHERE trial_id = ? GROUP BY 1, 2, 3 ORDER BY rank", {trial_id});
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0], (ValueRow{std::int64_t{0}, std::string("step"), std::int64_t{7}, 1000 * tests::kMegabyte + 512}));
  EXPECT_EQ(rows[1], (ValueRow{std::int64_t{1}, std::string("step"), std::int64_t{7}, 950 * tests::kMegabyte + 512}));
}

TEST_F(StoreTest, ShowsTheHotRanksPeakOfEachArmByRoleAndRegion) {
  Store store = open();
  put(store, tests::clean_study().rows());
  Database database(path_);
  const auto rows = database.query("SELECT arm, rank, source, sum(bytes), sum(share) FROM attribution GROUP BY arm ORDER BY arm");
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0], (ValueRow{std::string("[]"), std::int64_t{0}, std::string("step"), 1000 * tests::kMegabyte, 1.0}));
  EXPECT_EQ(std::get<std::int64_t>(rows[2][3]), 880 * tests::kMegabyte);
  const auto part = database.query("SELECT bytes FROM attribution WHERE arm = '[]' AND role = 'activations' AND region = 'moe/moe_act'");
  ASSERT_EQ(part.size(), 1U);
  EXPECT_EQ(std::get<std::int64_t>(part[0][0]), 120 * tests::kMegabyte);
}

TEST_F(StoreTest, FindsThePeakOfAControlByItsGroupInAnyStudy) {
  Store store = open();
  EXPECT_FALSE(store.control_peak(tests::hex_id(0xbb)));
  put(store, tests::clean_study().rows());
  const auto control = store.control_peak(tests::hex_id(0xbb));
  ASSERT_TRUE(control);
  EXPECT_EQ(control->study, "clean");
  EXPECT_EQ(control->provenance, protocol::Provenance::kModelledDevice);
  EXPECT_EQ(control->peak.moment, base::Moment::kPeak);
  EXPECT_EQ(control->peak.rank, 0);
  EXPECT_EQ(control->peak.step, 0);
  EXPECT_EQ(control->peak.phase, protocol::Phase::kBackward);
  EXPECT_EQ(control->peak.attribution, tests::make_attribution(1000 * tests::kMegabyte));
  EXPECT_FALSE(store.control_peak(tests::hex_id(0xcc)));
}

TEST_F(StoreTest, FindsWhatAControlHeldWhenItRanOutOfMemoryOnlyWhenNoneEndedWell) {
  base::StudyRows study = tests::capacity_study().rows();
  Store store = open();
  put(store, study);
  const auto control = store.control_peak(tests::hex_id(0xbb));
  ASSERT_TRUE(control);
  EXPECT_EQ(control->peak.moment, base::Moment::kOutOfMemory);
  EXPECT_EQ(control->peak.phase, protocol::Phase::kForward);
  EXPECT_EQ(control->peak.step, 1);
  EXPECT_EQ(control->peak.attribution, tests::make_attribution(960 * tests::kMegabyte));
  base::StudyRows smaller = tests::clean_study().rows();
  smaller.plan.study_id = "abc0000000000000";
  for (base::AttemptRows& attempt : smaller.attempts) attempt.study_id = smaller.plan.study_id;
  put(store, smaller);
  EXPECT_EQ(store.control_peak(tests::hex_id(0xbb))->study, "clean");
}

TEST_F(StoreTest, HoldsTheVerdictOfTheStudyItsArmsAndItsRuns) {
  Store store = open();
  put(store, tests::clean_study().rows());
  EXPECT_EQ(count("verdict WHERE scope = 'study' AND outcome = 'usable'"), 1);
  EXPECT_EQ(count("verdict WHERE scope = 'arm'"), 4);
  EXPECT_EQ(count("verdict WHERE scope = 'run' AND outcome = 'pass' AND peak_allocated_bytes > 0"), 8);
  EXPECT_EQ(count("verdict WHERE scope = 'arm' AND outcome = 'inactive' AND peak_allocated_bytes IS NULL"), 1);
}

TEST_F(StoreTest, FindsAStudyByNameIdOrUnambiguousPrefixOfEither) {
  Store store = open();
  EXPECT_FALSE(store.load_study(""));
  put(store, tests::clean_study("first").rows());
  EXPECT_TRUE(store.load_study(""));
  base::StudyRows other = tests::clean_study("firstling").rows();
  other.plan.study_id = "abc0000000000000";
  for (base::AttemptRows& attempt : other.attempts) attempt.study_id = other.plan.study_id;
  put(store, other);
  EXPECT_EQ(store.load_study("first").value().plan.name, "first");
  EXPECT_EQ(store.load_study("firstl").value().plan.name, "firstling");
  EXPECT_EQ(store.load_study("abc").value().plan.name, "firstling");
  EXPECT_NE(store.load_study("fir").error().message.find("several studies match: first (0000000000005eed, modelled-device), firstling"),
            std::string::npos);
  EXPECT_NE(store.load_study("none").error().message.find("there are: first"), std::string::npos);
  EXPECT_FALSE(store.load_study(""));
  EXPECT_EQ(store.studies().size(), 2U);
  EXPECT_EQ(store.studies()[0].num_trials, 8);
  EXPECT_EQ(store.studies()[0].num_attempts, 8);
}

TEST_F(StoreTest, TellsAPredictionFromTheStudyOfTheSameName) {
  Store store = open();
  put(store, tests::clean_study("same").rows());
  base::StudyRows predicted = tests::clean_study("same").rows();
  tests::mark_predicted(predicted);
  predicted.plan.study_id = "abc0000000000000";
  for (base::AttemptRows& attempt : predicted.attempts) attempt.study_id = predicted.plan.study_id;
  put(store, predicted);
  EXPECT_NE(store.load_study("same").error().message.find("same (0000000000005eed, modelled-device), same (abc0000000000000, predicted)"),
            std::string::npos)
      << store.load_study("same").error().message;
}

TEST_F(StoreTest, ClearsEveryRow) {
  Store store = open();
  put(store, tests::capacity_study().rows());
  store.replace_all([] {});
  for (const char* table : {"study",         "grp",        "arm",        "trial",       "attempt",
                            "rank",          "stage",      "step",       "phase",       "label_count",
                            "rank_oom",      "rank_error", "failure",    "verdict",     "peak_attribution",
                            "communication", "work",       "moved_rank", "interaction", "decision"})
    EXPECT_EQ(count(table), 0) << table;
}

TEST_F(StoreTest, RefusesADatabaseOfANewerProgramAndSaysWhatToDo) {
  open();
  Database(path_).execute_script("PRAGMA user_version = 999");
  const auto result = Store::open(path_);
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().message.find("schema version is 999"), std::string::npos);
  EXPECT_NE(result.error().message.find("rematch ingest"), std::string::npos);
}

TEST_F(StoreTest, RefusesAFileThatIsNoDatabase) {
  std::ofstream(path_) << std::string(4096, 'x');
  const auto result = Store::open(path_);
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().message.find("rematch ingest --rebuild"), std::string::npos) << result.error().message;
}

TEST_F(StoreTest, ReplacesAllOrNothing) {
  const base::StudyRows study = tests::clean_study().rows();
  Store store = open();
  put(store, study);
  const auto broken = [&] {
    store.put_plan(study.plan);
    throw std::runtime_error("in the middle");
  };
  EXPECT_THROW(store.replace_all(broken), std::runtime_error);
  EXPECT_EQ(store.load_study("clean").value().attempts.size(), study.attempts.size());
  store.replace_all([] {});
  EXPECT_TRUE(store.studies().empty());
  put(store, study);
  EXPECT_EQ(store.studies().size(), 1U) << "later changes stand for themselves again";
}

TEST_F(StoreTest, RowsLessWhatIsNotKeptAreThoseThatComeBack) {
  base::StudyRows study = tests::clean_study().rows();
  Store store = open();
  put(store, study);
  const base::StudyRows loaded = store.load_study("clean").value();
  ASSERT_EQ(loaded.attempts.size(), study.attempts.size());
  const auto order = [](const base::AttemptRows& rows) { return std::tuple(rows.trial.block, rows.trial.slot, rows.attempt); };
  std::sort(study.attempts.begin(), study.attempts.end(), [&](const auto& a, const auto& b) { return order(a) < order(b); });
  for (std::size_t i = 0; i < study.attempts.size(); ++i) {
    drop_what_is_not_kept(study.attempts[i]);
    for (std::size_t rank = 0; rank < study.attempts[i].ranks.size(); ++rank)
      EXPECT_EQ(record_text(loaded.attempts[i].ranks[rank]), record_text(study.attempts[i].ranks[rank]));
  }
}

}  // namespace
}  // namespace rematch::store
