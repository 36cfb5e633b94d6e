// Published tables that are no comparison: said as such, row by row and field by field.
#include "orchestrator/rules/published_match.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "orchestrator/rules/compare_published.h"
#include "tests/orchestrator/published_builder.h"

namespace rematch::rules {
namespace {

using protocol::Published;
using protocol::PublishedEnd;

base::StudyRows predicted_study() {
  base::StudyRows study = tests::clean_study("simulated").rows();
  tests::mark_predicted(study);
  return study;
}

bool has(const std::vector<std::string>& fields, const std::string& field) {
  return std::find(fields.begin(), fields.end(), field) != fields.end();
}

TEST(PublishedRefusal, IsOfATableWithoutARowThatRecomputesNothing) {
  Published published = tests::make_published();
  published.rows = {tests::published_row({"moe_act"}, PublishedEnd::kCompleted, 20)};
  EXPECT_FALSE(has_control(published));
  EXPECT_NE(published_refusal(predicted_study(), published).find("no row without recompute, so no matched control"), std::string::npos);
  published.rows.push_back(tests::published_row({}, PublishedEnd::kCompleted, 20));
  EXPECT_TRUE(has_control(published));
  EXPECT_EQ(published_refusal(predicted_study(), published), "");
}

TEST(PublishedRefusal, DoesNotTakeAnUnsetListForAControl) {
  Published published = tests::make_published();
  published.rows = {tests::published_row({}, PublishedEnd::kCompleted, 20)};
  published.rows[0].recompute->recompute_modules.reset();
  EXPECT_FALSE(has_control(published)) << "Megatron makes core_attn of it";
  published.rows[0].recompute->recompute_granularity.reset();
  EXPECT_TRUE(has_control(published));
}

TEST(PublishedRefusal, NamesTheFieldsOfAnotherSetting) {
  Published published = tests::make_published();
  published.rows = {tests::published_row({}, PublishedEnd::kCompleted, 20)};
  published.setting.seq_length = 4096;
  EXPECT_NE(published_refusal(predicted_study(), published).find("its setting differs from the study's in seq_length. By row: []: another"),
            std::string::npos)
      << published_refusal(predicted_study(), published);
}

TEST(PublishedRefusal, StandsForARowOfEveryArmThatNeedsNoControl) {
  Published published = tests::make_published();
  published.rows = {tests::published_row({}, PublishedEnd::kOutOfMemory, 0)};
  published.rows[0].arm.reset();
  published.rows[0].recompute.reset();
  EXPECT_EQ(published_refusal(predicted_study(), published), "") << "an outcome of every arm is no difference of two";
}

TEST(PublishedRefusal, IsOfTheDenseHistoryWithEachOfItsRows) {
  const Published published = protocol::read_published(REMATCH_SOURCE_DIR "/sweeps/published/llama3_70b_32xh100.json");
  const std::string refusal = published_refusal(predicted_study(), published);
  for (const char* part : {"no matched control", "core_attn: FP8", "mlp: FP8", "mlp+core_attn: FP8", "core_attn+layernorm: FP8",
                           "'golden throughput': not a memory measurement"})
    EXPECT_NE(refusal.find(part), std::string::npos) << part << "\nin: " << refusal;
  const std::vector<std::string> fields = fields_not_stated(published);
  for (const char* field :
       {"setting.core_revision", "setting.attention", "setting.train_iters", "setting.layout.context_parallel_size",
        "recompute of 'golden throughput'", "peak_allocated of 'golden throughput'", "outcome of mlp, mlp+core_attn, 'golden throughput'"})
    EXPECT_TRUE(has(fields, field)) << field;
  EXPECT_FALSE(has(fields, "setting.seq_length"));
}

}  // namespace
}  // namespace rematch::rules
