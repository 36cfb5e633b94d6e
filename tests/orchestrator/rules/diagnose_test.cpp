// Each symptom: a study that shows it, with the numbers that it must cite, and one near it that does not.
#include "orchestrator/rules/diagnose.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <set>

#include "orchestrator/rules/judge.h"
#include "tests/orchestrator/study_builder.h"

namespace rematch::rules {
namespace {

using protocol::Phase;
using protocol::Role;
using protocol::Stage;
using tests::kMegabyte;
using tests::StudyBuilder;

protocol::Attribution activations_of(const std::vector<std::pair<std::string, std::int64_t>>& megabytes) {
  protocol::Attribution parts;
  for (const auto& [region, megabyte] : megabytes) parts.push_back({Role::kActivations, region, megabyte * kMegabyte});
  return parts;
}

void attribute(base::AttemptRows& run, const protocol::Attribution& parts) {
  for (base::RankRows& rank : run.ranks) {
    if (rank.oom) rank.oom->attribution = parts;
    for (protocol::StepRecord& step : rank.steps) step.peak_attribution = parts;
  }
}

void attribute_all(StudyBuilder& builder, const protocol::Attribution& parts) {
  for (base::AttemptRows& run : builder.rows().attempts) attribute(run, parts);
}

struct SymptomCase {
  std::string symptom;
  std::string name;
  bool fires;
  base::StudyRows (*study)();
  std::string arm = {};
  std::vector<std::string> cited = {};  // in the finding or the next step
};

void PrintTo(const SymptomCase& one, std::ostream* out) { *out << one.symptom << ": " << one.name; }

StudyBuilder with_core_attn(std::int64_t saved_kilobytes) {
  StudyBuilder builder("attention");
  builder.add_arm({"core_attn"});
  builder.run_all("[]");
  builder.run_all("core_attn", {.backward_peak_bytes = 1000 * kMegabyte - saved_kilobytes * 1000});
  return builder;
}

StudyBuilder both_fail(const tests::RunShape& control, const tests::RunShape& candidate, Stage stage, Phase phase, std::int64_t step,
                       const protocol::ParallelSpec& layout = {.world_size = 2}) {
  StudyBuilder builder("moved", layout);
  builder.add_arm({"moe_act"});
  for (int repeat = 0; repeat < 4; ++repeat) builder.run_out_of_memory("[]", Stage::kWarm, Phase::kForward, 1, control);
  for (int repeat = 0; repeat < 2; ++repeat) builder.run_out_of_memory("moe_act", stage, phase, step, candidate);
  return builder;
}

StudyBuilder mla_fails(std::int64_t expanded_mb, std::int64_t core_mb) {
  StudyBuilder builder("mla");
  builder.add_arm({"core_attn"});
  for (int repeat = 0; repeat < 4; ++repeat) builder.run_out_of_memory("[]", Stage::kWarm, Phase::kForward, 1);
  for (int repeat = 0; repeat < 2; ++repeat) builder.run_out_of_memory("core_attn", Stage::kWarm, Phase::kForward, 1);
  attribute_all(builder, activations_of({{"", 100}, {"core_attn", core_mb}, {"mla_up_proj", expanded_mb}}));
  return builder;
}

StudyBuilder moe_fails(std::int64_t inside_mb, std::int64_t outside_mb) {
  StudyBuilder builder("moe");
  builder.add_arm({"moe_act"});
  for (int repeat = 0; repeat < 4; ++repeat) builder.run_out_of_memory("[]", Stage::kWarm, Phase::kForward, 1);
  for (int repeat = 0; repeat < 2; ++repeat) builder.run_out_of_memory("moe_act", Stage::kWarm, Phase::kForward, 1);
  attribute_all(builder, activations_of({{"", outside_mb}, {"moe", inside_mb - 30}, {"moe/moe_act", 30}}));
  return builder;
}

base::StudyRows refused(const std::vector<std::string>& labels, const std::string& rule) {
  StudyBuilder builder("refused");
  builder.add_unplanned_arm(labels, base::ArmStatus::kInvalid, rule + ": refused here");
  builder.plan().arms.back().rule_ids = {rule};
  builder.run_all("[]");
  return builder.rows();
}

StudyBuilder with_sites(std::int64_t on_rank_0, std::int64_t on_rank_1, std::int64_t replays) {
  StudyBuilder builder("label");
  builder.add_arm({"mlp"});
  builder.run_all("[]");
  builder.run_all("mlp");
  for (base::AttemptRows& run : builder.rows().attempts) {
    if (run.trial.arm != "mlp") continue;
    for (base::RankRows& rank : run.ranks) {
      rank.model->sites["mlp"] = rank.rank == 0 ? on_rank_0 : on_rank_1;
      for (protocol::StepRecord& step : rank.steps) step.replays["mlp"] = replays;
    }
  }
  return builder;
}

base::StudyRows with_graphs(base::StudyRows study, const std::string& impl) {
  for (protocol::Trial& trial : study.plan.trials) trial.features.cuda_graph_impl = impl;
  for (base::AttemptRows& run : study.attempts) run.trial.features.cuda_graph_impl = impl;
  return study;
}

base::StudyRows fragmented(std::int64_t retries) {
  StudyBuilder builder("fragmented");
  builder.add_arm({"moe_act"});
  builder.run_all("[]");
  builder.run_all("moe_act");
  for (base::AttemptRows& run : builder.rows().attempts)
    for (base::RankRows& rank : run.ranks)
      for (protocol::StepRecord& step : rank.steps)
        if (run.trial.is_control && rank.rank == 0) {
          step.lifetime_peak_reserved_bytes = 1500 * kMegabyte;
          step.num_alloc_retries = step.step > 5 ? retries : 0;
        }
  return builder.rows();
}

base::StudyRows optimizer_bound(Stage stage) {
  StudyBuilder builder("bound");
  builder.add_arm({"moe_act"});
  for (int repeat = 0; repeat < 4; ++repeat) builder.run_out_of_memory("[]", Stage::kOptimizerInit, Phase::kOptimizerInit, 0);
  for (int repeat = 0; repeat < 2; ++repeat) builder.run_out_of_memory("moe_act", stage, Phase::kForward, 0);
  return builder.rows();
}

std::vector<SymptomCase> all_cases() {
  return {
      {"core-attn-without-effect",
       "a saving of 0.4 per cent",
       true,
       [] { return with_core_attn(4000).rows(); },
       "core_attn",
       {"-4.000 MB (-0.40 %)", "Fused attention", "rank 0 in backward of step 0", "20.000 MB of 1.000 GB", "Measure moe_act",
        "120.000 MB"}},
      {"core-attn-without-effect", "a saving of 0.6 per cent", false, [] { return with_core_attn(6000).rows(); }},
      {"core-attn-without-effect",
       "no attribution",
       true,
       [] {
         base::StudyRows study = with_core_attn(0).rows();
         for (base::AttemptRows& run : study.attempts)
           for (base::RankRows& rank : run.ranks)
             for (protocol::StepRecord& step : rank.steps) step.peak_attribution.reset();
         return study;
       },
       "core_attn",
       {"0 B (+0.00 %)", "rematch show '[]'"}},
      {"core-attn-without-effect", "no peak to set it against", false,
       [] {
         StudyBuilder builder("alone");
         builder.add_arm({"core_attn"});
         builder.run_all("core_attn");
         return builder.rows();
       }},
      {"mla-out-of-memory-after-core-attn",
       "expanded q, k and v dominate",
       true,
       [] { return mla_fails(300, 20).rows(); },
       "core_attn",
       {"300.000 MB", "20.000 MB", "rank 0 in forward of step 1", "Measure mla_up_proj, alone"}},
      {"mla-out-of-memory-after-core-attn", "the core dominates", false, [] { return mla_fails(20, 300).rows(); }},
      {"mla-out-of-memory-after-core-attn", "no multi-latent attention", false, [] { return mla_fails(0, 20).rows(); }},
      {"moe-peak-stays-high",
       "most is in MoE layers",
       true,
       [] { return moe_fails(200, 190).rows(); },
       "[]",
       {"200.000 MB of 390.000 MB", "moe_act would drop up to 30.000 MB", "moe_act is not enough", "Measure layernorm, then moe"}},
      {"moe-peak-stays-high", "most is elsewhere", false, [] { return moe_fails(190, 200).rows(); }},
      {"moe-peak-stays-high", "it fits", false, [] { return tests::clean_study().rows(); }},
      {"moe-peak-stays-high",
       "it fits in no budget",
       true,
       [] {
         StudyBuilder builder = tests::clean_study();
         builder.plan().budget_per_rank_bytes = 900 * kMegabyte;
         attribute_all(builder, activations_of({{"", 100}, {"moe", 200}, {"moe/moe_act", 120}}));
         return builder.rows();
       },
       "[]",
       {"320.000 MB of 420.000 MB", "Measured: moe_act is enough"}},
      {"overlap-conflict",
       "shared experts",
       true,
       [] { return refused({"shared_experts"}, "L6"); },
       "shared_experts",
       {"rule L6", "refused here", "moe_act"}},
      {"overlap-conflict",
       "the whole of moe, by a part of a rule",
       true,
       [] { return refused({"moe"}, "M1.graph"); },
       "moe",
       {"rule M1.graph"}},
      {"overlap-conflict", "a rule with a longer number", false, [] { return refused({"moe"}, "M12"); }},
      {"overlap-conflict", "another rule", false, [] { return refused({"moe"}, "L2"); }},
      {"full-recompute-with-cuda-graphs",
       "graphs of layers",
       true,
       [] { return refused({"moe"}, "C1"); },
       "moe",
       {"rule C1", "cuda_graph_impl: full_iteration"}},
      {"full-recompute-with-cuda-graphs", "another rule", false, [] { return refused({"moe"}, "C3"); }},
      {"label-without-effect",
       "no region in the model",
       true,
       [] { return tests::clean_study().rows(); },
       "gdn_norm_out",
       {"Inactive", "no gated delta net layer"}},
      {"label-without-effect",
       "no region on any rank",
       true,
       [] { return with_sites(0, 0, 0).rows(); },
       "mlp",
       {"Inactive: mlp wrapped no region on any of 2 ranks"}},
      {"label-without-effect",
       "regions on the other rank alone",
       true,
       [] { return with_sites(0, 3, 3).rows(); },
       "mlp",
       {"Outside of the layers that peak: rank 0", "none of the 3 regions", "3 on rank 1", "0 B (+0.00 %)"}},
      {"label-without-effect", "regions on the rank that peaks", false, [] { return with_sites(3, 0, 3).rows(); }},
      {"label-without-effect",
       "no replay, with graphs",
       true,
       [] { return with_graphs(with_sites(3, 3, 0).rows(), "local"); },
       "mlp",
       {"Bypassed by graph capture", "6 regions", "none in 20 steps", "cuda_graph_impl local"}},
      {"label-without-effect",
       "no replay, without graphs",
       true,
       [] { return with_sites(3, 3, 0).rows(); },
       "mlp",
       {"Bypassed: mlp wrapped 6 regions", "without CUDA graphs"}},
      {"label-without-effect", "replays, with graphs", false, [] { return with_graphs(with_sites(3, 3, 3).rows(), "local"); }},
      {"label-without-effect", "no rank said what it wrapped", false,
       [] {
         base::StudyRows study = with_sites(0, 0, 0).rows();
         for (base::AttemptRows& run : study.attempts) run.ranks[1].model.reset();
         return study;
       }},
      {"fragmentation",
       "retries and a high reserve",
       true,
       [] { return fragmented(2); },
       "[]",
       {"1.500 GB were reserved and 1.000 GB allocated", "2 retries", "expandable_segments:True", "Before any recompute"}},
      {"fragmentation", "no retry", false, [] { return fragmented(0); }},
      {"out-of-memory-moved-to-another-rank",
       "another rank of a pipeline",
       true,
       [] {
         return both_fail({.failing_rank = 1}, {.failing_rank = 0}, Stage::kWarm, Phase::kForward, 1,
                          {.world_size = 2, .pipeline_model_parallel_size = 2})
             .rows();
       },
       "moe_act",
       {"on rank 1 (pipeline rank 1 of 2)", "on rank 0 (pipeline rank 0 of 2)", "held 960.000 MB", "full:block"}},
      {"out-of-memory-moved-to-another-rank", "the same rank", false,
       [] { return both_fail({}, {}, Stage::kSteady, Phase::kBackward, 3).rows(); }},
      {"failed-further",
       "a later step",
       true,
       [] { return both_fail({}, {}, Stage::kSteady, Phase::kBackward, 3).rows(); },
       "moe_act",
       {"from warm of step 1, forward", "to steady of step 3, backward", "960.000 MB and asked for 64.000 MB", "not as a pass"}},
      {"failed-further", "no later", false, [] { return both_fail({}, {}, Stage::kFirstForward, Phase::kForward, 0).rows(); }},
      {"optimizer-bound",
       "every arm",
       true,
       [] { return optimizer_bound(Stage::kOptimizerInit); },
       "",
       {"parameters of 150.000 MB", "optimizer state of 250.000 MB", "64.000 MB more", "1.000 GB", "more ranks"}},
      {"optimizer-bound", "all but one", false, [] { return optimizer_bound(Stage::kFirstForward); }},
  };
}

class ASymptom : public ::testing::TestWithParam<SymptomCase> {};

TEST_P(ASymptom, IsShownByItsNumbersAlone) {
  const SymptomCase& wanted = GetParam();
  const std::vector<base::Diagnosis> all = judge_study(wanted.study()).diagnoses;
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const auto& d) { return d.symptom == wanted.symptom && (!wanted.fires || d.arm == wanted.arm); });
  if (!wanted.fires) {
    EXPECT_TRUE(found == all.end()) << found->arm << ": " << found->finding;
    return;
  }
  ASSERT_TRUE(found != all.end());
  const std::string text = found->finding + "\n" + found->next_step;
  for (const std::string& part : wanted.cited) EXPECT_NE(text.find(part), std::string::npos) << part << " is not in:\n" << text;
  EXPECT_EQ(text.find("0x"), std::string::npos);
  EXPECT_FALSE(found->why.empty());
  EXPECT_TRUE(found->command.starts_with("rematch ")) << found->command;
}

