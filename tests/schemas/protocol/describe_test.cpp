#include "schemas/protocol/describe.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "schemas/protocol/record_file.h"
#include "tests/schemas/protocol/expect_refused.h"

namespace rematch::protocol {
namespace {

using nlohmann::json;

json example(const std::string& name = "valid") {
  return json::parse(read_whole_file(REMATCH_SOURCE_DIR "/schemas/examples/describe/" + name + ".json").value());
}

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

TEST(Describe, RefusesALayerKindFieldThatCannotNameTheKinds) {
  json document = example();
  document["families"][0]["layer_kind_field"] = "hidden_size";
  expect_refused([&] { parse_describe(document); }, {"mla_moe.layer_kind_field", "found integer of hidden_size"});
  document["families"][0]["layer_kind_field"] = "pattern";
  expect_refused([&] { parse_describe(document); }, {"mla_moe.layer_kind_field", "no such field of pattern"});
  document["families"][0]["layer_kind_field"] = "moe_router_score_function";
  expect_refused([&] { parse_describe(document); }, {"mla_moe.layer_kinds", "one character"});
  document["families"][0]["layer_kinds"] = json::array();
  expect_refused([&] { parse_describe(document); }, {"mla_moe.layer_kinds", "found none"});
}

json& field_of(json& document, const std::string& name) {
  for (json& field : document["families"][0]["fields"])
    if (field["name"] == name) return field;
  throw std::logic_error("the example has no field " + name);
}

TEST(Describe, RefusesARuleThatNamesNothingOrIsOfNoInteger) {
  json document = example();
  field_of(document, "num_attention_heads")["multiple_of"] = {"tensor_parallel_size"};
  expect_refused([&] { parse_describe(document); }, {"mla_moe.num_attention_heads.multiple_of", "\"tensor_parallel_size\""});
  document = example();
  field_of(document, "moe_router_topk")["at_most"] = "moe_grouped_gemm";
  expect_refused([&] { parse_describe(document); }, {"mla_moe.moe_router_topk.at_most", "\"moe_grouped_gemm\""});
  document = example();
  field_of(document, "rotary_base")["multiple_of"] = {"num_layers"};
  expect_refused([&] { parse_describe(document); }, {"mla_moe.rotary_base.type", "wanted integer", "found number"});
}

TEST(Describe, RefusesUnsplitKindsThatAreNoKindOrNoDegree) {
  json document = example();
  document["families"][0]["unsplit_kinds"] = {{"context_parallel_size", {"M"}}};
  expect_refused([&] { parse_describe(document); }, {"mla_moe.unsplit_kinds.context_parallel_size", "\"M\""});
  document["families"][0]["unsplit_kinds"] = {{"sequence_parallel", {"moe"}}};
  expect_refused([&] { parse_describe(document); }, {"mla_moe.unsplit_kinds", "\"sequence_parallel\""});
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

TEST(CountSites, FindsNoneWhereTheRequiredFieldIsNull) {
  Moonlight moonlight;
  moonlight.fields["moe_shared_expert_intermediate_size"] = FieldValue{};
  EXPECT_EQ(count_sites(moonlight.family, moonlight.fields, "shared_experts"), 0);
}

struct FamilyCase {
  const char* preset;
  std::map<std::string, std::int64_t> sites;
};

TEST(CountSites, ReadsTheLayerKindsOfEveryFamily) {
  const Describe describe = parse_describe(example("valid-families"));
  const std::vector<FamilyCase> cases = {
      {"llama3_70b", {{"core_attn", 80}, {"mlp", 80}, {"layernorm", 0}, {"moe", 0}}},
      {"moonlight_16b", {{"core_attn", 27}, {"layernorm", 53}, {"mlp", 1}}},
      {"nemotron_3_nano", {{"core_attn", 6}, {"moe_act", 23}, {"layernorm", 23}, {"shared_experts", 23}, {"mlp", 0}}},
      {"qwen3_next_80b", {{"core_attn", 12}, {"gdn_norm_out", 36}, {"layernorm", 48}, {"moe", 48}}},
  };
  for (const FamilyCase& row : cases) {
    const auto preset = std::find_if(describe.presets.begin(), describe.presets.end(), [&](const auto& p) { return p.name == row.preset; });
    ASSERT_NE(preset, describe.presets.end()) << row.preset;
    const auto family =
        std::find_if(describe.families.begin(), describe.families.end(), [&](const auto& f) { return f.name == preset->family; });
    for (const auto& [label, num_sites] : row.sites)
      EXPECT_EQ(count_sites(*family, preset->fields, label), num_sites) << row.preset << " " << label;
  }
}

struct Hybrid {
  FamilyDescription family{.name = "hybrid",
                           .layer_kind_field = "pattern",
                           .layer_kinds = {"M", "E", "*", "-"},
                           .labels = {{.label = "core_attn", .per_layer = {{"*", 1}}}}};
  FieldMap fields = {{"num_layers", std::int64_t{4}}, {"pattern", std::string("M*-*E*")}};
};

TEST(LayerKinds, OfAStringAreItsCharactersCutToTheLayersThereAre) {
  const Hybrid hybrid;
  EXPECT_EQ(layer_kinds(hybrid.family, hybrid.fields).of_layer, (std::vector<std::string>{"M", "*", "-", "*"}));
  EXPECT_EQ(count_sites(hybrid.family, hybrid.fields, "core_attn"), 2);
}

TEST(LayerKinds, OfAFamilyWithoutAFieldForThemAreAllTheFirst) {
  const FamilyDescription family{.name = "dense", .layer_kinds = {"dense"}};
  EXPECT_EQ(layer_kinds(family, {{"num_layers", std::int64_t{2}}}).of_layer, (std::vector<std::string>{"dense", "dense"}));
}

TEST(LayerKinds, RefuseAStringThatIsTooShortOrNamesNoKind) {
  Hybrid hybrid;
  hybrid.fields["num_layers"] = std::int64_t{7};
  expect_refused([&] { count_sites(hybrid.family, hybrid.fields, "core_attn"); },
                 {"model.fields.pattern[6]", "one character (M, E, *, -)", "7 layers", "a string of 6"});
  hybrid.fields["pattern"] = std::string("M*x****");
  expect_refused([&] { count_sites(hybrid.family, hybrid.fields, "core_attn"); }, {"model.fields.pattern[2]", "found 'x'"});
  hybrid.fields["pattern"] = FieldValue{};
  expect_refused([&] { count_sites(hybrid.family, hybrid.fields, "core_attn"); },
                 {"pattern: wanted a list of integers or a string, found null"});
  hybrid.fields.erase("num_layers");
  expect_refused([&] { count_sites(hybrid.family, hybrid.fields, "core_attn"); }, {"num_layers", "no such field"});
}

TEST(CountSites, RefusesALayerListThatIsTooShortOrNamesNoKind) {
  Moonlight moonlight;
  moonlight.fields["num_layers"] = std::int64_t{28};
  expect_refused([&] { count_sites(moonlight.family, moonlight.fields, "moe"); },
                 {"model.fields.moe_layer_freq[27]", "28 layers", "a list of 27"});
  moonlight.fields["num_layers"] = std::int64_t{2};
  moonlight.fields["moe_layer_freq"] = std::vector<std::int64_t>{0, 2};
  expect_refused([&] { count_sites(moonlight.family, moonlight.fields, "moe"); }, {"moe_layer_freq[1]", "0 to 1", "found 2"});
  moonlight.fields.erase("moe_layer_freq");
  expect_refused([&] { count_sites(moonlight.family, moonlight.fields, "moe"); }, {"moe_layer_freq", "no such field"});
}

}  // namespace
}  // namespace rematch::protocol
