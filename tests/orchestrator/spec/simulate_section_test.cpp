// The `simulate` section: what it may say of a model and a layout, and where what it may not say is refused.
#include <gtest/gtest.h>

#include "orchestrator/spec/expert_load.h"
#include "tests/orchestrator/spec/sample.h"

namespace rematch::spec {
namespace {

ParsedSweep with_section(const std::string& section) { return parse_sample(kSampleSweep + "simulate: {" + section + "}\n"); }

protocol::ExpertLoad load_of(const SweepSpec& spec) { return std::get<ResolvedLoad>(resolve_expert_load(spec)).load; }

struct Refusal {
  const char* name;
  std::string section;
  const char* path;
  std::vector<const char*> says;
};

TEST(SimulateSection, IsRefusedAtItsPlaceWhereItDoesNotFitTheModel) {
  const std::vector<Refusal> cases = {
      {"forced by nobody", "expert_load: forced", "simulate.expert_load", {"moe_router_force_load_balancing", "balanced"}},
      {"more than all tokens", "expert_load: imbalance, expert_imbalance: 2.5", "simulate.expert_imbalance", {"1 to", "(2)", "2.5"}},
      {"short histogram", "expert_load: histogram, expert_histogram: '3,4'", "simulate.expert_histogram", {"64 experts", "found 2"}},
      {"no histogram", "expert_load: histogram", "simulate.expert_load", {"whole numbers", "found ''"}},
      {"words in a histogram", "expert_load: histogram, expert_histogram: '3,many'", "simulate.expert_histogram", {"'3,many'"}},
      {"negative tokens", "expert_load: histogram, expert_histogram: '3,-4'", "simulate.expert_histogram", {"'3,-4'"}},
      {"imbalance of nothing",
       "expert_load: balanced, expert_imbalance: 1.5",
       "simulate.expert_imbalance",
       {"imbalance alone", "found balanced"}},
      {"imbalance by default", "expert_imbalance: 1.5", "simulate.expert_imbalance", {"expert_load: imbalance", "found balanced"}},
      {"histogram of an imbalance",
       "expert_load: imbalance, expert_imbalance: 1.5, expert_histogram: '3,4'",
       "simulate.expert_histogram",
       {"histogram alone", "found imbalance"}},
      {"imbalance without a number", "expert_load: imbalance", "simulate.expert_load", {"over the mean of a rank", "found none"}},
      {"no room", "device_memory: 1GiB, outside_allocator: 1GiB", "simulate.outside_allocator", {"less", "1GiB"}},
      {"unknown device", "device: H900", "simulate.device", {"H100-80GB", "'H900'"}},
      {"one step", "train_iters: 1", "simulate.train_iters", {"from 2", "1"}},
  };
  for (const Refusal& wanted : cases) {
    const ParsedSweep parsed = with_section(wanted.section);
    ASSERT_EQ(parsed.problems.size(), 1u) << wanted.name << "\n" << all_problems(parsed);
    const Diagnostic& found = parsed.problems.front();
    EXPECT_EQ(found.path, wanted.path) << wanted.name;
    EXPECT_EQ(found.line, 22) << wanted.name;
    for (const char* words : wanted.says) EXPECT_NE(found.message.find(words), std::string::npos) << words << "\nin: " << found.message;
  }
}

protocol::Describe trainer_with_meta() {
  protocol::Describe described = example_trainer();
  described.devices.emplace_back("meta");
  return described;
}

ParsedSweep for_device(const std::string& device, SweepUse use) {
  return parse_sweep(sample_with("device: cpu", "device: " + device), "s.yaml", trainer_with_meta(), {}, use);
}

TEST(SimulateSection, IsWhatMetaNeedsSoWithoutASimulationMetaIsRefused) {
  const ParsedSweep run = for_device("meta", SweepUse::kRun);
  EXPECT_EQ(all_problems(run).rfind("s.yaml:15:19: backend.device: meta only predicts: use --simulate", 0), 0u) << all_problems(run);
  EXPECT_EQ(run.problems.size(), 1u);
  EXPECT_EQ(all_problems(for_device("meta", SweepUse::kSimulate)), "");
}

TEST(SimulateSection, StandsForAnyDeviceThatIsOneAndRefusesOthersWhereTheyAreWritten) {
  for (const char* device : {"cpu", "cuda"}) {
    const ParsedSweep parsed = for_device(device, SweepUse::kSimulate);
    EXPECT_EQ(all_problems(parsed), "") << device;
    EXPECT_EQ(parsed.spec.common.backend.device, "meta");
  }
  const ParsedSweep parsed = for_device("gpu", SweepUse::kSimulate);
  EXPECT_EQ(all_problems(parsed).rfind("s.yaml:15:19: backend.device: 'gpu' is not a device", 0), 0u) << all_problems(parsed);
  EXPECT_EQ(parsed.problems.size(), 1u);
}

TEST(SimulateSection, WarnsOfALimitThatTheDeviceCannotGiveWhenItIsSimulated) {
  const std::string text =
      sample_with("memory_limit: 2GiB", "memory_limit: 70GB") + "simulate: {device_memory: 80GB, outside_allocator: 10GB}\n";
  const auto warnings_of = [](const std::string& sweep, SweepUse use) {
    const ParsedSweep parsed = parse_sweep(sweep, "s.yaml", trainer_with_meta(), {}, use);
    EXPECT_EQ(all_problems(parsed), "");
    std::string warnings;
    for (const Diagnostic& warning : parsed.warnings) warnings += to_string(warning) + "\n";
    return warnings;
  };
  EXPECT_EQ(warnings_of(text, SweepUse::kSimulate).find("backend.memory_limit"), std::string::npos) << "all that it leaves";
  const std::string more = sample_with("70GB", "71GB", text);
  EXPECT_EQ(warnings_of(more, SweepUse::kRun).find("backend.memory_limit"), std::string::npos);
  const std::string warnings = warnings_of(more, SweepUse::kSimulate);
  EXPECT_EQ(warnings.rfind("s.yaml:15:", 0), 0u) << warnings;
  for (const char* words : {"backend.memory_limit", "71GB", "70GB", "H100-80GB"})
    EXPECT_NE(warnings.find(words), std::string::npos) << warnings;
}

TEST(SimulateSection, LeavesTheLoadBalancedWhereNothingIsSaid) {
  const ParsedSweep parsed = parse_sample(kSampleSweep);
  ASSERT_EQ(all_problems(parsed), "");
  EXPECT_EQ(load_of(parsed.spec), protocol::ExpertLoad{});
}

TEST(SimulateSection, FollowsAModelThatForcesItsBalance) {
  SweepSpec spec = parse_sample(kSampleSweep).spec;
  spec.common.model.fields["moe_router_force_load_balancing"] = true;
  const auto resolved = std::get<ResolvedLoad>(resolve_expert_load(spec));
  EXPECT_EQ(resolved.load.kind, "forced");
  EXPECT_NE(resolved.otherwise.find("moe_router_force_load_balancing"), std::string::npos);
}

TEST(SimulateSection, ReadsAnImbalanceAndAHistogram) {
  EXPECT_EQ(load_of(with_section("expert_load: imbalance, expert_imbalance: 1.25").spec).imbalance, 1.25);
  std::string histogram = "7";
  for (int expert = 1; expert < 64; ++expert) histogram += "," + std::to_string(expert);
  const ParsedSweep parsed = with_section("expert_load: histogram, expert_histogram: '" + histogram + "'");
  ASSERT_EQ(all_problems(parsed), "");
  EXPECT_EQ(load_of(parsed.spec).histogram->size(), 64u);
  EXPECT_EQ(load_of(parsed.spec).histogram->at(0), 7);
}

}  // namespace
}  // namespace rematch::spec
