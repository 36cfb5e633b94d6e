#include "orchestrator/store/effect_rows.h"

#include <gtest/gtest.h>

#include "orchestrator/rules/judge.h"
#include "orchestrator/store/database.h"
#include "orchestrator/store/store.h"
#include "tests/orchestrator/arm_of.h"
#include "tests/orchestrator/study_builder.h"
#include "tests/support/temp_dir.h"

namespace rematch::store {
namespace {

class EffectRows : public ::testing::Test {
 protected:
  base::StudyVerdict put(const base::StudyRows& study) {
    Store store = Store::open(path_).value();
    store.put_plan(study.plan);
    base::StudyVerdict verdict = rules::judge_study(study);
    store.put_verdicts(study.plan.study_id, verdict);
    store.put_verdicts(study.plan.study_id, verdict);  // replaces them
    return verdict;
  }
  std::vector<ValueRow> query(const std::string& sql) { return Database(path_).query(sql); }

  tests::TempDir temp_;
  std::filesystem::path path_ = temp_.path() / "rematch.db";
};

TEST_F(EffectRows, HoldTheVerdictsOfEveryArmAndTheFit) {
  const base::StudyVerdict verdict = put(tests::clean_study().rows());
  const base::Effect& effect = *tests::arm_of(verdict, "moe_act").effect;
  const auto rows = query(
      "SELECT against, against_control, peak_delta_bytes, memory_verdict, memory_low_bytes, time_fraction, time_low, time_high, "
      "time_verdict, blocks_needed FROM effect WHERE arm = 'moe_act'");
  ASSERT_EQ(rows.size(), 1U);
  const ValueRow wanted = {std::string("[]"),
                           std::int64_t{1},
                           effect.peak_delta_bytes,
                           std::string("lower"),
                           std::monostate{},
                           effect.time->fraction,
                           effect.time->low,
                           effect.time->high,
                           std::string(to_string(effect.time->word)),
                           effect.time->blocks_needed.value()};
  EXPECT_EQ(rows.front(), wanted);
  EXPECT_EQ(query("SELECT * FROM effect").size(), 2U);
  const base::TimeFit& fit = *verdict.groups.front().fit;
  const ValueRow fit_row = {fit.num_runs,   fit.degrees_of_freedom, fit.residual_sd,  fit.critical_value,
                            fit.confidence, fit.drift_per_slot,     fit.drift_p_value};
  EXPECT_EQ(
      query("SELECT num_runs, degrees_of_freedom, residual_sd, critical_value, confidence, drift_per_slot, drift_p_value FROM time_fit"),
      std::vector<ValueRow>{fit_row});
}

TEST_F(EffectRows, HoldNullsWhereNothingWasFitted) {
  tests::StudyBuilder builder("short");
  builder.add_arm({"moe_act"});
  builder.run("[]");
  builder.run("moe_act");
  put(builder.rows());
  EXPECT_EQ(query("SELECT time_fraction, time_verdict, blocks_needed FROM effect"), std::vector<ValueRow>{ValueRow(3)});
  EXPECT_TRUE(query("SELECT * FROM time_fit").empty());
}

TEST_F(EffectRows, VerdictsHoldPassRatesAndTheEvidenceOfSteadyState) {
  const base::StudyVerdict verdict = put(tests::clean_study().rows());
  const base::PassRate rate = tests::arm_of(verdict, "moe_act").pass_rate.value();
  EXPECT_EQ(query("SELECT pass_rate_low, pass_rate_high FROM verdict WHERE scope = 'arm' AND subject = 'moe_act'"),
            std::vector<ValueRow>({{rate.low, rate.high}}));
  const base::RunFigures& figures = *verdict.runs.front().figures;
  const auto rows = query(
      "SELECT first_steady_step, warmup_reached, peak_growth_bytes, peak_growth_allowed_bytes, mean_step_time_ns, window_step_time_ns "
      "FROM verdict WHERE scope = 'run' AND subject = '" +
      verdict.runs.front().trial_id + "/1'");
  const ValueRow wanted = {figures.first_steady_step,         std::int64_t{figures.warmup_reached}, figures.peak_growth_bytes,
                           figures.peak_growth_allowed_bytes, *figures.means.mean_step_time_ns,     *figures.means.window_step_time_ns};
  EXPECT_EQ(rows, std::vector<ValueRow>{wanted});
  EXPECT_EQ(figures.first_steady_step, 2);
  EXPECT_GT(figures.peak_growth_allowed_bytes, 0);
}

}  // namespace
}  // namespace rematch::store
