// The keys of `launch` that a launch under Slurm reads: what they mean, what they must agree on, and what is refused.
#include <gtest/gtest.h>

#include <algorithm>

#include "orchestrator/spec/slurm_options.h"
#include "tests/orchestrator/spec/sample.h"

namespace rematch::spec {
namespace {

using Texts = SlurmSpec::Texts;

// The sample, of four ranks, with these keys of `launch`.
ParsedSweep parse_launch(const std::string& keys, const std::vector<Override>& overrides = {}) {
  const std::string text = sample_with("world_size: 2", "world_size: 4");
  return parse_sample(sample_with("kind: local, timeout: 90s", keys, text), overrides);
}
ParsedSweep parse_slurm(const std::string& keys) { return parse_launch("kind: slurm" + (keys.empty() ? "" : ", " + keys)); }

SlurmSpec slurm_of(const ParsedSweep& parsed) {
  EXPECT_EQ(all_problems(parsed), "");
  return parsed.spec.slurm;
}

void expect_refused(const std::string& keys, const std::string& path, const std::vector<std::string>& says) {
  const ParsedSweep parsed = parse_slurm(keys);
  ASSERT_EQ(parsed.problems.size(), 1u) << keys << "\n" << all_problems(parsed);
  const Diagnostic& found = parsed.problems.front();
  EXPECT_EQ(found.path, path) << keys;
  EXPECT_EQ(found.line, 21) << keys;
  for (const std::string& words : says) EXPECT_NE(found.message.find(words), std::string::npos) << words << "\nin: " << found.message;
}

std::string origin_of(const ParsedSweep& parsed, const std::string& key) {
  for (const auto& row : parsed.spec.origins)
    if (row.key == key) return row.value + " from " + row.origin;
  return "nothing";
}

TEST(SlurmKeys, AreOneJobOnOneNodeWhereNothingIsWritten) {
  const SlurmSpec slurm = slurm_of(parse_slurm(""));
  EXPECT_EQ(slurm.shape, "allocation");
  EXPECT_EQ(slurm.num_nodes, 1);
  EXPECT_EQ(slurm.ranks_per_node, 4);
  EXPECT_TRUE(slurm.options.empty());
}

TEST(SlurmKeys, HandTextsToSlurmAsTheyStand) {
  const SlurmSpec slurm =
      slurm_of(parse_slurm("time: 2:00:00, mem: 0, gres: 'gpu:a100:4', cpus-per-task: 8, constraint: '[a*2&b]', comment: 007"));
  const Texts wanted = {{"time", "2:00:00"},       {"mem", "0"},      {"gres", "gpu:a100:4"}, {"cpus-per-task", "8"},
                        {"constraint", "[a*2&b]"}, {"comment", "007"}};
  EXPECT_EQ(slurm.options, wanted);
}

TEST(SlurmKeys, TakeWhatHasNoKeyThrough) {
  const SlurmSpec slurm = slurm_of(parse_slurm("slurm: {nice: 100, hold: true, contiguous: }, srun: {container-image: /a b.sqsh}"));
  EXPECT_EQ(slurm.pass_through, (Texts{{"nice", "100"}, {"hold", ""}, {"contiguous", ""}}));
  EXPECT_EQ(slurm.srun, (Texts{{"container-image", "/a b.sqsh"}}));
}

TEST(SlurmKeys, KeepTheSetUpLines) {
  EXPECT_EQ(slurm_of(parse_slurm("setup: [module load cuda, 'ulimit -l unlimited']")).setup,
            (std::vector<std::string>{"module load cuda", "ulimit -l unlimited"}));
  EXPECT_EQ(slurm_of(parse_slurm("setup: module load cuda")).setup, (std::vector<std::string>{"module load cuda"}));
}

TEST(SlurmKeys, AreSwitchesWhereSlurmHasFlags) {
  EXPECT_EQ(slurm_of(parse_slurm("exclusive: true, requeue: false")).options, (Texts{{"exclusive", "true"}, {"requeue", "false"}}));
  EXPECT_EQ(slurm_of(parse_slurm("exclusive: user")).options, (Texts{{"exclusive", "user"}}));
}

TEST(SlurmKeys, AreAllShownWithTheirOrigin) {
  const ParsedSweep parsed = parse_launch("kind: slurm, qos: high", {{"launch.partition", "gpu", "--partition"}});
  for (const SlurmOption& option : slurm_options()) EXPECT_NE(origin_of(parsed, "launch." + option.name), "nothing") << option.name;
  EXPECT_EQ(origin_of(parsed, "launch.qos"), "high from s.yaml:21:28");
  EXPECT_EQ(origin_of(parsed, "launch.partition"), "gpu from --partition launch.partition=gpu");
  EXPECT_EQ(origin_of(parsed, "launch.requeue"), "null from default: true");
}

TEST(Nodes, FollowFromTheRanksOfANode) {
  const SlurmSpec slurm = slurm_of(parse_slurm("ranks_per_node: 2"));
  EXPECT_EQ(slurm.num_nodes, 2);
  EXPECT_EQ(slurm.ranks_per_node, 2);
  EXPECT_EQ(slurm_of(parse_slurm("ntasks-per-node: 1")).num_nodes, 4);
  EXPECT_EQ(slurm_of(parse_slurm("ranks_per_node: 8")).num_nodes, 1) << "a node has room for more";
}

TEST(Nodes, ShareTheRanks) {
  const SlurmSpec slurm = slurm_of(parse_slurm("nodes: 4"));
  EXPECT_EQ(slurm.num_nodes, 4);
  EXPECT_EQ(slurm.ranks_per_node, 1);
  EXPECT_EQ(slurm_of(parse_slurm("nodes: 2, ntasks-per-node: 2, ranks_per_node: 2")).num_nodes, 2);
}

TEST(Nodes, AreRefusedWhereTheyDoNotHoldTheRanks) {
  expect_refused("nodes: 3", "launch.nodes", {"world_size (4) evenly", "found 3"});
  expect_refused("nodes: 2, ranks_per_node: 1", "launch.nodes", {"2 * 1 = 2", "world_size 4"});
  expect_refused("ntasks-per-node: 3", "launch.ntasks-per-node", {"divide world_size (4)", "found 3"});
  expect_refused("ntasks-per-node: 2, ranks_per_node: 1", "launch.ntasks-per-node", {"same as ranks_per_node (1)", "found 2"});
  expect_refused("nodes: 0", "launch.nodes", {"from 1", "'0'"});
}

TEST(SlurmKeys, AreRefusedWithWhatIsWanted) {
  expect_refused("partitoin: gpu", "launch.partitoin", {"did you mean 'partition'?"});
  expect_refused("gpus_per_node: 8", "launch.gpus_per_node", {"did you mean 'gpus-per-node'?"});
  expect_refused("partition: ''", "launch.partition", {"a text of one line"});
  expect_refused("comment: \"a\\nb\"", "launch.comment", {"a text of one line"});
  expect_refused("partition: [a, b]", "launch.partition", {"a text of one line", "a list"});
  expect_refused("exclusive: topology", "launch.exclusive", {"true, false or one of user, mcs", "'topology'"});
  expect_refused("requeue: user", "launch.requeue", {"true or false"});
  expect_refused("shape: one", "launch.shape", {"allocation, array, trials"});
  expect_refused("throttle: 2", "launch.throttle", {"shape array", "found shape allocation"});
  expect_refused("signal: USR1@60", "launch.signal", {"B:USR1@SECONDS", "'USR1@60'"});
  expect_refused("signal: 'B:TERM@60'", "launch.signal", {"'B:TERM@60'"});
  expect_refused("slurm: [nice]", "launch.slurm", {"a map of options", "a list"});
  expect_refused("slurm: {hold: false}", "launch.slurm", {"a map of options"});
  expect_refused("setup: [[a]]", "launch.setup", {"a list of lines"});
}

TEST(Shape, OfJobsThatMayLandApartIsWarnedOfUnlessTheyArePinned) {
  const ParsedSweep apart = parse_slurm("shape: trials");
  ASSERT_EQ(apart.warnings.size(), 1u);
  EXPECT_NE(apart.warnings[0].message.find("exit code 7; pin them with nodelist and exclusive"), std::string::npos)
      << apart.warnings[0].message;
  EXPECT_EQ(parse_slurm("shape: trials, nodelist: n1, exclusive: false").warnings.size(), 1u);
  EXPECT_TRUE(parse_slurm("shape: trials, nodelist: n1, exclusive: true").warnings.empty());
  EXPECT_TRUE(parse_slurm("shape: array").warnings.empty());
}

TEST(PassedThrough, AreNoOptionsThatRematchSetsOrThatHaveAKey) {
  expect_refused("slurm: {job-name: x}", "launch.slurm", {"'job-name' is set by rematch", "found again by the name"});
  expect_refused("slurm: {array: 0-3}", "launch.slurm", {"launch.shape: array"});
  expect_refused("slurm: {partition: x}", "launch.slurm", {"write launch.partition"});
  expect_refused("slurm: {no-requeue: }", "launch.slurm", {"write launch.requeue"});
  expect_refused("slurm: {p: x}", "launch.slurm", {"the long name", "'p'"});
  expect_refused("slurm: {--nice: 1}", "launch.slurm", {"without dashes", "'--nice'"});
  expect_refused("srun: {ntasks: 2}", "launch.srun", {"one supervisor on each node"});
}

TEST(Signal, MayComeEarlier) {
  for (const char* signal : {"B:USR1@600", "BR:10@60", "B:SIGUSR1"})
    EXPECT_EQ(slurm_of(parse_slurm(std::string("signal: '") + signal + "'")).options, (Texts{{"signal", signal}}));
}

TEST(Devices, MustSufficeForTheRanksOfANode) {
  auto trainer = example_trainer();
  trainer.devices.emplace_back("cuda");
  const auto parse = [&](const std::string& gpus) {
    std::string text = sample_with("device: cpu, attention: fused, memory_limit: 2GiB", "device: cuda");
    text = sample_with("kind: local", "kind: slurm, gpus-per-node: '" + gpus + "'", text);
    return all_problems(parse_sweep(text, "s.yaml", trainer, {}));
  };
  EXPECT_EQ(parse("a100:2"), "");
  EXPECT_EQ(parse("8"), "");
  EXPECT_NE(parse("a100:1").find("wanted at least 2 for the ranks of a node; found 1"), std::string::npos);
}

TEST(LocalLaunch, NamesTheKeysOfSlurmThatItDoesNotUse) {
  const ParsedSweep parsed = parse_launch("kind: local, nodes: 2, partition: gpu, setup: [a]");
  EXPECT_EQ(all_problems(parsed), "");
  ASSERT_EQ(parsed.warnings.size(), 1u);
  EXPECT_NE(parsed.warnings[0].message.find("partition, nodes, setup are not used: launch.kind is local"), std::string::npos)
      << parsed.warnings[0].message;
}

TEST(Simulation, OfASweepForSlurmRunsWhereItIsStarted) {
  const std::string text = sample_with("kind: local", "kind: slurm, nodes: 2");
  auto trainer = example_trainer();
  trainer.devices.emplace_back("meta");
  const ParsedSweep parsed = parse_sweep(text, "s.yaml", trainer, {}, SweepUse::kSimulate);
  EXPECT_EQ(all_problems(parsed), "");
  EXPECT_EQ(parsed.spec.launch_kind, "local");
  EXPECT_TRUE(parsed.warnings.empty());
}

}  // namespace
}  // namespace rematch::spec
