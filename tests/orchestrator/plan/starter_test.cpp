// Every preset of the trainer has a first sweep file, which parses, is planned without a warning, and says what does not apply.
#include "orchestrator/plan/starter.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "orchestrator/plan/plan.h"
#include "tests/orchestrator/published_trainer.h"

namespace rematch::plan {
namespace {

namespace fs = std::filesystem;

// The presets of the tree, and every device.
protocol::Describe whole_trainer() {
  protocol::Describe trainer = tests::trainer_of_published_sweeps();
  trainer.devices = {"cpu", "cuda", "meta"};
  trainer.optimizer_modes.push_back("gradient_accumulation_fusion=false");
  for (protocol::FamilyDescription& family : trainer.families)  // which the trainer's own family of gated delta nets does not have
    if (family.name == "gdn_moe") std::erase_if(family.fields, [](const auto& field) { return field.name == "ffn_hidden_size"; });
  trainer.presets.clear();
  for (const auto& entry : fs::directory_iterator(fs::path(REMATCH_SOURCE_DIR) / "runtime/models/presets")) {
    const auto document = nlohmann::json::parse(std::ifstream(entry.path()));
    protocol::PresetDescription preset{entry.path().stem(), document.at("family"), {}};
    for (const auto& [name, value] : document.at("fields").items()) preset.fields[name] = protocol::field_value_from_json(value, name);
    trainer.presets.push_back(preset);
  }
  return trainer;
}

spec::ParsedSweep parsed(const std::string& text, const protocol::Describe& trainer) {
  return spec::parse_sweep(text, "starter.yaml", trainer, {});
}

void expect_planned(const protocol::Describe& trainer, const StarterRequest& request, const std::string& device) {
  const auto text = starter_sweep(trainer, request);
  ASSERT_TRUE(text.ok()) << request.preset;
  const auto sweep = parsed(text.value(), trainer);
  ASSERT_EQ(all_problems(sweep), "") << request.preset << "\n" << text.value();
  EXPECT_EQ(sweep.spec.common.study, request.preset);
  EXPECT_EQ(sweep.spec.common.backend.device, device);
  const auto plan = make_plan(sweep.spec, trainer);
  EXPECT_TRUE(check_plan(plan, sweep.spec, trainer).problems.empty()) << request.preset;
  EXPECT_GE(plan.arms.size(), 3u) << request.preset;
  for (const base::ArmRow& arm : plan.arms) EXPECT_EQ(arm.status, base::ArmStatus::kPlanned) << request.preset << " " << arm.arm;
}

TEST(Starter, OfEveryPresetIsPlannedWithEveryLabelThatItNames) {
  const protocol::Describe trainer = whole_trainer();
  ASSERT_GE(trainer.presets.size(), 10u);
  for (const StarterPreset& preset : starter_presets(trainer))
    expect_planned(trainer, {preset.name, std::nullopt, std::nullopt}, preset.is_tiny ? "cpu" : "cuda");
}

TEST(Starter, OfAnotherDeviceIsPlannedToo) {
  const protocol::Describe trainer = whole_trainer();
  expect_planned(trainer, {"moonlight_16b", "cpu", std::nullopt}, "cpu");
  expect_planned(trainer, {"moonlight_tiny", "cuda", std::nullopt}, "cuda");
  expect_planned(trainer, {"moonlight_tiny", "meta", std::nullopt}, "cuda");
}

TEST(Starter, WithVirtualStagesHasAWholeNumberOfRoundsOfMicroBatchesAtEveryWorldSize) {
  const protocol::Describe trainer = whole_trainer();
  for (const std::int64_t world_size : {16, 64, 512, 1024, 4096}) expect_planned(trainer, {"llama3_70b", {}, world_size}, "cuda");
  const auto wide = parsed(starter_sweep(trainer, {"llama3_70b", {}, 512}).value(), trainer).spec;
  EXPECT_EQ(wide.common.training.global_batch_size, 128) << "4 stages on each of 32 data-parallel ranks";
}

TEST(Starter, OfALayoutThatTheModelCannotHaveIsAnError) {
  protocol::Describe trainer = whole_trainer();
  for (protocol::PresetDescription& preset : trainer.presets)
    if (preset.name == "llama3_70b") preset.fields["num_layers"] = std::int64_t{79};
  const auto refused = starter_sweep(trainer, {"llama3_70b", {}, {}});
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("with 32 ranks is refused:\n  "), std::string::npos) << refused.error().message;
}

TEST(Starter, IsWrittenThoughThisBuildOfTheTrainerCannotDoAllOfIt) {
  protocol::Describe trainer = whole_trainer();
  trainer.devices = {"cpu"};
  trainer.parallel_axes = {"expert_model_parallel_size"};
  std::erase(trainer.optimizer_modes, "gradient_accumulation_fusion=true");
  const auto text = starter_sweep(trainer, {"moonlight_16b", std::nullopt, std::nullopt});
  ASSERT_TRUE(text.ok()) << text.error().message;
  EXPECT_NE(all_problems(parsed(text.value(), trainer)).find("cannot split this axis"), std::string::npos);
}

TEST(Starter, NamesItsOwnFileWhatItWantsAndWhereItsLayoutIsFrom) {
  const protocol::Describe trainer = whole_trainer();
  const auto expect_says = [&](const StarterRequest& request, const std::string& part) {
    const std::string text = starter_sweep(trainer, request).value();
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  };
  expect_says({"moonlight_16b", {}, {}}, "rematch plan moonlight_16b.yaml ");
  expect_says({"moonlight_16b", {}, {}, "my sweep.yaml"}, "rematch plan 'my sweep.yaml' ");
  expect_says({"moonlight_tiny", "cuda", 1}, "It wants 1 GPU where");
  expect_says({"llama3_70b", {}, {}}, "fine-tuning of Llama 3 70B on 32 H100 (sweeps/published/llama3_70b_32xh100.yaml)");
  expect_says({"deepseek_v3", {}, {}}, "The layout is an example, of no published run");
  expect_says({"moonlight_tiny", {}, {}}, "train_iters: 14");
  expect_says({"moonlight_tiny", {}, {}}, "and 1 to spare");
}

TEST(Starter, TakesCoresForATinyPresetAndGpusInALayoutOfItsOwnForAnother) {
  const protocol::Describe trainer = whole_trainer();
  const auto tiny = parsed(starter_sweep(trainer, {"moonlight_tiny", {}, 2}).value(), trainer).spec;
  EXPECT_EQ(tiny.common.backend.device, "cpu");
  EXPECT_EQ(tiny.common.parallel.world_size, 2);
  EXPECT_EQ(tiny.common.parallel.expert_model_parallel_size, 2);
  EXPECT_EQ(tiny.common.training.global_batch_size, 2);
  const auto full = parsed(starter_sweep(trainer, {"moonlight_16b", {}, {}}).value(), trainer).spec;
  EXPECT_EQ(full.common.backend.device, "cuda");
  EXPECT_EQ(full.common.parallel.world_size, 8);
  EXPECT_EQ(full.common.parallel.tensor_model_parallel_size, 2);
  EXPECT_EQ(full.common.parallel.expert_model_parallel_size, 8);
}

TEST(Starter, KeepsALayoutThatTheRanksDivideAndRefusesAnyOther) {
  const protocol::Describe trainer = whole_trainer();
  const auto wide = parsed(starter_sweep(trainer, {"moonlight_16b", {}, 32}).value(), trainer).spec;
  EXPECT_EQ(wide.common.training.global_batch_size, 16) << "one sequence each of 16 data-parallel ranks";
  const auto odd = starter_sweep(trainer, {"moonlight_16b", {}, 6});
  ASSERT_FALSE(odd.ok());
  EXPECT_NE(odd.error().message.find("wants a multiple of 8 ranks; found --world-size 6"), std::string::npos) << odd.error().message;
  const auto unknown = starter_sweep(trainer, {"moonlight_16", {}, {}});
  EXPECT_NE(unknown.error().message.find("did you mean 'moonlight_16b'"), std::string::npos) << unknown.error().message;
}

TEST(Starter, SaysWhyALabelIsNoArmAndWhatEachModelFieldIs) {
  const std::string text = starter_sweep(whole_trainer(), {"llama3_tiny", {}, {}}).value();
  for (const char* part : {"    - core_attn ", "    # moe ", "not here: family dense_gqa has no such boundary", "    # layernorm ",
                           "unknown to this revision", "  # num_layers: 4 ", "# transformer layers"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

}  // namespace
}  // namespace rematch::plan
