// What no format may show, of any study and in either style: a number of an arm that has none, or two provenances in one column.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "orchestrator/report/format.h"
#include "orchestrator/report/guide_report.h"
#include "tests/orchestrator/report/golden_model.h"
#include "tests/orchestrator/report/parsed_report.h"
#include "tests/orchestrator/study_builder.h"

namespace rematch::report {
namespace {

using base::ArmVerdict;
using base::Outcome;

// Counts of what was planned and done, and when a strategy decided: facts of arms that have no figures too. The ids are hex digits.
const std::set<std::string> kMayBeNumbers = {"runs_planned", "runs_judged", "runs_passed", "round", "study_id", "trial_id", "attempt"};

// Sentences, which may begin with a number.
const std::set<std::string> kSentences = {"reason", "finding", "next_step", "text"};

bool is_sentence(const std::string& key) { return kSentences.contains(key) || key.ends_with("evidence"); }

// Begins with a number, behind a sign or a bracket: "-12.00 %", "880000000", "0/2", "1.000 GB after iteration 1".
bool is_number(const std::string& text) {
  const std::size_t first = text.find_first_not_of("+-[( ");
  return first != std::string::npos && text[first] >= '0' && text[first] <= '9';
}

bool may_be_number(const std::string& key) { return kMayBeNumbers.contains(key) || is_sentence(key); }

struct Shown {
  std::string name;
  base::StudyVerdict verdict;
  ReportModel model;
};

base::StudyRows study_of_every_outcome() {
  tests::StudyBuilder builder = tests::clean_study("outcomes");
  builder.add_unplanned_arm({"moe"}, base::ArmStatus::kInvalid, "rule O1: 2 features exclude each other");
  builder.add_unplanned_arm({"mlp"}, base::ArmStatus::kSkipped, "100.000 MB at most: not needed");
  builder.add_arm({"layernorm"});  // planned, and never run
  return builder.rows();
}

base::StudyRows study_of_two_provenances() {
  base::StudyRows study = tests::clean_study("mixed").rows();
  for (base::AttemptRows& run : study.attempts)
    if (run.trial.arm == "moe_act")
      for (base::RankRows& rank : run.ranks) rank.hello->provenance = protocol::Provenance::kMeasured;
  return study;
}

std::vector<Shown> all_shown() {
  std::vector<tests::GoldenStudy> studies = tests::golden_studies();
  studies.push_back({"outcomes", study_of_every_outcome()});
  studies.push_back({"mixed", study_of_two_provenances()});
  std::vector<Shown> shown;
  for (const tests::GoldenStudy& golden : studies) {
    const base::StudyVerdict verdict = rules::judge_study(golden.study);
    shown.push_back({golden.name, verdict, model_of(golden)});
    shown.push_back({golden.name + ", guide", verdict, make_guide_report(golden.study, verdict)});
  }
  return shown;
}

// The guide writes "mla_up_proj, mlp".
const ArmVerdict* arm_of_row(const base::StudyVerdict& verdict, std::string modules) {
  for (std::size_t at = modules.find(", "); at != std::string::npos; at = modules.find(", ")) modules.replace(at, 2, "+");
  return base::find_arm(verdict, modules);
}

bool carries_numbers(Outcome outcome) { return outcome == Outcome::kPass || outcome == Outcome::kBorderline || outcome == Outcome::kFail; }

// The rows of a table that are of arms of this study: its cells by key.
template <typename OfCell>
void for_each_cell(const Shown& shown, const ParsedTable& parsed, OfCell of_cell) {
  const auto modules =
      std::find_if(parsed.columns.begin(), parsed.columns.end(), [&](std::size_t i) { return parsed.table->columns[i].key == "modules"; });
  if (modules == parsed.columns.end()) return;
  for (const auto& row : parsed.rows)
    if (const ArmVerdict* arm = arm_of_row(shown.verdict, row[static_cast<std::size_t>(modules - parsed.columns.begin())]))
      for (std::size_t i = 0; i < parsed.columns.size(); ++i) of_cell(*arm, parsed.table->columns[parsed.columns[i]].key, row[i]);
}

template <typename OfTable>
void for_each_table(OfTable of_table) {
  for (const Shown& shown : all_shown())
    for (const std::string& format : format_names())
      for (const ParsedTable& parsed : parse_report(format, render(shown.model, format).value(), shown.model)) {
        SCOPED_TRACE(shown.name + "." + format + ", " + parsed.table->title);
        of_table(shown, parsed);
      }
}

TEST(NoNumbers, OfAnArmThatWasNotRunOrMayNotCount) {
  std::size_t num_cells = 0;
  std::set<Outcome> outcomes;
  for_each_table([&](const Shown& shown, const ParsedTable& parsed) {
    for_each_cell(shown, parsed, [&](const ArmVerdict& arm, const std::string& key, const std::string& text) {
      if (carries_numbers(arm.outcome) || may_be_number(key)) return;
      EXPECT_FALSE(is_number(text)) << arm.arm << ", " << key << ": " << text;
      outcomes.insert(arm.outcome);
      ++num_cells;
    });
  });
  for (const Outcome outcome : {Outcome::kInactive, Outcome::kInvalid, Outcome::kSkipped, Outcome::kNotRun})
    EXPECT_TRUE(outcomes.contains(outcome)) << to_string(outcome);
  EXPECT_GT(num_cells, 1000U);
}

TEST(NoNumbers, OfTwoProvenancesInOneColumn) {
  std::size_t num_columns = 0;
  for_each_table([&](const Shown& shown, const ParsedTable& parsed) {
    std::map<std::string, std::set<protocol::Provenance>> of_columns;
    for_each_cell(shown, parsed, [&](const ArmVerdict& arm, const std::string& key, const std::string& text) {
      if (arm.provenance && !may_be_number(key) && is_number(text)) of_columns[key].insert(*arm.provenance);
    });
    for (const auto& [key, provenances] : of_columns) EXPECT_EQ(provenances.size(), 1U) << key;
    num_columns += of_columns.size();
  });
  EXPECT_GT(num_columns, 300U);
}

TEST(NoNumbers, TheTestKnowsANumberWhenItSeesOne) {
  for (const char* text : {"0", "-12.00 %", "880000000", "+0 B", "1.000 GB", "4/4", "-0.12", "1e-9", "36.618", "1.000 GB after iteration 1",
                           "+3.5 % [+0.1, +6.9] slower"})
    EXPECT_TRUE(is_number(text)) << text;
  for (const char* text : {"", "-", "inactive", "[]", "moe_act", "not comparable"}) EXPECT_FALSE(is_number(text)) << text;
}

}  // namespace
}  // namespace rematch::report
