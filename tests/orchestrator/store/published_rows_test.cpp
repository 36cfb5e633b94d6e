// Imported tables in the database, and what the store says of a study's work.
#include "orchestrator/store/query.h"
#include "schemas/protocol/published.h"
#include "tests/orchestrator/store/store_fixture.h"
#include "tests/orchestrator/study_builder.h"

#include <nlohmann/json.hpp>

namespace rematch::store {
namespace {

std::string shipped(const std::string& name) {
  return protocol::to_json(protocol::read_published(REMATCH_SOURCE_DIR "/sweeps/published/" + name + ".json")).dump();
}

class PublishedRows : public StoreFixture {
 protected:
  Answer answer_to(const Question& question) { return ask(path_, question, INT64_MAX).value(); }
};

TEST_F(PublishedRows, AreARowOfTheViewEachWithNullForWhatIsNotStated) {
  open().put_published("nemotron_3_nano_16xh100", shipped("nemotron_3_nano_16xh100"));
  const Answer answer =
      answer_to({"SELECT provenance, arm, outcome, iterations_completed, peak_allocated_bytes, step_time_ns, tflops_per_gpu FROM published "
                 "ORDER BY position",
                 {}});
  ASSERT_EQ(answer.rows.size(), 6U);
  const ValueRow not_comparable = {
      std::string("published"), std::string("core_attn"), std::string("out_of_memory"), std::int64_t{0}, {}, {}, {}};
  EXPECT_EQ(answer.rows[1], not_comparable);
  const ValueRow completed = {std::string("published"),
                              std::string("moe"),
                              std::string("completed"),
                              std::int64_t{12},
                              std::int64_t{64'653'000'000},
                              std::int64_t{657'420'000},
                              277.72};
  EXPECT_EQ(answer.rows[4], completed);
}

TEST_F(PublishedRows, HaveTheirPrintedDifferencesInAViewOfTheirOwn) {
  open().put_published("moonlight_16b_8xh100", shipped("moonlight_16b_8xh100"));
  const Answer answer =
      answer_to({"SELECT arm, against, published_fraction, published_bytes FROM published_deltas WHERE published_bytes IS NOT NULL", {}});
  const ValueRow in_bytes = {std::string("mla_up_proj"), std::string("moe_act"), {}, std::int64_t{39'000'000}};
  ASSERT_EQ(answer.rows.size(), 1U);
  EXPECT_EQ(answer.rows[0], in_bytes);
}

TEST_F(PublishedRows, AreReplacedByATableOfTheSameName) {
  Store store = open();
  store.put_published("a_table", shipped("llama3_70b_32xh100"));
  store.put_published("a_table", shipped("nemotron_3_nano_8xh100"));
  EXPECT_EQ(answer_to(canned_question("published", {.study = "a_t"}).value()).rows.size(), 1U);
  EXPECT_TRUE(answer_to(canned_question("published", {.study = "another"}).value()).rows.empty());
  EXPECT_FALSE(canned_question("published", {.rank = 1}));
}

TEST_F(PublishedRows, AreGoneAfterAllIsReplacedByNothing) {
  Store store = open();
  store.put_published("a_table", shipped("llama3_70b_32xh100"));
  store.replace_all([] {});
  EXPECT_TRUE(answer_to(canned_question("published", {}).value()).rows.empty());
}

TEST_F(PublishedRows, FindTheWorkThatAStudyCounted) {
  base::StudyRows study = tests::clean_study().rows();
  for (base::AttemptRows& attempt : study.attempts)
    for (base::RankRows& rank : attempt.ranks) rank.model->flops_per_step = 12.5e12;
  Store store = open();
  EXPECT_EQ(store.first_trial(study.plan.study_id), std::nullopt);
  EXPECT_EQ(store.flops_per_step(study.plan.study_id), std::nullopt);
  put(store, study);
  EXPECT_EQ(store.first_trial(study.plan.study_id)->trial_id, study.plan.trials.front().trial_id);
  EXPECT_EQ(store.flops_per_step(study.plan.study_id), 12.5e12);
}

}  // namespace
}  // namespace rematch::store
