// Every cell of a study's tables, as each format prints it, against SQL over the workspace's database.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <map>
#include <set>

#include "orchestrator/report/format.h"
#include "orchestrator/rules/judge.h"
#include "orchestrator/store/database.h"
#include "orchestrator/store/query.h"
#include "orchestrator/store/store.h"
#include "tests/orchestrator/report/golden_model.h"
#include "tests/orchestrator/report/parsed_report.h"
#include "tests/orchestrator/study_builder.h"
#include "tests/support/temp_dir.h"

namespace rematch::report {
namespace {

using store::Value;
using tests::GoldenStudy;
using SqlRow = std::map<std::string, Value>;

std::optional<double> number_of(const Value& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
  if (const auto* real = std::get_if<double>(&value)) return *real;
  return std::nullopt;
}

bool is_null(const Value& value) { return std::holds_alternative<std::monostate>(value); }

// A printed number, and how far from what it was made of it may be.
struct Printed {
  double value = 0;
  double tolerance = 0;
};

double unit_of(const std::string& unit) {
  static const std::map<std::string, double> units = {{"", 1},      {"B", 1},    {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9},
                                                      {"TB", 1e12}, {"ms", 1e6}, {"%", 0.01}, {"h", 1}};
  const auto found = units.find(unit);
  EXPECT_NE(found, units.end()) << "unit '" << unit << "'";
  return found == units.end() ? std::nan("") : found->second;
}

// "-120.000 MB": half a unit of its last digit.
Printed parse_printed(const std::string& text) {
  const std::size_t space = text.find(' ');
  const std::string number = text.substr(0, space);
  const double unit = unit_of(space == std::string::npos ? "" : text.substr(space + 1));
  const std::size_t point = number.find('.');
  const auto decimals = static_cast<double>(point == std::string::npos ? 0 : number.size() - point - 1);
  std::size_t num_read = 0;
  const double value = std::stod(number, &num_read);
  EXPECT_EQ(num_read, number.size()) << text;
  return {value * unit, 0.5000001 * std::pow(10, -decimals) * unit};
}

// Columns for people that are made of several others, or that stand only where they say something.
const std::set<std::string> kForPeople = {"runs", "against_reference", "saving_at_least", "time_delta_without_interval", "time_text"};

std::string text_of(const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return std::to_string(*whole);
  return is_null(value) ? "" : "a number";
}

// As the formats for people do: a line end becomes a space.
std::string in_one_line(std::string text) {
  for (char& c : text)
    if (c == '\n') c = ' ';
  return text;
}

class Check {
 public:
  explicit Check(bool is_raw) : is_raw_(is_raw) {}

  void cell(const std::string& key, const std::string& shown, const SqlRow& row) const {
    SCOPED_TRACE(key + ": '" + shown + "'");
    if (kForPeople.contains(key)) return for_people(key, shown, row);
    const auto found = row.find(key);
    ASSERT_NE(found, row.end()) << "SQL has no column of this key";
    value(shown, found->second);
  }

 private:
  void value(const std::string& shown, const Value& stored) const {
    if (is_null(stored) || text_of(stored).empty()) {
      EXPECT_EQ(shown, is_raw_ ? "" : "-");
    } else if (const std::optional<double> number = number_of(stored)) {
      this->number(shown, *number);
    } else {
      EXPECT_EQ(is_raw_ ? shown : in_one_line(shown), is_raw_ ? text_of(stored) : in_one_line(text_of(stored)));
    }
  }

  void number(const std::string& shown, double stored) const {
    ASSERT_TRUE(shown != "" && shown != "-") << "SQL has " << stored;
    if (is_raw_) {
      EXPECT_EQ(std::stod(shown), stored);
      return;
    }
    const Printed printed = parse_printed(shown);
    EXPECT_LE(std::abs(printed.value - stored), printed.tolerance) << stored;
  }

  void near(double printed_percent, const Value& stored) const {
    ASSERT_TRUE(number_of(stored));
    EXPECT_NEAR(printed_percent, 100 * *number_of(stored), 0.05 + 1e-6);  // one decimal
  }

  void for_people(const std::string& key, const std::string& shown, const SqlRow& row) const {
    const auto& at = [&](const char* name) -> const Value& { return row.at(name); };
    if (key == "runs") {
      const std::string judged = text_of(at("runs_judged"));
      EXPECT_EQ(shown, judged == "0" || judged.empty() ? "-" : text_of(at("runs_passed")) + "/" + judged);
    } else if (key == "against_reference") {
      EXPECT_EQ(shown, text_of(at("against")).ends_with(")") ? text_of(at("against")) : "-");
    } else if (key == "saving_at_least") {
      EXPECT_EQ(shown, text_of(at("saving_is")) == "at least" ? "at least" : "-");
    } else if (key == "time_delta_without_interval") {
      value(shown, is_null(at("time_fraction")) ? at("time_delta_fraction") : Value{});
    } else {
      time_text(shown, row);
    }
  }

