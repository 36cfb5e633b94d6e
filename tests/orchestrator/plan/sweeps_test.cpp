// Every file in sweeps/ can be planned for the trainer of the example describe document, and every example sweep is what its name says.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "orchestrator/plan/plan.h"
#include "orchestrator/rules/published_setting.h"
#include "schemas/protocol/published.h"
#include "tests/orchestrator/published_trainer.h"
#include "tests/orchestrator/spec/sample.h"

namespace rematch::plan {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> yaml_files(const std::string& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(fs::path(REMATCH_SOURCE_DIR) / folder))
    if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

spec::ParsedSweep parse_file(const fs::path& path, const protocol::Describe& trainer = spec::example_trainer()) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return spec::parse_sweep(text.str(), path.filename(), trainer, {});
}

TEST(SampleSweeps, AreAllPlanned) {
  auto files = yaml_files("sweeps");
  ASSERT_GE(files.size(), 2u);
  const auto of_slurm = yaml_files("sweeps/slurm");
  ASSERT_FALSE(of_slurm.empty());
  files.insert(files.end(), of_slurm.begin(), of_slurm.end());
  for (const auto& file : files) {
    const auto parsed = parse_file(file);
    ASSERT_EQ(all_problems(parsed), "") << file;
    const auto plan = make_plan(parsed.spec, spec::example_trainer());
    EXPECT_TRUE(check_plan(plan, parsed.spec, spec::example_trainer()).problems.empty()) << file;
    EXPECT_EQ(parsed.spec.common.study, file.stem()) << "a sweep is named after its file";
    for (std::size_t i = 0; i < plan.arms.size(); ++i) {
      const bool waits = parsed.spec.strategy_kind == "escalate" && i > 0;
      EXPECT_EQ(plan.arms[i].status, waits ? base::ArmStatus::kWaiting : base::ArmStatus::kPlanned) << file << " " << plan.arms[i].arm;
    }
  }
}

TEST(PipelineSweeps, ArePlannedByATrainerThatSplitsEveryAxis) {
  const protocol::Describe trainer = tests::trainer_of_every_axis();
  for (const char* name : {"sweeps/parallel/hot_rank_pp4.yaml", "sweeps/parallel/oom_moves_pp4.yaml"}) {
    const fs::path file = fs::path(REMATCH_SOURCE_DIR) / name;
    const auto parsed = parse_file(file, trainer);
    ASSERT_EQ(all_problems(parsed), "") << file;
    EXPECT_TRUE(check_plan(make_plan(parsed.spec, trainer), parsed.spec, trainer).problems.empty()) << file;
    EXPECT_EQ(parsed.spec.common.study, file.stem()) << "a sweep is named after its file";
  }
}

// Every row that may be compared is of an arm of its sweep, in the setting of the sweep.
TEST(PublishedSweeps, HaveTheArmsAndTheSettingOfTheirPublishedRows) {
  int num_compared = 0;
  for (const auto& file : yaml_files("sweeps/published")) {
    const fs::path table = fs::path(file).replace_extension(".json");
    if (!fs::exists(table)) continue;
    SCOPED_TRACE(file.string());
    const protocol::Describe trainer = tests::trainer_of_published_sweeps();
    const auto parsed = parse_file(file, trainer);
    ASSERT_EQ(all_problems(parsed), "");
    const base::StudyPlan plan = make_plan(parsed.spec, trainer);
    const protocol::Published published = protocol::read_published(table.string());
    for (const protocol::PublishedRow& row : published.rows) {
      if (!row.comparable || !row.arm) continue;
      ++num_compared;
      auto is_its = [&](const protocol::Trial& trial) { return trial.arm == *row.arm; };
      const auto trial = std::find_if(plan.trials.begin(), plan.trials.end(), is_its);
      ASSERT_NE(trial, plan.trials.end()) << *row.arm;
      for (const auto& difference : rules::setting_differences(published, *trial))
        ADD_FAILURE() << *row.arm << " " << difference.field << ": published " << difference.published << ", here " << difference.here;
    }
  }
  EXPECT_EQ(num_compared, 12) << "six of Moonlight, six of Nemotron";
}

TEST(TheFirstSweep, HoldsTheSixPublishedArmsAndMoe) {
  const auto parsed = parse_file(fs::path(REMATCH_SOURCE_DIR) / "sweeps/first.yaml");
  const auto plan = make_plan(parsed.spec, spec::example_trainer());
  std::vector<std::string> arms;
  for (const auto& arm : plan.arms) arms.push_back(arm.arm);
  EXPECT_EQ(arms, (std::vector<std::string>{"[]", "core_attn", "mla_up_proj", "moe_act", "moe", "mla_up_proj+mlp", "layernorm+moe_act"}));
  EXPECT_EQ(plan.num_blocks, 2);
  EXPECT_EQ(plan.trials.size(), 16u);
}

// Only what a schema cannot say; the schema's own refusals are tested beside it.
TEST(ExampleSweeps, AreAcceptedOrRefusedAsTheirNamesSay) {
  int num_invalid = 0;
  for (const auto& file : yaml_files("schemas/examples/sweep")) {
    const bool invalid = file.stem().string().rfind("invalid", 0) == 0;
    num_invalid += invalid ? 1 : 0;
    const auto parsed = parse_file(file);
    EXPECT_EQ(parsed.problems.empty(), !invalid) << file << "\n" << all_problems(parsed);
  }
  EXPECT_GE(num_invalid, 4);
}

}  // namespace
}  // namespace rematch::plan
