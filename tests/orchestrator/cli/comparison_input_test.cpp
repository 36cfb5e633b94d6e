#include "orchestrator/cli/comparison_input.h"

#include <gtest/gtest.h>

#include <sstream>

#include "orchestrator/cli/judged_before.h"
#include "orchestrator/rules/judge.h"
#include "orchestrator/store/database.h"
#include "probes/host/build_id.h"
#include "tests/orchestrator/study_builder.h"
#include "tests/support/temp_dir.h"

namespace rematch::cli {
namespace {

class ComparisonInput : public ::testing::Test {
 protected:
  std::string put(const std::string& name, std::int64_t number) {
    base::StudyRows study = tests::clean_study(name).rows();
    study.plan.study_id = tests::hex_id(number);
    for (base::AttemptRows& attempt : study.attempts) attempt.study_id = study.plan.study_id;
    store::Store store = store::Store::open(path_).value();
    store.put_plan(study.plan);
    store.put_attempts(study.attempts);
    store.put_verdicts(study.plan.study_id, rules::judge_study(study));
    return study.plan.study_id;
  }

  ComparedSubject found(const std::string& key, const std::string& study = "") {
    return find_compared(store::Store::open(path_).value(), key, study).value();
  }

  std::string told(const std::string& study_id = "") const {
    std::ostringstream err;
    tell_of_judged_before(path_, study_id, err);
    return err.str();
  }

  tests::TempDir temp_;
  std::filesystem::path path_ = temp_.path() / "rematch.db";
};

TEST_F(ComparisonInput, AnArmByItsNameGoesBeforeAStudyThatOnlyBeginsSo) {
  put("moe_act_alone", 1);
  EXPECT_EQ(found("moe_act").kind, ComparedKind::kArm);
  EXPECT_EQ(found("moe_act_").kind, ComparedKind::kStudy);
  EXPECT_EQ(found("moe_act_alone").kind, ComparedKind::kStudy);
}

TEST_F(ComparisonInput, AStudyByItsNameGoesBeforeAnArmUnlessTheStudyIsNamed) {
  put("moe_act", 1);
  EXPECT_EQ(found("moe_act").kind, ComparedKind::kStudy);
  EXPECT_EQ(found("moe_act", "moe_act").kind, ComparedKind::kArm);
}

TEST_F(ComparisonInput, VerdictsOfBeforeTheNewestSchemaOrOfAnotherBuildAreTold) {
  const std::string first = put("first", 1);
  const std::string second = put("second", 2);
  EXPECT_EQ(told(), "");
  store::Database(path_).run("UPDATE verdict SET provenance = NULL WHERE study_id = ?", {first});
  const std::string own = probes::program_build_id().value();
  store::Store::open(path_).value().put_report(second, {own, "", "", 0, "", ""});
  const std::string text = told();
  EXPECT_NE(text.find("[judged-before]: first (" + first + ") was judged before schema version 8"), std::string::npos) << text;
  EXPECT_EQ(text.find("second"), std::string::npos) << text;
  EXPECT_EQ(told(second), "");
  store::Store::open(path_).value().put_report(second, {"0123", "", "", 0, "", ""});
  EXPECT_NE(told(second).find("second (" + second + ") was judged by build 0123 of this program, this is " + own), std::string::npos);
}

}  // namespace
}  // namespace rematch::cli
