#include "schemas/protocol/describe.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "schemas/protocol/record_file.h"
#include "tests/schemas/protocol/expect_refused.h"

namespace rematch::protocol {
namespace {

using nlohmann::json;

json example() { return json::parse(read_whole_file(REMATCH_SOURCE_DIR "/schemas/examples/describe/valid.json").value()); }

struct Moonlight {
  Describe describe = parse_describe(example());
  FamilyDescription family = describe.families.at(0);
  FieldMap fields = describe.presets.at(0).fields;
};

TEST(Describe, ReadsBackWhatItWroteByteForByte) {
  const std::string text = to_json(parse_describe(example())).dump();
  EXPECT_EQ(to_json(parse_describe(json::parse(text))).dump(), text);
}

TEST(Describe, ReadsAnIntegerInANumberFieldAsANumber) {
  json document = example();
  document["presets"][0]["fields"]["rotary_base"] = 50000;
  EXPECT_EQ(std::get<double>(parse_describe(document).presets[0].fields.at("rotary_base")), 50000.0);
}

TEST(Describe, RefusesAPresetThatItsFamilyCannotTake) {
  json document = example();
  document["presets"][0]["fields"]["num_layers"] = 2.5;
  expect_refused([&] { parse_describe(document); }, {"moonlight_16b.fields.num_layers", "wanted integer", "found number"});
  document = example();
  document["presets"][0]["fields"]["n_layers"] = 2;
  expect_refused([&] { parse_describe(document); }, {"fields.n_layers", "mla_moe"});
  document = example();
  document["presets"][0]["family"] = "gqa";
  expect_refused([&] { parse_describe(document); }, {"moonlight_16b.family", "\"gqa\""});
}

TEST(Describe, TakesNullOnlyWhereTheFieldMayBeNull) {
  json document = example();
  EXPECT_EQ(field_type_name(parse_describe(document).presets[0].fields.at("q_lora_rank")), "null");
  document["presets"][0]["fields"]["hidden_size"] = nullptr;
  expect_refused([&] { parse_describe(document); }, {"fields.hidden_size", "found null"});
}

TEST(CountSites, CountsTheRegionsOfEachLayerKind) {
  const Moonlight moonlight;
  const std::map<std::string, std::int64_t> wanted = {{"core_attn", 27}, {"mla_up_proj", 27}, {"layernorm", 53},      {"moe_act", 26},
                                                      {"mlp", 1},        {"moe", 26},         {"shared_experts", 26}, {"gdn_norm_out", 0}};
  for (const auto& [label, num_sites] : wanted) EXPECT_EQ(count_sites(moonlight.family, moonlight.fields, label), num_sites) << label;
}

TEST(CountSites, CutsALongerLayerListToTheLayersThereAre) {
  Moonlight moonlight;
  moonlight.fields["num_layers"] = std::int64_t{4};
  EXPECT_EQ(count_sites(moonlight.family, moonlight.fields, "moe_act"), 3);
  EXPECT_EQ(count_sites(moonlight.family, moonlight.fields, "layernorm"), 7);
}

TEST(CountSites, FindsNoneWhereTheRequiredFieldIsZero) {
  Moonlight moonlight;
  moonlight.fields["moe_shared_expert_intermediate_size"] = std::int64_t{0};
  EXPECT_EQ(count_sites(moonlight.family, moonlight.fields, "shared_experts"), 0);
}

TEST(CountSites, RefusesALayerListThatIsTooShortOrNamesNoKind) {
  Moonlight moonlight;
  moonlight.fields["num_layers"] = std::int64_t{28};
  expect_refused([&] { count_sites(moonlight.family, moonlight.fields, "moe"); }, {"moe_layer_freq[27]", "28 layers", "a list of 27"});
  moonlight.fields["num_layers"] = std::int64_t{2};
  moonlight.fields["moe_layer_freq"] = std::vector<std::int64_t>{0, 2};
  expect_refused([&] { count_sites(moonlight.family, moonlight.fields, "moe"); }, {"moe_layer_freq[1]", "0 to 1", "found 2"});
  moonlight.fields.erase("moe_layer_freq");
  expect_refused([&] { count_sites(moonlight.family, moonlight.fields, "moe"); }, {"moe_layer_freq", "no such field"});
}

}  // namespace
}  // namespace rematch::protocol
