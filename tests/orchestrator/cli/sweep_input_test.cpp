// What `plan` and `run` do before anything is started, with the fake trainer as the one that is asked.
#include "orchestrator/cli/sweep_input.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "orchestrator/base/study_plan.h"
#include "orchestrator/cli/plan_text.h"
#include "tests/support/temp_dir.h"

namespace rematch::cli {
namespace {

const std::string kFirstSweep = REMATCH_SOURCE_DIR "/sweeps/first.yaml";

class LoadSweep : public testing::Test {
 protected:
  std::variant<SweepInput, Exit> load(const std::string& path, const std::vector<std::string>& set_options = {}) {
    GlobalOptions options;
    options.trainer = REMATCH_BIN_DIR "/fake_trainer";
    return load_sweep({path, set_options}, options, {out_, err_});
  }
  SweepInput loaded(const std::vector<std::string>& set_options = {}) {
    auto result = load(kFirstSweep, set_options);
    EXPECT_TRUE(std::holds_alternative<SweepInput>(result)) << err_.str();
    return std::get<SweepInput>(std::move(result));
  }
  std::string write(const std::string& text) {
    const auto path = folder_.path() / "s.yaml";
    std::ofstream(path) << text;
    return path;
  }
  static Exit exit_of(const std::variant<SweepInput, Exit>& result) {
    return std::holds_alternative<Exit>(result) ? std::get<Exit>(result) : Exit::kOk;
  }