  // "+3.5 % [+0.1, +6.9] slower", "... undecided, wants 13 blocks".
  void time_text(const std::string& shown, const SqlRow& row) const {
    if (is_null(row.at("time_fraction"))) {
      EXPECT_EQ(shown, "-");
      return;
    }
    double fraction = 0;
    double low = 0;
    double high = 0;
    char word[20] = "";
    int blocks = 0;
    ASSERT_GE(std::sscanf(shown.c_str(), "%lf %% [%lf, %lf] %19[a-z], wants %d blocks", &fraction, &low, &high, word, &blocks), 4);
    near(fraction, row.at("time_fraction"));
    near(low, row.at("time_low_fraction"));
    near(high, row.at("time_high_fraction"));
    EXPECT_EQ(word, text_of(row.at("time_verdict")));
    EXPECT_EQ(blocks == 0 ? "" : std::to_string(blocks), text_of(row.at("blocks_needed")));
  }

  bool is_raw_;
};

// All golden studies in one database.
class Workspace {
 public:
  Workspace() : studies_(tests::golden_studies()) {
    store::Store store = store::Store::open(path_).value();
    std::int64_t number = 0xa000;
    for (GoldenStudy& golden : studies_) {
      golden.study.plan.study_id = tests::hex_id(++number);
      for (base::AttemptRows& attempt : golden.study.attempts) attempt.study_id = golden.study.plan.study_id;
      store.put_plan(golden.study.plan);
      store.put_attempts(golden.study.attempts);
      store.put_verdicts(golden.study.plan.study_id, rules::judge_study(golden.study));
    }
  }

  const std::vector<GoldenStudy>& studies() const { return studies_; }

  std::vector<SqlRow> rows(const std::string& sql, const std::string& study_id) const {
    constexpr std::int64_t kMostRows = 1000;
    const auto answer = store::ask(path_, {sql, {study_id}}, kMostRows);
    if (!answer) ADD_FAILURE() << answer.error().message;
    std::vector<SqlRow> rows;
    for (const store::ValueRow& values : answer ? answer.value().rows : std::vector<store::ValueRow>{}) {
      SqlRow& row = rows.emplace_back();
      for (std::size_t i = 0; i < values.size(); ++i) row[answer.value().columns[i]] = values[i];
    }
    return rows;
  }

