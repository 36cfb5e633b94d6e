#include "schemas/protocol/field_rules.h"

#include <gtest/gtest.h>

namespace rematch::protocol {
namespace {

// Heads of a gated delta net, which tensor and context parallelism share out together.
FamilyDescription heads_family() {
  FamilyDescription family{.name = "gdn", .layer_kind_field = "pattern", .layer_kinds = {"M", "*"}};
  family.fields = {{.name = "key_heads", .type = "integer", .multiple_of = {"tensor_model_parallel_size", "context_parallel_size"}},
                   {.name = "value_heads", .type = "integer", .multiple_of = {"key_heads"}},
                   {.name = "topk", .type = "integer", .nullable = true, .at_most = "value_heads"}};
  return family;
}

struct Case {
  const char* name;
  FieldMap fields;
  ParallelSpec spec;
  std::vector<std::string> says;
};

TEST(FieldProblems, NameBothSidesWithTheirNumbers) {
  const auto heads = [](std::int64_t key, std::int64_t value) { return FieldMap{{"key_heads", key}, {"value_heads", value}}; };
  const ParallelSpec alone{};
  const ParallelSpec split{.world_size = 8, .tensor_model_parallel_size = 2, .context_parallel_size = 4};
  FieldMap with_topk = heads(8, 16);
  with_topk["topk"] = std::int64_t{17};
  FieldMap with_null = heads(8, 16);
  with_null["topk"] = FieldValue{};
  const Case cases[] = {
      {"alone", heads(3, 6), alone, {}},
      {"values", heads(3, 7), alone, {"value_heads must be a multiple of key_heads 3; found 7"}},
      {"product", heads(8, 8), split, {}},
      {"half of the product",
       heads(4, 8),
       split,
       {"key_heads must be a multiple of tensor_model_parallel_size 2 * context_parallel_size 4; found 4"}},
      {"both",
       heads(6, 8),
       split,
       {"key_heads must be a multiple of tensor_model_parallel_size 2 * context_parallel_size 4; found 6",
        "value_heads must be a multiple of key_heads 6; found 8"}},
      {"bound", with_topk, alone, {"topk must be at most value_heads 16; found 17"}},
      {"null", with_null, alone, {}},
      {"no such field", {{"value_heads", std::int64_t{7}}}, split, {}},
  };
  for (const Case& row : cases) {
    SCOPED_TRACE(row.name);
    std::vector<std::string> said;
    for (const FieldProblem& problem : field_problems(heads_family(), row.fields, row.spec)) said.push_back(problem.message);
    EXPECT_EQ(said, row.says);
  }
}

TEST(FieldProblems, SayWhichKeysTheyAreOf) {
  const auto problems = field_problems(heads_family(), {{"key_heads", std::int64_t{3}}, {"value_heads", std::int64_t{4}}},
                                       {.world_size = 2, .tensor_model_parallel_size = 2});
  ASSERT_EQ(problems.size(), 2u);
  EXPECT_EQ(problems[0].field, "key_heads");
  EXPECT_EQ(problems[0].others, std::vector<std::string>{"parallel.tensor_model_parallel_size"}) << "a degree of 1 divides everything";
  EXPECT_EQ(problems[1].others, std::vector<std::string>{"model.key_heads"});
}

TEST(UnsplitKinds, AreThoseThatTheModelHasOnAnAxisThatIsSplit) {
  FamilyDescription family = heads_family();
  family.unsplit_kinds = {{"context_parallel_size", {"M"}}};
  const FieldMap mixed = {{"num_layers", std::int64_t{2}}, {"pattern", std::string("*M")}};
  const FieldMap attention = {{"num_layers", std::int64_t{1}}, {"pattern", std::string("*M")}};
  const ParallelSpec split{.world_size = 2, .context_parallel_size = 2};
  const auto found = unsplit_kinds(family, mixed, split);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].option, "context_parallel_size");
  EXPECT_EQ(found[0].degree, 2);
  EXPECT_EQ(found[0].kinds, std::vector<std::string>{"M"});
  EXPECT_TRUE(unsplit_kinds(family, attention, split).empty()) << "the M lies past the last layer";
  EXPECT_TRUE(unsplit_kinds(family, mixed, {.world_size = 2, .tensor_model_parallel_size = 2}).empty());
}

}  // namespace
}  // namespace rematch::protocol
