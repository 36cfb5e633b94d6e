#include "orchestrator/rules/compare_published.h"

#include <gtest/gtest.h>

#include "orchestrator/rules/published_peak.h"
#include "orchestrator/rules/published_setting.h"
#include "tests/orchestrator/published_builder.h"

namespace rematch::rules {
namespace {

using protocol::Phase;
using protocol::Published;
using protocol::PublishedEnd;
using protocol::PublishedRow;
using tests::kMegabyte;
using tests::published_peak;
using tests::published_row;

// The control's peak is 1000 MB in backward from the first step on; moe_act's backward needs 900 MB, but from iteration 2 on the optimizer
// needs 940 MB in both.
base::StudyRows simulated_study() {
  tests::StudyBuilder builder("simulated");
  builder.add_arm({"moe_act"});
  builder.run_all("[]");
  builder.run_all("moe_act", {.forward_peak_bytes = 800 * kMegabyte, .backward_peak_bytes = 900 * kMegabyte});
  for (base::AttemptRows& attempt : builder.rows().attempts) tests::raise_phase(attempt, 1, Phase::kOptimizer, 940 * kMegabyte);
  tests::mark_predicted(builder.rows());
  return builder.rows();
}

PublishedRow completed(const std::vector<std::string>& labels, std::int64_t peak_megabytes, std::int64_t after_iteration) {
  PublishedRow row = published_row(labels, PublishedEnd::kCompleted, 20);
  row.peak_allocated = published_peak(peak_megabytes, after_iteration);
  return row;
}

// In a table that has a control.
ComparedRow compare_one(const base::StudyRows& study, const PublishedRow& row) {
  Published published = tests::make_published();
  published.rows = {row};
  if (row.arm != "[]") published.rows.push_back(published_row({}, PublishedEnd::kCompleted, 20));
  return compare_published(study, published).at(0);
}

TEST(ComparePublished, SetsTheLifetimePeakAfterThatIterationBesideThePublishedOne) {
  const ComparedRow row = compare_one(simulated_study(), completed({}, 990, 1));
  ASSERT_TRUE(row.peak);
  EXPECT_EQ(row.peak->own_bytes, 1000 * kMegabyte);
  EXPECT_EQ(row.peak->error_bytes, 10 * kMegabyte);
  EXPECT_NEAR(row.peak->error_fraction.value(), 10.0 / 990, 1e-12);
  EXPECT_EQ(row.peak->own_rank, 0);
  EXPECT_EQ(row.peak->binding_phase, Phase::kBackward);
  EXPECT_FALSE(row.peak->censored);
  EXPECT_EQ(row.peak->floor_bytes, 700 * kMegabyte) << "the optimizer's of iteration 1, not of the later ones";
  EXPECT_EQ(row.peak->floor_distance_bytes, -290 * kMegabyte);
}

TEST(ComparePublished, MarksAPeakThatALabelIndependentPhaseBinds) {
  const ComparedRow first = compare_one(simulated_study(), completed({"moe_act"}, 900, 1));
  EXPECT_EQ(first.peak->own_bytes, 900 * kMegabyte);
  EXPECT_FALSE(first.peak->censored);
  const ComparedRow second = compare_one(simulated_study(), completed({"moe_act"}, 950, 2));
  EXPECT_EQ(second.peak->own_bytes, 940 * kMegabyte);
  EXPECT_EQ(second.peak->binding_phase, Phase::kOptimizer);
  EXPECT_TRUE(second.peak->censored);
  EXPECT_EQ(second.peak->floor_distance_bytes, -10 * kMegabyte);
}

TEST(ComparePublished, GivesDifferencesToTheControlAtTheSameIteration) {
  Published published = tests::make_published();
  published.rows = {completed({}, 990, 2), completed({"moe_act"}, 950, 2)};
  const auto rows = compare_published(simulated_study(), published);
  EXPECT_FALSE(rows[0].delta) << "the control is set against nothing";
  ASSERT_TRUE(rows[1].delta);
  EXPECT_EQ(rows[1].delta->against, "[]");
  EXPECT_EQ(rows[1].delta->published_bytes, -40 * kMegabyte);
  EXPECT_NEAR(rows[1].delta->published_fraction.value(), -40.0 / 990, 1e-12);
  EXPECT_EQ(rows[1].delta->own_bytes, -60 * kMegabyte);
  EXPECT_EQ(rows[1].delta->difference_bytes, -20 * kMegabyte);
  EXPECT_EQ(rows[1].delta->held_bytes, -100 * kMegabyte) << "not censored by the optimizer's peak";
}

TEST(ComparePublished, GivesNoPublishedDifferenceBetweenIterations) {
  Published published = tests::make_published();
  published.rows = {completed({}, 990, 1), completed({"moe_act"}, 950, 2)};
  const auto rows = compare_published(simulated_study(), published);
  EXPECT_FALSE(rows[1].delta->published_bytes);
  EXPECT_FALSE(rows[1].delta->published_fraction);
  EXPECT_FALSE(rows[1].delta->difference_bytes);
  EXPECT_EQ(rows[1].delta->own_bytes, -60 * kMegabyte);
}

TEST(ComparePublished, SetsARowAgainstTheArmThatItsSourceSetsItAgainst) {
  tests::StudyBuilder builder("simulated");
  builder.add_arm({"moe"});
  builder.add_arm({"moe", "layernorm"});
  builder.run_all("[]");
  builder.run_all("moe", {.forward_peak_bytes = 800 * kMegabyte, .backward_peak_bytes = 900 * kMegabyte});
  builder.run_all("moe+layernorm", {.forward_peak_bytes = 800 * kMegabyte, .backward_peak_bytes = 890 * kMegabyte});
  Published published = tests::make_published();
  published.rows = {completed({"moe"}, 640, 2), completed({"moe", "layernorm"}, 630, 2), completed({}, 700, 2)};
  published.rows[1].deltas = {{"step_time_ms", "[]", 3.07, 2, std::nullopt}, {"peak_allocated", "moe", -1.57, 2, std::nullopt}};
  const auto rows = compare_published(builder.rows(), published);
  EXPECT_EQ(rows[1].delta->against, "moe");
  EXPECT_DOUBLE_EQ(rows[1].delta->published_fraction.value(), -0.0157) << "as printed";
  EXPECT_EQ(rows[1].delta->published_bytes, -10 * kMegabyte);
  EXPECT_EQ(rows[1].delta->own_bytes, -10 * kMegabyte);
  EXPECT_EQ(rows[0].delta->against, "[]");
}

TEST(ComparePublished, HasNoCounterpartOfWhatTheSourceLeavesOpenOrTheStudyDidNotReach) {
  PublishedRow row = completed({}, 990, 1);
  row.peak_allocated->after_iteration.reset();
  EXPECT_NE(compare_one(simulated_study(), row).peak->no_counterpart.find("after which iteration"), std::string::npos);
  row = completed({}, 990, 1);
  row.peak_allocated->ranks.reset();
  EXPECT_NE(compare_one(simulated_study(), row).peak->no_counterpart.find("of which ranks"), std::string::npos);
  const ComparedRow late = compare_one(simulated_study(), completed({"moe_act"}, 990, 21));
  EXPECT_EQ(late.peak->no_counterpart, "iteration 21 was not completed here");
  EXPECT_FALSE(late.peak->own_bytes || late.peak->error_bytes || late.peak->floor_bytes || late.peak->binding_phase);
  ASSERT_TRUE(late.delta);
  EXPECT_FALSE(late.delta->own_bytes || late.delta->held_bytes);
}

struct Refusal {
  std::string reason;
  void (*change)(PublishedRow&, Published&);
};

TEST(ComparePublished, HasNoNumbersOfARowThatIsNotOfThisStudy) {
  const std::vector<Refusal> refusals = {
      {"no control was run", [](PublishedRow& row, Published&) { row.comparable = false, row.reason = "no control was run"; }},
      {"it is fp8, the study bf16", [](PublishedRow& row, Published&) { row.precision = "fp8"; }},
      {"the table has no row without recompute", [](PublishedRow& row, Published&) { row = completed({"moe_act"}, 900, 1); }},
      {"the study has no such arm", [](PublishedRow& row, Published&) { row.arm = "mlp"; }},
      {"another setting: 2 of its fields differ",
       [](PublishedRow&, Published& all) { all.setting.seq_length = 4096, all.setting.layout.world_size = 8; }},
  };
  for (const Refusal& refusal : refusals) {
    Published published = tests::make_published();
    PublishedRow row = completed({}, 990, 1);
    refusal.change(row, published);
    published.rows = {row};
    const ComparedRow compared = compare_published(simulated_study(), published).at(0);
    EXPECT_NE(compared.not_comparable.find(refusal.reason), std::string::npos) << compared.not_comparable;
    EXPECT_FALSE(compared.peak || compared.delta || compared.outcome.own || compared.outcome.agreement) << refusal.reason;
  }
}

TEST(SettingDifferences, AreOfEveryFieldThatTheSourceStates) {
  struct Case {
    SettingDifference wanted;
    void (*change)(Published&);
  };
  const std::vector<Case> cases = {
      {{"seq_length", "4096", "64"}, [](Published& all) { all.setting.seq_length = 4096; }},
      {{"micro_batch_size", "2", "1"}, [](Published& all) { all.setting.micro_batch_size = 2; }},
      {{"global_batch_size", "8", "4"}, [](Published& all) { all.setting.global_batch_size = 8; }},
      {{"attention", "unfused", "fused"}, [](Published& all) { all.setting.attention = "unfused"; }},
      {{"preset", "llama3_70b", "moonlight_16b"},
       [](Published& all) {
         all.setting.preset = "llama3_70b";
         all.setting.changed_fields = {{"hidden_size", std::int64_t{256}}, {"num_layers", std::int64_t{4}}};
       }},
      {{"world_size", "8", "2"}, [](Published& all) { all.setting.layout.world_size = 8; }},
      {{"tensor_model_parallel_size", "2", "1"}, [](Published& all) { all.setting.layout.tensor_model_parallel_size = 2; }},
      {{"pipeline_model_parallel_size", "2", "1"}, [](Published& all) { all.setting.layout.pipeline_model_parallel_size = 2; }},
      {{"virtual_pipeline_model_parallel_size", "5", "1"},
       [](Published& all) { all.setting.layout.virtual_pipeline_model_parallel_size = 5; }},
      {{"context_parallel_size", "2", "1"}, [](Published& all) { all.setting.layout.context_parallel_size = 2; }},
      {{"expert_model_parallel_size", "2", "1"}, [](Published& all) { all.setting.layout.expert_model_parallel_size = 2; }},
      {{"data_parallel_size", "1", "2"}, [](Published& all) { all.setting.layout.data_parallel_size = 1; }},
      {{"expert_data_parallel_size", "1", "2"}, [](Published& all) { all.setting.layout.expert_data_parallel_size = 1; }},
      {{"core_revision", "d98e8a64", "24bad8e6"}, [](Published& all) { all.source.core_revision = "d98e8a64"; }},
  };
  const protocol::Trial trial = simulated_study().plan.trials.front();
  EXPECT_EQ(setting_differences(tests::make_published(), trial).size(), 0U);
  for (const Case& one : cases) {
    Published published = tests::make_published();
    one.change(published);
    const auto differences = setting_differences(published, trial);
    ASSERT_EQ(differences.size(), 1U) << one.wanted.field;
    EXPECT_EQ(differences[0].field, one.wanted.field);
    EXPECT_EQ(differences[0].published, one.wanted.published);
    EXPECT_EQ(differences[0].here, one.wanted.here);
  }
}

TEST(SettingDifferences, TakeASettingWhoseChangedFieldsAreTheStudys) {
  Published published = tests::make_published();
  published.setting.preset = "moonlight_16b";
  published.setting.changed_fields = {{"hidden_size", std::int64_t{256}}, {"num_layers", std::int64_t{4}}};
  const protocol::Trial trial = simulated_study().plan.trials.front();
  EXPECT_EQ(setting_differences(published, trial).size(), 0U);
  published.setting.changed_fields["num_layers"] = std::int64_t{27};
  published.setting.changed_fields.erase("hidden_size");
  const auto differences = setting_differences(published, trial);
  EXPECT_EQ(differences, (std::vector<SettingDifference>{{"model.num_layers", "27", "4"}, {"model.hidden_size", "the preset's", "256"}}));
}

TEST(ComparePublished, SaysOfAnArmWithoutARunThatNoneHasEnded) {
  tests::StudyBuilder builder("simulated");
  EXPECT_EQ(compare_one(builder.rows(), completed({}, 990, 1)).not_comparable, "no run of it has ended yet");
}

// --- ranks ---

std::vector<std::int64_t> numbers_of(const std::vector<const base::RankRows*>& ranks) {
  std::vector<std::int64_t> numbers;
  for (const base::RankRows* rank : ranks) numbers.push_back(rank->rank);
  return numbers;
}

TEST(RanksSeen, AreThoseOfTheFirstDataParallelRank) {
  tests::StudyBuilder builder("layout", {.world_size = 8, .tensor_model_parallel_size = 2, .pipeline_model_parallel_size = 2});
  const base::AttemptRows& attempt = builder.run("[]");
  EXPECT_EQ(numbers_of(ranks_seen(attempt, "data-parallel rank 0")), (std::vector<std::int64_t>{0, 1, 4, 5}));
  EXPECT_EQ(numbers_of(ranks_seen(attempt, "rank 0")), (std::vector<std::int64_t>{0}));
  EXPECT_TRUE(ranks_seen(attempt, "every rank").empty());
}

TEST(RanksSeen, AreRepresentedByTheRanksOfTheirClassesThatWereRun) {
  tests::StudyBuilder builder("layout", {.world_size = 8, .tensor_model_parallel_size = 2, .pipeline_model_parallel_size = 2});
  tests::assume_device(builder.rows(), 1000 * kMegabyte);
  base::AttemptRows& attempt = builder.run("[]");
  const auto started = protocol::started_ranks(attempt.trial);
  ASSERT_EQ(started, (std::vector<std::int64_t>{0, 4}));
  std::erase_if(attempt.ranks, [](const base::RankRows& rank) { return rank.rank != 0 && rank.rank != 4; });
  EXPECT_EQ(numbers_of(ranks_seen(attempt, "data-parallel rank 0")), started);
  EXPECT_EQ(numbers_of(ranks_seen(attempt, "rank 0")), (std::vector<std::int64_t>{0}));
}

// --- outcomes ---

struct OutcomeCase {
  const char* name;
  PublishedEnd published;
  std::optional<std::int64_t> published_iterations;
  std::optional<protocol::Stage> published_stage;
  std::optional<std::int64_t> fails_at_step;  // of the study's own run
  std::optional<Agreement> agreement;
};

TEST(ComparePublished, SaysWhetherTheOutcomesAgree) {
  using enum PublishedEnd;
  using protocol::Stage;
  const std::vector<OutcomeCase> cases = {
      {"both complete", kCompleted, 12, {}, {}, Agreement::kAgrees},
      {"both fail in iteration 2", kOutOfMemory, 1, {}, 1, Agreement::kAgrees},
      {"another iteration", kOutOfMemory, 0, {}, 1, Agreement::kElsewhere},
      {"an iteration that is not stated", kOutOfMemory, {}, {}, 1, Agreement::kAgrees},
      {"the same stage", kOutOfMemory, 1, Stage::kWarm, 1, Agreement::kAgrees},
      {"another stage", kOutOfMemory, 1, Stage::kOptimizerInit, 1, Agreement::kElsewhere},
      {"fails only there", kOutOfMemory, 1, {}, {}, Agreement::kDisagrees},
      {"fails only here", kCompleted, 12, {}, 1, Agreement::kDisagrees},
      {"not stated", kNotStated, {}, {}, {}, std::nullopt},
  };
  for (const OutcomeCase& outcome : cases) {
    SCOPED_TRACE(outcome.name);
    tests::StudyBuilder builder("simulated");
    for (protocol::Trial& trial : builder.plan().trials) trial.backend.memory_limit_bytes = 1000 * kMegabyte;
    if (outcome.fails_at_step)
      builder.run_out_of_memory("[]", protocol::Stage::kWarm, Phase::kForward, *outcome.fails_at_step);
    else
      builder.run("[]");
    PublishedRow row = published_row({}, outcome.published, outcome.published_iterations);
    row.outcome.stage = outcome.published_stage;
    EXPECT_EQ(compare_one(builder.rows(), row).outcome.agreement, outcome.agreement);
  }
}

TEST(ComparePublished, HasNoOutcomeOfAStudyThatCannotRunOutOfMemory) {
  base::StudyRows study = simulated_study();
  for (base::AttemptRows& attempt : study.attempts) attempt.trial.backend.memory_limit_bytes.reset();
  const ComparedRow row = compare_one(study, published_row({}, PublishedEnd::kOutOfMemory, 1));
  EXPECT_FALSE(row.outcome.own);
  EXPECT_FALSE(row.outcome.agreement);
  EXPECT_NE(row.outcome.no_counterpart.find("no memory limit"), std::string::npos);
}

TEST(ComparePublished, ExpandsARowThatNamesNoArmToEveryArm) {
  PublishedRow row = published_row({}, PublishedEnd::kOutOfMemory, 0);
  row.arm.reset();
  row.recompute.reset();
  Published published = tests::make_published();
  published.rows = {row};
  const auto rows = compare_published(simulated_study(), published);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].arm, "[]");
  EXPECT_EQ(rows[1].arm, "moe_act");
  published.rows[0].comparable = false;
  published.rows[0].reason = "golden";
  EXPECT_EQ(compare_published(simulated_study(), published).size(), 1U) << "one that is not comparable says its reason once";
}

}  // namespace
}  // namespace rematch::rules