  tests::TempDir folder_;
  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(LoadSweep, PlansTheSweepForTheTrainerThatAnswered) {
  const SweepInput input = loaded();
  EXPECT_EQ(input.plan.trials.size(), 16u);
  EXPECT_FALSE(input.plan.trainer_build_id.empty());
  EXPECT_EQ(input.plan.sweep_path, kFirstSweep);
  ASSERT_EQ(input.warnings.size(), 1u);
  EXPECT_NE(err_.str().find("rematch: warning [L5]: " + kFirstSweep), std::string::npos);  // fused attention and core_attn
}

TEST_F(LoadSweep, PrintsEveryProblemWithItsPlaceAndStartsNothing) {
  const std::string path = write(
      "schema: rematch/sweep/1\nname: x\nmodel: {preset: moonlight_16b}\nparalel: {}\n"
      "training: {seq_length: 1, micro_batch_size: 1, global_batch_size: 1, train_iters: 12}\n"
      "parallel: {world_size: 1}\nrecompute: {labels: [moe_atc]}\n");
  EXPECT_EQ(exit_of(load(path)), Exit::kSweepInvalid);
  EXPECT_NE(err_.str().find(path + ":4:1: paralel: "), std::string::npos) << err_.str();
  EXPECT_NE(err_.str().find(path + ":7:1: recompute.control: no control"), std::string::npos);
  EXPECT_NE(err_.str().find(path + ":7:22: recompute.labels: L1: 'moe_atc'"), std::string::npos);
  EXPECT_NE(err_.str().find("3 problems; nothing was started"), std::string::npos);
  EXPECT_EQ(out_.str(), "");
}

TEST_F(LoadSweep, WithoutAFileIsAUsageErrorThatNamesIt) {
  EXPECT_EQ(exit_of(load("/nowhere/s.yaml")), Exit::kUsage);
  EXPECT_NE(err_.str().find("/nowhere/s.yaml"), std::string::npos);
}

TEST_F(LoadSweep, RefusesASetOptionWithoutAValue) {
  EXPECT_EQ(exit_of(load(kFirstSweep, {"training.seed"})), Exit::kUsage);
  EXPECT_NE(err_.str().find("key=value"), std::string::npos);
}

TEST_F(LoadSweep, WithoutATrainerIsAnEnvironmentError) {
  GlobalOptions options;
  options.trainer = folder_.path() / "no-trainer";
  EXPECT_EQ(exit_of(load_sweep({kFirstSweep, {}}, options, {out_, err_})), Exit::kEnvironment);
  EXPECT_NE(err_.str().find("no-trainer"), std::string::npos) << err_.str();
}

TEST_F(LoadSweep, TakesOptionsOverTheEnvironmentOverTheFile) {
  ::setenv("REMATCH_TRAINING__SEED", "8", 1);
  ::setenv("REMATCH_MEASURE__BLOCKS", "1", 1);
  const SweepInput input = loaded({"training.seed=9"});
  ::unsetenv("REMATCH_TRAINING__SEED");
  ::unsetenv("REMATCH_MEASURE__BLOCKS");
  EXPECT_EQ(input.plan.trials.front().training.seed, 9);
  EXPECT_EQ(input.plan.num_blocks, 1);
  EXPECT_NE(origin_text(input).find("environment REMATCH_MEASURE__BLOCKS"), std::string::npos);
}

TEST_F(LoadSweep, GivesAPlanWhoseTextShowsArmsOrderAndCost) {
  const std::string text = plan_text(loaded({"model.moe_layer_freq=1,1,1,1", "recompute.labels=mlp,moe_act"}), {});
  EXPECT_NE(text.find("[]                 planned   -                      control\n"), std::string::npos) << text;
  EXPECT_NE(text.find("mlp                inactive  mlp=0                  L8: mlp: the model has no dense layer\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find("layernorm+moe_act  planned   layernorm=8 moe_act=4  -\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\n  block 1  "), std::string::npos) << text;
  EXPECT_NE(text.find("cost: 10 trials of 2 ranks, each ended after 2min: at most 0.667 rank-hours\n"), std::string::npos) << text;
}

TEST_F(LoadSweep, ShowsArmsOfFullRecomputeAndSaysWhatHasNoEffect) {
  const std::string text =
      plan_text(loaded({"recompute.labels=[]", "recompute.sets=[]",
                        "recompute.full=[{recompute_method: uniform, recompute_num_layers: 3, recompute_modules: [moe]}, block:9]"}),
                {});
  EXPECT_NE(text.find("full:uniform:3  planned  full=2  -\n"), std::string::npos) << text;
  EXPECT_NE(text.find("full:block:9    invalid  -       R2: ours: "), std::string::npos) << text;
  EXPECT_NE(err_.str().find("arm full:uniform:3: G9: labels have no effect under full recompute"), std::string::npos) << err_.str();
}

TEST_F(LoadSweep, GivesAPlanWhoseJsonHoldsTheStudyAndTheCost) {
  const SweepInput input = loaded();
  const auto document = plan_json(input, {});
  EXPECT_EQ(document.at("schema_version"), 1);
  EXPECT_EQ(base::to_json(base::parse_study_plan(document.at("study"))), base::to_json(input.plan));
  EXPECT_EQ(document.at("cost").at("num_trials"), 16);
  EXPECT_EQ(document.at("cost").at("timeout_ms"), 120'000);
  EXPECT_EQ(document.at("warnings").size(), 1u);
  EXPECT_TRUE(document.at("upper_bounds").is_null());
}

base::ControlPeak control_peak() {
  using protocol::Role;
  base::ControlPeak control{.study = "earlier", .trial_id = "00000000000000aa", .provenance = protocol::Provenance::kPredicted};
  control.peak = {.rank = 1,
                  .step = 3,
                  .phase = protocol::Phase::kBackward,
                  .attribution = {{Role::kParameters, "", 40'000'000},
                                  {Role::kActivations, "layernorm", 500'000},
                                  {Role::kActivations, "moe", 6'000'000},
                                  {Role::kActivations, "moe/moe_act", 1'323'000}}};
  return control;
}

TEST_F(LoadSweep, GivesAPlanThatSaysHowMuchEachArmCanLowerThePeakOfAMeasuredControlAtMost) {
  const SweepInput input = loaded({"model.moe_layer_freq=1,1,1,1", "recompute.labels=mlp,moe_act"});
  const std::string text = plan_text(input, {control_peak(), std::nullopt});
  EXPECT_NE(text.find("at most -1.323 MB of the control's 47.823 MB peak"), std::string::npos) << text;
  EXPECT_NE(text.find("at most -1.823 MB of the control's 47.823 MB peak"), std::string::npos) << "the union: " << text;
  EXPECT_NE(text.find("upper bounds from the control of study earlier (predicted), trial 00000000000000aa, rank 1, backward of step 3\n"),
            std::string::npos)
      << text;
  const auto document = plan_json(input, {control_peak(), std::nullopt});
  EXPECT_EQ(document.at("upper_bounds").at("control").at("allocated_bytes"), 47'823'000);
  EXPECT_EQ(document.at("upper_bounds").at("upper_bound_bytes"),
            (nlohmann::json{{"moe_act", 1'323'000}, {"layernorm+moe_act", 1'823'000}, {"mla_up_proj+mlp", 0}}))
      << "planned candidates only";
}

TEST_F(LoadSweep, GivesAPlanThatSaysWhenNoLabelCanHelpOrTheControlDidNotFit) {
  const SweepInput input = loaded({"recompute.labels=moe_act"});
  base::ControlPeak control = control_peak();
  control.peak.moment = base::Moment::kOutOfMemory;
  EXPECT_NE(
      plan_text(input, {control, std::nullopt}).find("at most -1.323 MB of the 47.823 MB that the control held when it ran out of memory"),
      std::string::npos);
  control.peak.phase = protocol::Phase::kOptimizer;
  EXPECT_NE(plan_text(input, {control, std::nullopt}).find("no label can help"), std::string::npos);
}

}  // namespace
}  // namespace rematch::cli
