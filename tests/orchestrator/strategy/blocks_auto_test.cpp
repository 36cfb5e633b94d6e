// blocks: auto of one_label: what is decided gets no further blocks, what is not is looked at after 3, 5 and 8.
#include <gtest/gtest.h>

#include "orchestrator/base/study_plan.h"
#include "tests/orchestrator/strategy/replayed_study.h"

namespace rematch::tests {
namespace {

const std::string kMoonlight = "moonlight_16b_8xh100";

base::StudyPlan auto_plan() { return published_plan(kMoonlight, {{"measure.blocks", "auto"}}); }

// All planned trials with the table's outcomes, judged; words of time are the test's.
struct Looked {
  explicit Looked(const base::StudyPlan& plan, const Endings& endings = published_endings(kMoonlight)) : builder(plan.name) {
    builder.rows() = {plan, {}};
    std::map<std::string, std::int64_t> runs;
    for (const protocol::Trial& trial : plan.trials) run_one(builder, trial, endings, runs);
    verdict = rules::judge_study(builder.rows());
    for (base::ArmVerdict& arm : verdict.arms)
      if (arm.effect) arm.effect->time = base::TimeVerdict{0.05, 0.01, 0.09, base::TimeWord::kUndecided, 6};
  }

  void decide(const std::string& name) {
    for (base::ArmVerdict& arm : verdict.arms)
      if (arm.arm == name) {
        arm.effect->time = base::TimeVerdict{0.05, 0.04, 0.06, base::TimeWord::kSlower, {}};
        arm.effect->memory = base::MemoryVerdict{base::MemoryWord::kLower, {}, {}};
      }
  }
  std::optional<base::StudyPlan> extended() { return strategy::extend(builder.rows(), verdict); }

  StudyBuilder builder;
  base::StudyVerdict verdict;
};

std::int64_t num_blocks_of(const base::StudyPlan& plan, const std::string& arm) {
  std::set<std::int64_t> blocks;
  for (const protocol::Trial& trial : plan.trials)
    if (trial.arm == arm) blocks.insert(trial.block);
  return static_cast<std::int64_t>(blocks.size());
}

TEST(BlocksAuto, StartWithTheThreeBlocksThatBlocks3Has) {
  const base::StudyPlan three = published_plan(kMoonlight, {{"measure.blocks", "3"}});
  const base::StudyPlan plan = auto_plan();
  ASSERT_EQ(plan.trials.size(), three.trials.size());
  for (std::size_t i = 0; i < plan.trials.size(); ++i) EXPECT_EQ(plan.trials[i].trial_id, three.trials[i].trial_id);
  EXPECT_TRUE(base::awaits_decision(plan));
  EXPECT_FALSE(base::awaits_decision(three));
}

TEST(BlocksAuto, GoOnWithWhatIsUndecidedAndItsControlInTheOrderOfAllArms) {
  Looked look(auto_plan());
  for (const char* arm : {"core_attn", "mla_up_proj", "mla_up_proj+mlp", "layernorm+moe_act"}) look.decide(arm);
  const auto next = look.extended();
  ASSERT_TRUE(next);
  EXPECT_EQ(next->num_blocks, 5);
  EXPECT_EQ(num_blocks_of(*next, "moe_act"), 5);
  EXPECT_EQ(num_blocks_of(*next, "core_attn"), 3);
  EXPECT_EQ(num_trials_of(*next, "[]"), 10) << "twice a block";
  for (const protocol::Trial& trial : next->trials) EXPECT_LT(trial.slot, trial.block < 3 ? 7 : 3) << trial.arm;
  const std::string text = decisions_text(*next);
  EXPECT_NE(text.find("0 freeze core_attn: time is slower (+5.00 %, +4.00 % to +6.00 % against []), memory lower"), std::string::npos)
      << text;
  EXPECT_NE(text.find("moe_act (+1.00 % to +9.00 %, 6 blocks would decide it)"), std::string::npos) << text;
}

TEST(BlocksAuto, EndAfterEightWithUndecidedArmsNamed) {
  base::StudyPlan plan = auto_plan();
  for (const std::int64_t blocks : {5, 8}) {
    const auto next = Looked(plan).extended();
    ASSERT_TRUE(next);
    EXPECT_EQ(next->num_blocks, blocks);
    plan = *next;
  }
  const auto last = Looked(plan).extended();
  ASSERT_TRUE(last);
  EXPECT_EQ(last->trials.size(), plan.trials.size());
  EXPECT_FALSE(base::awaits_decision(*last));
  EXPECT_NE(last->decisions.back().reason.find("after 8 blocks, the most that are taken, these are undecided: core_attn"),
            std::string::npos)
      << last->decisions.back().reason;
  EXPECT_FALSE(Looked(*last).extended()) << "an ended study is not extended";
}

TEST(BlocksAuto, EndAsSoonAsEveryArmIsDecidedOrHasFailed) {
  Endings endings = published_endings(kMoonlight);
  endings["core_attn"] = {.oom_after = 1, .peak_bytes = 36'000'000'000};
  Looked look(auto_plan(), endings);
  for (const char* arm : {"moe_act", "mla_up_proj", "mla_up_proj+mlp", "layernorm+moe_act"}) look.decide(arm);
  const auto next = look.extended();
  ASSERT_TRUE(next);
  EXPECT_EQ(next->trials.size(), 3U * 7U);
  EXPECT_NE(decisions_text(*next).find("0 freeze core_attn: ran out of memory"), std::string::npos) << decisions_text(*next);
  EXPECT_EQ(next->decisions.back().action, base::DecisionAction::kStop);
}

// Controls that did not fit are not run again, and the arm that the others are set against stays.
TEST(BlocksAuto, KeepTheReferenceOfAStudyWhoseControlFailed) {
  Endings endings = published_endings(kMoonlight);
  endings["[]"] = {.oom_after = 1, .peak_bytes = 36'000'000'000};
  Looked look(auto_plan(), endings);
  for (const char* arm : {"moe_act", "mla_up_proj", "mla_up_proj+mlp"}) look.decide(arm);
  const auto next = look.extended();
  ASSERT_TRUE(next);
  EXPECT_EQ(num_trials_of(*next, "[]"), 6);
  EXPECT_EQ(num_blocks_of(*next, "core_attn"), 5) << "the narrowest that passes";
  EXPECT_EQ(num_blocks_of(*next, "layernorm+moe_act"), 5);
  EXPECT_EQ(num_blocks_of(*next, "moe_act"), 3);
}

}  // namespace
}  // namespace rematch::tests
