// What may be compared: each recorded field, changed in one trial, refuses the comparison by its name.
#include "orchestrator/rules/match.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <ostream>
#include <set>

#include "orchestrator/rules/judge.h"
#include "orchestrator/rules/match_fields.h"
#include "tests/orchestrator/arm_of.h"
#include "tests/orchestrator/study_builder.h"

namespace rematch::rules {
namespace {

using base::AttemptRows;
using tests::arm_of;
using tests::clean_study;

struct ChangedField {
  std::string field;
  void (*change)(AttemptRows&);
  std::string value;  // after the change
};

void PrintTo(const ChangedField& changed, std::ostream* out) { *out << changed.field; }

protocol::HelloRecord& hello(AttemptRows& attempt, std::size_t rank = 0) { return *attempt.ranks[rank].hello; }

template <typename Set>
void on_all_ranks(AttemptRows& attempt, Set set) {
  for (base::RankRows& rank : attempt.ranks) set(*rank.hello);
}

const std::vector<ChangedField>& changed_fields() {
  static const std::vector<ChangedField> all = {
      {"model.fields.hidden_size", [](AttemptRows& a) { a.trial.model.fields["hidden_size"] = std::int64_t{512}; }, "512"},
      {"model.preset", [](AttemptRows& a) { a.trial.model.preset.reset(); }, ""},
      {"training.seq_length", [](AttemptRows& a) { a.trial.training.seq_length = 128; }, "128"},
      {"training.micro_batch_size", [](AttemptRows& a) { a.trial.training.micro_batch_size = 2; }, "2"},
      {"training.global_batch_size", [](AttemptRows& a) { a.trial.training.global_batch_size = 8; }, "8"},
      {"training.train_iters", [](AttemptRows& a) { a.trial.training.train_iters = 40; }, "40"},
      {"training.seed", [](AttemptRows& a) { a.trial.training.seed = 7; }, "7"},
      {"training.bf16", [](AttemptRows& a) { a.trial.training.bf16 = false; }, "false"},
      {"optimizer.exp_avg_dtype", [](AttemptRows& a) { a.trial.optimizer.exp_avg_dtype = "bf16"; }, "bf16"},
      {"parallel.sequence_parallel", [](AttemptRows& a) { a.trial.parallel.sequence_parallel = true; }, "true"},
      {"parallel.expert_model_parallel_size", [](AttemptRows& a) { a.trial.parallel.expert_model_parallel_size = 2; }, "2"},
      {"backend.attention", [](AttemptRows& a) { a.trial.backend.attention = "unfused"; }, "unfused"},
      {"backend.memory_limit_bytes", [](AttemptRows& a) { a.trial.backend.memory_limit_bytes = 1000; }, "1000"},
      {"backend.expandable_segments", [](AttemptRows& a) { a.trial.backend.expandable_segments = true; }, "true"},
      {"features.cuda_graph_impl", [](AttemptRows& a) { a.trial.features.cuda_graph_impl = "local"; }, "local"},
      {"features.cpu_offloading", [](AttemptRows& a) { a.trial.features.cpu_offloading = true; }, "true"},
      {"features.moe_shared_expert_overlap", [](AttemptRows& a) { a.trial.features.moe_shared_expert_overlap = true; }, "true"},
      {"recompute.core_revision", [](AttemptRows& a) { a.trial.recompute.core_revision = "0.16.1"; }, "0.16.1"},
      {"trainer_build_id", [](AttemptRows& a) { a.trial.trainer_build_id = "b2"; }, "b2"},
      {"omp_num_threads", [](AttemptRows& a) { a.trial.omp_num_threads = 4; }, "4"},
      {"measure.warmup_steps", [](AttemptRows& a) { a.trial.measure.warmup_steps = 3; }, "3"},
      {"launch.host", [](AttemptRows& a) { a.launch.host = "node-b"; }, "node-b"},
      {"launch.nodes", [](AttemptRows& a) { a.launch.nodes[0].node = "n7"; }, "n7"},
      {"launch.nodes.host", [](AttemptRows& a) { a.launch.nodes[0].host = "node-b"; }, "node-b"},
      {"launch.nodes.visible_devices", [](AttemptRows& a) { a.launch.nodes[0].visible_devices = "2,3"; }, "2,3"},
      {"launch.nodes.topology", [](AttemptRows& a) { a.launch.nodes[0].topology = "s1.n7"; }, "s1.n7"},
      {"launch.command", [](AttemptRows& a) { a.launch.command.emplace_back("--trace"); },
       R"(["rematch-train","--trial","TRIAL","--trace"])"},
      {"launch.environment.OMP_NUM_THREADS", [](AttemptRows& a) { a.launch.environment["OMP_NUM_THREADS"] = "2"; }, "2"},
      {"hello.host", [](AttemptRows& a) { hello(a, 1).host = "node-b"; }, "rank 1: node-b"},
      {"hello.local_rank", [](AttemptRows& a) { std::swap(hello(a, 0).local_rank, hello(a, 1).local_rank); }, "rank 0: 1; rank 1: 0"},
      {"hello.world_size", [](AttemptRows& a) { on_all_ranks(a, [](auto& h) { h.world_size = 4; }); }, "4"},
      {"hello.device", [](AttemptRows& a) { on_all_ranks(a, [](auto& h) { h.device = "cuda"; }); }, "cuda"},
      {"hello.device_name", [](AttemptRows& a) { on_all_ranks(a, [](auto& h) { h.device_name = "NVIDIA H200"; }); }, "NVIDIA H200"},
      {"hello.provenance", [](AttemptRows& a) { on_all_ranks(a, [](auto& h) { h.provenance = protocol::Provenance::kMeasured; }); },
       "measured"},
      {"hello.build_id", [](AttemptRows& a) { on_all_ranks(a, [](auto& h) { h.build_id = "b2"; }); }, "b2"},
      {"hello.libtorch_version", [](AttemptRows& a) { on_all_ranks(a, [](auto& h) { h.libtorch_version = "2.6.0"; }); }, "2.6.0"},
      {"hello.comm_backend", [](AttemptRows& a) { on_all_ranks(a, [](auto& h) { h.comm_backend = "nccl"; }); }, "nccl"},
      {"hello.omp_num_threads", [](AttemptRows& a) { hello(a).omp_num_threads = 3; }, "rank 0: 3"},
      {"machine.num_devices", [](AttemptRows& a) { on_all_ranks(a, [](auto& h) { h.machine.num_devices = 8; }); }, "8"},
      {"machine.device_id", [](AttemptRows& a) { hello(a).machine.device_id = "GPU-1"; }, "rank 0: GPU-1"},
      {"machine.driver_version", [](AttemptRows& a) { on_all_ranks(a, [](auto& h) { h.machine.driver_version = "999"; }); }, "999"},
      {"machine.cuda_version", [](AttemptRows& a) { on_all_ranks(a, [](auto& h) { h.machine.cuda_version = "13.0"; }); }, "13.0"},
      {"machine.nccl_version", [](AttemptRows& a) { on_all_ranks(a, [](auto& h) { h.machine.nccl_version = "2.28.3"; }); }, "2.28.3"},
      {"machine.link_types", [](AttemptRows& a) { on_all_ranks(a, [](auto& h) { h.machine.link_types = "pcie"; }); }, "pcie"},
      {"machine.cpu_affinity", [](AttemptRows& a) { hello(a, 1).machine.cpu_affinity = "8-9"; }, "rank 1: 8-9"},
      {"machine.allocator_settings",
       [](AttemptRows& a) { on_all_ranks(a, [](auto& h) { h.machine.allocator_settings = "max_split_size_mb:64"; }); },
       "max_split_size_mb:64"},
      {"machine.environment.NCCL_ALGO",
       [](AttemptRows& a) { on_all_ranks(a, [](auto& h) { h.machine.environment["NCCL_ALGO"] = "Ring"; }); }, "Ring"},
  };
  return all;
}

// The clean study with the last attempt of moe_act changed.
base::StudyRows changed_study(void (*change)(AttemptRows&)) {
  base::StudyRows study = clean_study().rows();
  AttemptRows* last = nullptr;
  for (AttemptRows& attempt : study.attempts)
    if (attempt.trial.arm == "moe_act") last = &attempt;
  change(*last);
  return study;
}

class AChangedField : public ::testing::TestWithParam<ChangedField> {};

TEST_P(AChangedField, RefusesTheComparisonAndIsNamed) {
  const base::StudyVerdict verdict = judge_study(changed_study(GetParam().change));
  ASSERT_EQ(verdict.unmatched.size(), 1U);
  ASSERT_EQ(verdict.unmatched[0].differences.size(), 1U) << fields_text(verdict.unmatched[0].differences);
  EXPECT_EQ(verdict.unmatched[0].differences[0].field, GetParam().field);
  EXPECT_EQ(verdict.unmatched[0].differences[0].value, GetParam().value);
  EXPECT_NE(verdict.unmatched[0].differences[0].against_value, GetParam().value);
  EXPECT_EQ(verdict.conclusion, base::Conclusion::kUnmatched);
  EXPECT_EQ(base::exit_code(verdict.conclusion), 7);
  EXPECT_NE(verdict.conclusion_reason.find(GetParam().field), std::string::npos) << verdict.conclusion_reason;
  EXPECT_FALSE(arm_of(verdict, "moe_act").effect);
  EXPECT_NE(arm_of(verdict, "moe_act").not_comparable.find(GetParam().field), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(EachRecordedField, AChangedField, ::testing::ValuesIn(changed_fields()),
                         [](const auto& one) { return "Field" + std::to_string(one.index); });

TEST(Match, IsGivenWhereOnlyRecomputeDiffers) {
  const base::StudyVerdict verdict = judge_study(clean_study().rows());
  EXPECT_TRUE(verdict.unmatched.empty());
  EXPECT_TRUE(arm_of(verdict, "moe_act").effect);
}

TEST(Match, IsGivenWhereALaunchDiffersInPortProcessesFoldersAndClocks) {
  const base::StudyVerdict verdict = judge_study(changed_study([](AttemptRows& a) {
    a.launch.environment["MASTER_PORT"] = "31000";
    a.launch.supervisor_pid = 77;
    a.launch.start_unix_ns += 5;
    a.launch.command[0] = "/another/folder/rematch-train";
    a.launch.command[2] = "/runs/trial two/trial.json";
    a.trial.timeout_ms = 99'000;
    hello(a).pid = 78;
    hello(a).unix_ns += 5;
  }));
  EXPECT_TRUE(verdict.unmatched.empty()) << fields_text(verdict.unmatched.front().differences);
}

TEST(Match, NamesTheProgramThatIsAnother) {
  const auto verdict = judge_study(changed_study([](AttemptRows& a) { a.launch.command[0] = "/opt/other-train"; }));
  ASSERT_EQ(verdict.unmatched.size(), 1U);
  EXPECT_EQ(fields_text(verdict.unmatched[0].differences), "launch.command");
}

TEST(Match, HasNoFreeFieldThatTheDocumentsDoNotHave) {
  const AttemptRows attempt = clean_study().rows().attempts.front();
  nlohmann::json trial = protocol::to_json(attempt.trial);
  trial["prediction"] = {{"origins", nullptr}};
  const std::map<RecordedDocument, nlohmann::json> documents = {
      {RecordedDocument::kTrial, trial},
      {RecordedDocument::kLaunch, protocol::to_json(attempt.launch)},
      {RecordedDocument::kHello, nlohmann::json::parse(protocol::to_line(*attempt.ranks[0].hello))}};
  for (const FreeField& free : free_fields()) {
    std::string pointer = "/" + std::string(free.field);
    std::replace(pointer.begin(), pointer.end(), '.', '/');
    EXPECT_TRUE(documents.at(free.document).contains(nlohmann::json::json_pointer(pointer))) << free.field;
    EXPECT_FALSE(free.reason.empty()) << free.field;
  }
}

TEST(Match, SetsEachTrialAgainstTheSettingThatMostHave) {
  base::StudyRows study = clean_study().rows();
  study.attempts[0].ranks[0].hello->machine.driver_version = "570";  // the first control, and one of eight
  study.attempts[0].ranks[1].hello->machine.driver_version = "570";
  const base::StudyVerdict verdict = judge_study(study);
  ASSERT_EQ(verdict.unmatched.size(), 1U);
  EXPECT_EQ(verdict.unmatched[0].trial_id, study.attempts[0].trial.trial_id);
  EXPECT_EQ(verdict.unmatched[0].differences[0].value, "570");
  EXPECT_EQ(verdict.unmatched[0].differences[0].against_value, "") << "not recorded there";
  for (const char* arm : {"[]", "core_attn", "moe_act"}) {
    EXPECT_FALSE(arm_of(verdict, arm).effect) << arm << ": one of its control's runs is unmatched";
    EXPECT_NE(arm_of(verdict, arm).not_comparable.find("machine.driver_version"), std::string::npos) << arm;
  }
  EXPECT_TRUE(verdict.groups.front().control_pairs.empty());
  EXPECT_FALSE(verdict.answer.arm);
}

TEST(Match, DoesNotAskARankThatNeverCameToItsFirstLine) {
  tests::StudyBuilder builder("joined");
  builder.add_arm({"moe_act"});
  builder.run_all("[]");
  builder.run("moe_act");
  AttemptRows& failed = builder.run_out_of_memory("moe_act", protocol::Stage::kJoined, protocol::Phase::kOther, 0, {.failing_rank = 1});
  failed.ranks[0].hello.reset();
  EXPECT_TRUE(find_unmatched(builder.rows()).empty());
  failed.ranks[1].hello->machine.driver_version = "570";
  const auto unmatched = find_unmatched(builder.rows());
  ASSERT_EQ(unmatched.size(), 1U);
  EXPECT_EQ(unmatched[0].differences[0].value, "570") << "of every rank that has one";
}

TEST(Match, NamesFourRanksAndCountsTheRest) {
  tests::StudyBuilder builder("many", {.world_size = 8});
  builder.add_arm({"moe_act"});
  builder.run_all("[]");
  builder.run("moe_act");
  AttemptRows& changed = builder.run("moe_act");
  for (std::size_t rank = 1; rank < 8; ++rank) changed.ranks[rank].hello->host = "node-b";
  const auto differences = find_unmatched(builder.rows()).at(0).differences;
  EXPECT_EQ(differences[0].value, "rank 1: node-b; rank 2: node-b; rank 3: node-b; rank 4: node-b; 3 more ranks");
}

TEST(Match, ComparesNoLossAcrossSettings) {
  const base::StudyVerdict verdict = judge_study(changed_study([](AttemptRows& a) {
    a.trial.training.seed = 7;
    for (base::RankRows& rank : a.ranks)
      for (protocol::StepRecord& step : rank.steps) step.loss_bits = "3f800000";
  }));
  EXPECT_EQ(arm_of(verdict, "moe_act").outcome, base::Outcome::kPass) << "its losses are another seed's";
  EXPECT_EQ(verdict.conclusion, base::Conclusion::kUnmatched);
}

TEST(Match, GoesAfterAControlThatIsNone) {
  base::StudyRows study = changed_study([](AttemptRows& a) { a.trial.training.seed = 7; });
  study.attempts[0].ranks[0].steps[4].replays["moe"] = 1;
  EXPECT_EQ(judge_study(study).conclusion, base::Conclusion::kControlInvalid);
}

TEST(Match, IsOverriddenByForceAndStaysSaid) {
  const base::StudyVerdict verdict = judge_study(changed_study([](AttemptRows& a) { a.launch.host = "node-b"; }), Comparison::kForce);
  ASSERT_TRUE(arm_of(verdict, "moe_act").effect);
  EXPECT_EQ(arm_of(verdict, "moe_act").effect->peak_delta_bytes, -120 * tests::kMegabyte);
  EXPECT_NE(arm_of(verdict, "moe_act").not_comparable.find("launch.host"), std::string::npos);
  EXPECT_EQ(verdict.unmatched.size(), 1U);
  EXPECT_EQ(verdict.conclusion, base::Conclusion::kUnmatched);
  EXPECT_FALSE(verdict.answer.arm);
}

// The clean study as an array of jobs, one a block, each on nodes of its own.
base::StudyRows study_of_an_array() {
  base::StudyRows study = clean_study().rows();
  for (AttemptRows& attempt : study.attempts) {
    const std::string number = std::to_string(attempt.trial.block);
    attempt.launch.allocation =
        protocol::Allocation{.job_id = 40 + attempt.trial.block, .array_job_id = 40, .array_task_id = attempt.trial.block};
    attempt.launch.host = "host-" + number;
    attempt.launch.nodes = {{"n" + number, "host-" + number, "0,1", "s0.n" + number}};
    attempt.launch.environment["MASTER_ADDR"] = "10.0.0." + number;
    on_all_ranks(attempt, [&](auto& h) {
      h.host = "host-" + number;
      h.machine.device_id = "GPU-" + number;
      h.machine.cpu_affinity = number;
      h.machine.environment["CUDA_VISIBLE_DEVICES"] = number;
    });
  }
  return study;
}

AttemptRows& last_of(base::StudyRows& study, const std::string& arm) {
  for (auto attempt = study.attempts.rbegin(); attempt != study.attempts.rend(); ++attempt)
    if (attempt->trial.arm == arm) return *attempt;
  throw std::logic_error("no attempt of " + arm);
}

TEST(Match, LetsEachBlockOfASlurmStudyHaveNodesOfItsOwn) {
  const auto unmatched = find_unmatched(study_of_an_array());
  EXPECT_TRUE(unmatched.empty()) << fields_text(unmatched.front().differences);
}

TEST(Match, HoldsTheTrialsOfABlockOnTheSameNodes) {
  base::StudyRows study = study_of_an_array();
  AttemptRows& moved = last_of(study, "moe_act");
  const std::string own = moved.launch.nodes[0].node;
  moved.launch.nodes = {{"n9", moved.launch.host, "0,1", "s0." + own}};
  const auto unmatched = find_unmatched(study);
  ASSERT_EQ(unmatched.size(), 1U);
  EXPECT_EQ(fields_text(unmatched[0].differences), "launch.nodes");
  EXPECT_EQ(unmatched[0].differences[0].value, "n9");
  EXPECT_EQ(unmatched[0].differences[0].against_value, own);
}

TEST(Match, HoldsTheOrderOfTheNodesOfABlock) {
  base::StudyRows study = study_of_an_array();
  for (AttemptRows& attempt : study.attempts) attempt.launch.nodes = {{"a", "h", "0", "t"}, {"b", "h", "0", "t"}};
  AttemptRows& moved = last_of(study, "moe_act");
  std::swap(moved.launch.nodes[0], moved.launch.nodes[1]);
  const auto unmatched = find_unmatched(study);
  ASSERT_EQ(unmatched.size(), 1U);
  EXPECT_EQ(unmatched[0].differences[0].value, "b; a");
}

TEST(Match, HoldsSettingsAcrossTheBlocksOfASlurmStudy) {
  base::StudyRows study = study_of_an_array();
  on_all_ranks(last_of(study, "moe_act"), [](auto& h) { h.machine.driver_version = "999"; });
  const auto unmatched = find_unmatched(study);
  ASSERT_EQ(unmatched.size(), 1U);
  EXPECT_EQ(fields_text(unmatched[0].differences), "machine.driver_version");
}

TEST(Match, SetsARunOutsideSlurmAgainstTheOthersInAllFields) {
  base::StudyRows study = study_of_an_array();
  AttemptRows& outside = last_of(study, "moe_act");
  outside.launch.allocation.reset();
  outside.launch.nodes = {{"login", "login", std::nullopt, std::nullopt}};
  const auto unmatched = find_unmatched(study);
  ASSERT_EQ(unmatched.size(), 1U);
  EXPECT_EQ(unmatched[0].trial_id, outside.trial.trial_id);
  const auto& differences = unmatched[0].differences;
  EXPECT_TRUE(std::any_of(differences.begin(), differences.end(), [](const auto& one) { return one.field == "launch.nodes"; }));
}

TEST(Match, HoldsWithinAGroupAndNotAcross) {
  tests::StudyBuilder builder("groups");
  builder.add_arm({"moe_act"});
  base::ArmRow other = builder.plan().arms[1];
  other.arm = "moe_act@expandable_segments";
  other.group_id = tests::hex_id(0xcc);
  builder.plan().arms.push_back(other);
  builder.run_all("[]");
  AttemptRows moved = builder.run("moe_act");
  moved.trial.arm = other.arm;
  moved.trial.backend.expandable_segments = true;
  builder.rows().attempts.back() = moved;
  EXPECT_TRUE(find_unmatched(builder.rows()).empty());
}

}  // namespace
}  // namespace rematch::rules