struct Ruled {
  std::string symptom;
  base::StudyRows study;
  std::string out;
  std::string command;
};

TEST(Symptoms, SayWhatElseWasRuledOutAndTheNextCommand) {
  const std::vector<Ruled> all = {
      {"core-attn-without-effect", with_core_attn(4000).rows(), "",
       "rematch run sweeps/attention.yaml --set recompute.labels=core_attn,moe_act"},
      {"mla-out-of-memory-after-core-attn", mla_fails(300, 20).rows(),
       "fragmentation: 30.000 MB were reserved and free, less than the 64.000 MB that were asked for",
       "rematch run sweeps/mla.yaml --set recompute.labels=core_attn,mla_up_proj"},
      {"moe-peak-stays-high", moe_fails(200, 190).rows(), "the peak is in forward", "--set recompute.labels=moe_act,layernorm,moe"},
      {"label-without-effect", with_sites(0, 3, 3).rows(), "it wrapped 3 regions and replayed them 120 times",
       "rematch show '[]' --study 0000000000005eed"},
      {"overlap-conflict", refused({"moe"}, "M1.graph"), "", "rematch explain M1"},
      {"fragmentation", fragmented(2), "allocated memory grew by 0 B", "backend.expandable_segments=true"},
      {"optimizer-bound", optimizer_bound(Stage::kOptimizerInit), "is 560.000 MB of 960.000 MB", "--set optimizer."}};
  for (const Ruled& wanted : all) {
    const std::vector<base::Diagnosis> found = judge_study(wanted.study).diagnoses;
    const auto one = std::find_if(found.begin(), found.end(), [&](const auto& d) { return d.symptom == wanted.symptom; });
    ASSERT_TRUE(one != found.end()) << wanted.symptom;
    EXPECT_NE(one->ruled_out.find(wanted.out), std::string::npos) << wanted.symptom << ": " << one->ruled_out;
    EXPECT_NE(one->command.find(wanted.command), std::string::npos) << wanted.symptom << ": " << one->command;
  }
}

