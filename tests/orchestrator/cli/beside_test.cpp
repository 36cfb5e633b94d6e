// What a workspace's database holds beside a study, with studies that were made in code.
#include "orchestrator/cli/beside.h"

#include <gtest/gtest.h>

#include <sstream>

#include "orchestrator/rules/judge.h"
#include "orchestrator/store/store.h"
#include "schemas/protocol/trial_paths.h"
#include "tests/orchestrator/published_builder.h"
#include "tests/support/temp_dir.h"

namespace rematch::cli {
namespace {

enum class Device { kModelled, kMeta };

struct StudyShape {
  std::string name;
  std::int64_t number = 0;  // of its ids
  Device device = Device::kModelled;
  std::int64_t seq_length = 64;
};

class BesideTest : public ::testing::Test {
 protected:
  BesideTest() { options_.workspace = temp_.path(); }

  base::StudyRows put(const StudyShape& shape) {
    base::StudyRows study = tests::clean_study(shape.name).rows();
    study.plan.study_id = tests::hex_id(shape.number);
    for (protocol::Trial& trial : study.plan.trials) adapt(trial, shape);
    for (base::AttemptRows& attempt : study.attempts) {
      adapt(attempt.trial, shape);
      attempt.study_id = study.plan.study_id;
      attempt.launch.trial_id = attempt.trial.trial_id;
      for (base::RankRows& rank : attempt.ranks) rank.hello->trial_id = attempt.trial.trial_id;
    }
    if (shape.device == Device::kMeta) tests::mark_predicted(study);
    store::Store store = store::Store::open(protocol::WorkspacePaths{temp_.path()}.database()).value();
    store.put_plan(study.plan);
    for (const base::AttemptRows& attempt : study.attempts) store.put_attempt(attempt);
    return study;
  }

  report::ReportModel report_of(const base::StudyRows& study) {
    return make_report_beside(study, rules::judge_study(study), std::nullopt, options_, {out_, err_});
  }

  tests::TempDir temp_;
  GlobalOptions options_;
  std::ostringstream out_;
  std::ostringstream err_;

 private:
  static void adapt(protocol::Trial& trial, const StudyShape& shape) {
    trial.trial_id = std::to_string(shape.number) + trial.trial_id.substr(1);
    trial.training.seq_length = shape.seq_length;
  }
};

const report::Table* twin_table(const report::ReportModel& model) {
  for (const report::Table& table : model.tables)
    if (table.key == "twin_arms") return &table;
  return nullptr;
}

TEST_F(BesideTest, ShowsAPredictedStudyBesideTheModelledOneThatTrainsTheSame) {
  put({"longer", 1, Device::kModelled, 128});
  put({"modelled", 2});
  const report::ReportModel model = report_of(put({"simulated", 3, Device::kMeta}));
  ASSERT_NE(twin_table(model), nullptr);
  EXPECT_NE(twin_table(model)->title.find("study modelled (" + tests::hex_id(2) + ")"), std::string::npos) << twin_table(model)->title;
  EXPECT_EQ(twin_table(model)->rows.size(), 3U);
  EXPECT_EQ(err_.str(), "");
}

TEST_F(BesideTest, ShowsNothingBesideAStudyThatIsAloneOrNotPredicted) {
  const base::StudyRows modelled = put({"modelled", 2});
  put({"again", 4});
  EXPECT_EQ(twin_table(report_of(modelled)), nullptr) << "it is not predicted";
  EXPECT_EQ(twin_table(report_of(put({"longer", 5, Device::kMeta, 128}))), nullptr) << "nothing trains the same";
  const base::StudyRows simulated = put({"simulated", 6, Device::kMeta});
  EXPECT_NE(twin_table(report_of(simulated)), nullptr);
  options_.workspace = temp_.path() / "none";
  EXPECT_EQ(twin_table(report_of(simulated)), nullptr);
  EXPECT_FALSE(std::filesystem::exists(options_.workspace)) << "a report makes no workspace";
}

TEST_F(BesideTest, SaysThatADatabaseCannotBeOpened) {
  const base::StudyRows simulated = put({"simulated", 6, Device::kMeta});
  options_.workspace = temp_.path() / "broken";
  std::filesystem::create_directories(protocol::WorkspacePaths{options_.workspace}.database());
  EXPECT_EQ(twin_table(report_of(simulated)), nullptr);
  EXPECT_NE(err_.str().find("no other study is set beside this one"), std::string::npos) << err_.str();
}

}  // namespace
}  // namespace rematch::cli