 private:
  tests::TempDir temp_;
  std::filesystem::path path_ = temp_.path() / "rematch.db";
  std::vector<GoldenStudy> studies_;
};

// Where the database has the rows of a table: in the order of the report's, the tables of one key one after the other. `?` is the study.
const std::map<std::string, std::string>& sql_of_tables() {
  static const std::map<std::string, std::string> all = {
      {"control_pairs", "SELECT block, time_difference_fraction FROM control_pair WHERE study_id = ? ORDER BY group_id, position"},
      {"time_fits",
       "SELECT f.group_id, f.num_runs, f.degrees_of_freedom, CAST(printf('%.9g', f.residual_sd) AS REAL) AS residual_sd, "
       "CAST(printf('%.9g', f.critical_value) AS REAL) AS critical_value, CAST(printf('%.9g', f.confidence) AS REAL) AS confidence, "
       "CAST(printf('%.9g', f.drift_per_slot) AS REAL) AS drift_per_slot, CAST(printf('%.9g', f.drift_p_value) AS REAL) AS drift_p_value, "
       "(SELECT max(a.aa_time_difference_fraction) FROM arms a WHERE a.study_id = f.study_id AND a.group_id = f.group_id) "
       "AS aa_time_difference_fraction FROM time_fit f WHERE f.study_id = ?"},
      {"interactions",
       "SELECT arm AS modules, CAST(round(activation_bytes) AS INTEGER) AS activation_interaction_bytes, "
       "CAST(round(activation_low_bytes) AS INTEGER) AS activation_interaction_low_bytes, "
       "CAST(round(activation_high_bytes) AS INTEGER) AS activation_interaction_high_bytes, log_time AS time_interaction_fraction, "
       "log_time_low AS time_interaction_low_fraction, log_time_high AS time_interaction_high_fraction FROM interaction WHERE study_id = "
       "?"},
      {"moved_ranks",
       "SELECT m.arm AS modules, replace(m.moved, '_', ' ') AS moved, m.side, m.rank, "
       "CASE WHEN m.pipeline_size > 1 THEN m.pipeline_rank || ' of ' || m.pipeline_size END AS pipeline_rank, m.against, "
       "m.against_peak_allocated_bytes, m.against_binding_phase, m.peak_allocated_bytes, m.binding_phase "
       "FROM moved_rank m JOIN arm a USING (study_id, arm) WHERE m.study_id = ? ORDER BY a.position, m.moved DESC, m.side"},
      {"decisions",
       "SELECT s.name AS study, d.study_id, d.round, d.action, d.arm AS modules, d.reason FROM decision d JOIN study s USING (study_id) "
       "WHERE d.study_id = ? ORDER BY d.position"},
      {"diagnoses",
       "SELECT symptom, arm AS modules, finding, why, CASE ruled_out WHEN '' THEN 'nothing.' ELSE ruled_out || '.' END AS ruled_out, "
       "next_step, "
       "command FROM diagnosis WHERE study_id = ? ORDER BY position"},
  };
  return all;
}

// What the database keeps of log step time is printed as the fraction that it means.
void take_logarithms_back(std::vector<SqlRow>& rows) {
  for (SqlRow& row : rows)
    for (auto& [key, value] : row)
      if (key.starts_with("time_interaction_") && number_of(value)) value = std::expm1(*number_of(value));
}

bool has_rows_of_arms(const Table& table) {
  return table.key == "arms" || table.key == "failed_arms" || table.key == "arms_without_figures";
}

SqlRow row_of_arm(const std::vector<SqlRow>& arms, const std::string& arm) {
  for (const SqlRow& row : arms)
    if (text_of(row.at("modules")) == arm) return row;
  ADD_FAILURE() << "the view has no arm " << arm;
  return {};
}

// The table says of a prediction that it is one.
std::string without_kind(const std::string& key, std::string text) {
  constexpr std::string_view kPredicted = "predicted ";
  return key == "outcome" && text.starts_with(kPredicted) ? text.substr(kPredicted.size()) : text;
}

void check_table(const ParsedTable& parsed, const std::vector<SqlRow>& rows, const Check& check) {
  ASSERT_EQ(parsed.rows.size(), rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (std::size_t j = 0; j < parsed.columns.size(); ++j) {
      const std::string& key = parsed.table->columns[parsed.columns[j]].key;
      check.cell(key, without_kind(key, parsed.rows[i][j]), rows[i]);
    }
}

struct NumChecked {
  std::map<std::string, std::size_t> cells;  // by table
};

void check_report(const Workspace& workspace, const GoldenStudy& golden, const std::string& format, NumChecked& num_checked) {
  const std::string& id = golden.study.plan.study_id;
  const ReportModel model = model_of(golden);
  const std::vector<SqlRow> arms = workspace.rows("SELECT * FROM arms WHERE study_id = ?", id);
  std::map<std::string, std::vector<SqlRow>> left;
  for (const auto& [key, sql] : sql_of_tables()) {
    left[key] = workspace.rows(sql, id);
    take_logarithms_back(left[key]);
  }
  for (const ParsedTable& parsed : parse_report(format, render(model, format).value(), model)) {
    SCOPED_TRACE(golden.name + "." + format + ", table " + parsed.table->title);
    std::vector<SqlRow> rows;
    if (has_rows_of_arms(*parsed.table)) {
      for (const auto& row : parsed.table->rows)
        for (std::size_t i = 0; i < row.size(); ++i)
          if (parsed.table->columns[i].key == "modules") rows.push_back(row_of_arm(arms, std::get<std::string>(row[i])));
    } else if (const auto found = left.find(parsed.table->key); found != left.end()) {
      ASSERT_GE(found->second.size(), parsed.rows.size());
      const auto end = found->second.begin() + static_cast<std::ptrdiff_t>(parsed.rows.size());
      rows.assign(found->second.begin(), end);
      found->second.erase(found->second.begin(), end);
    } else {
      continue;
    }
    check_table(parsed, rows, Check(is_raw_format(format)));
    num_checked.cells[parsed.table->key] += parsed.rows.size() * parsed.columns.size();
  }
  for (const auto& [key, rows] : left)
    if (format == "json") {
      EXPECT_TRUE(rows.empty()) << golden.name << ": rows of " << key << " that the report has not";
    }
}

TEST(CellsAndSql, EveryCellOfTheMainTablesIsInTheDatabaseAsEachFormatPrintsIt) {
  const Workspace workspace;
  NumChecked num_checked;
  for (const std::string& format : format_names())
    for (const GoldenStudy& golden : workspace.studies()) check_report(workspace, golden, format, num_checked);
  for (const auto& [key, sql] : sql_of_tables())
    if (key != "interactions") {
      EXPECT_GT(num_checked.cells[key], 0U) << key << ": no golden study has the table";
    }
  EXPECT_GT(num_checked.cells["arms"], 3000U);
  EXPECT_GT(num_checked.cells["failed_arms"], 100U);
}

// Of every study, with or without a value in it: a column that is new wants its counterpart in the view.
TEST(CellsAndSql, TheViewOfArmsHasEveryColumnOfTheTable) {
  const Workspace workspace;
  for (const GoldenStudy& golden : workspace.studies()) {
    const std::vector<SqlRow> arms = workspace.rows("SELECT * FROM arms WHERE study_id = ?", golden.study.plan.study_id);
    ASSERT_FALSE(arms.empty());
    for (const Table& table : model_of(golden).tables)
      for (const Column& column : table.columns)
        if (has_rows_of_arms(table) && !kForPeople.contains(column.key)) {
          EXPECT_TRUE(arms.front().contains(column.key)) << column.key << " of " << table.key;
        }
  }
}

}  // namespace
}  // namespace rematch::report