std::set<std::string> unjudged_of(const base::StudyRows& study, const std::string& arm) {
  std::set<std::string> found;
  for (const base::UnjudgedSymptom& one : judge_study(study).unjudged)
    if (one.arm == arm) found.insert(one.symptom + ": " + one.reason);
  return found;
}

TEST(Symptoms, AreUnjudgedWhereTheirNumbersWereNotMeasured) {
  EXPECT_TRUE(judge_study(tests::clean_study().rows()).unjudged.empty());
  StudyBuilder half("half");
  half.add_arm({"core_attn"});
  half.run_all("[]");
  EXPECT_TRUE(unjudged_of(half.rows(), "[]").empty());
  EXPECT_TRUE(unjudged_of(half.rows(), "core_attn").contains("core-attn-without-effect: no run of it has come to its end"));
  EXPECT_EQ(unjudged_of(half.rows(), "core_attn").size(), 7U) << "all but those that are read off the plan, and that of the control";
  base::StudyRows blind = moe_fails(200, 190).rows();
  for (base::AttemptRows& run : blind.attempts)
    for (base::RankRows& rank : run.ranks)
      if (rank.oom) rank.oom->attribution.reset();
  for (base::AttemptRows& run : blind.attempts)
    for (base::RankRows& rank : run.ranks)
      for (protocol::StepRecord& step : rank.steps) step.peak_attribution.reset();
  EXPECT_EQ(unjudged_of(blind, "[]"), std::set<std::string>{"moe-peak-stays-high: what its peak is made of was not measured"});
}

INSTANTIATE_TEST_SUITE_P(EachOfTheTable, ASymptom, ::testing::ValuesIn(all_cases()),
                         [](const auto& one) { return "Case" + std::to_string(one.index); });

TEST(Symptoms, HaveEachACaseThatFiresAndOneThatDoesNot) {
  std::set<std::string> ids;
  for (const Symptom& symptom : symptoms()) ids.emplace(symptom.id);
  for (const bool fires : {true, false}) {
    std::set<std::string> tested;
    for (const SymptomCase& one : all_cases())
      if (one.fires == fires) tested.insert(one.symptom);
    EXPECT_EQ(tested, ids) << fires;
  }
}

TEST(Symptoms, AreNoneOfAnEmptyStudy) {
  const StudyBuilder builder("empty");
  EXPECT_TRUE(judge_study(StudyBuilder("empty").rows()).diagnoses.empty());
}

TEST(Symptoms, AreNoneOfFiguresOfAnotherSetting) {
  base::StudyRows study = with_core_attn(0).rows();
  for (base::AttemptRows& run : study.attempts)
    if (run.trial.arm == "core_attn") run.launch.host = "node-b";
  EXPECT_TRUE(judge_study(study).diagnoses.empty());
  EXPECT_FALSE(judge_study(study, Comparison::kForce).diagnoses.empty());
}

}  // namespace
}  // namespace rematch::rules
