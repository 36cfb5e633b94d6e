// The canned questions: rows of one view each, in the order of studies, trials as they ran, attempts and ranks.
#include <map>

#include "orchestrator/store/query.h"

namespace rematch::store {

namespace {

// The joins go from the study inwards (CROSS JOIN keeps that order), so that the rows come in order and a limit ends the reading.
struct CannedQuestion {
  std::string columns;
  std::string from;
  std::string order;
  std::string arm;  // SQL of what a filter is set against; empty: no such column
  std::string outcome;
  std::string rank;
  std::string phase;
};

constexpr const char* kTrial = "s.name AS study, t.arm, t.block, t.slot, x.trial_id, x.attempt, ";
constexpr const char* kOrder = "s.name, s.study_id, t.run_position, t.trial_id, x.attempt";
constexpr const char* kRunOutcome =
    "(SELECT v.outcome FROM verdict v WHERE v.study_id = t.study_id AND v.scope = 'run' AND v.subject = x.trial_id || '/' || x.attempt)";

CannedQuestion of_attempts(const std::string& table, const std::string& columns, const std::string& order, const std::string& phase) {
  const std::string from = "study s CROSS JOIN trial t INDEXED BY trial_in_run_order ON t.study_id = s.study_id CROSS JOIN " + table +
                           " x ON x.study_id = t.study_id AND x.trial_id = t.trial_id";
  return {kTrial + columns, from, kOrder + order, "t.arm", kRunOutcome, "x.rank", phase};
}

const std::map<std::string, CannedQuestion>& questions() {
  static const std::map<std::string, CannedQuestion> all = {
      {"peaks", of_attempts("phase", "x.rank, x.source, x.step, x.phase, x.duration_ns, x.peak_allocated_bytes, x.peak_reserved_bytes",
                            ", x.rank, x.source, x.step, x.phase", "x.phase")},
      {"steps", of_attempts("step",
                            "x.rank, x.step, x.step_time_ns, x.loss, x.grad_norm, x.skipped, x.is_nan, x.lifetime_peak_allocated_bytes, "
                            "x.lifetime_peak_reserved_bytes",
                            ", x.rank, x.step", "")},
      {"failures", of_attempts("failure",
                               "x.kind, x.stage, x.step, x.phase, x.rank, x.host, x.requested_bytes, x.allocated_bytes, x.reserved_bytes, "
                               "x.capacity_bytes, x.message",
                               "", "x.phase")},
      {"errors", of_attempts("rank_error", "x.rank, x.kind, x.exit_code, x.stage, x.step, x.phase, x.failed_rank, x.message",
                             ", x.rank, x.position", "x.phase")},
      {"arms",
       {"v.*", "study s CROSS JOIN arms v ON v.study_id = s.study_id", "s.name, s.study_id, v.position", "v.arm", "v.outcome", "", ""}},
      // Its tables are filtered by the name of the study that they belong to.
      {"published",
       {"v.*", "(SELECT name, name AS study_id FROM published_table) s CROSS JOIN published v ON v.study = s.name", "v.study, v.position",
        "v.arm", "v.outcome", "", ""}},
      {"studies", {"v.*", "studies v JOIN study s ON s.study_id = v.study_id", "v.study, v.study_id", "", "v.conclusion", "", ""}},
  };
  return all;
}

std::string listed_names() {
  std::string text;
  for (const std::string& name : question_names()) text += (text.empty() ? "" : ", ") + name;
  return text;
}

// Collects the conditions of one question.
class Conditions {
 public:
  explicit Conditions(std::string question) : question_(std::move(question)) {}

  template <typename T>
  void add(const std::string& option, const std::string& column, const std::optional<T>& wanted) {
    if (!wanted) return;
    if (column.empty()) {
      problem_ += (problem_.empty() ? "" : "; ") + ("`" + question_ + "` has no " + option + " to filter by");
      return;
    }
    where_ += (where_.empty() ? " WHERE " : " AND ") + column + " = ?";
    parameters_.emplace_back(*wanted);
  }
  void add_study(const std::optional<std::string>& key) {
    if (!key) return;
    where_ += " WHERE (substr(s.name, 1, length(?)) = ? OR substr(s.study_id, 1, length(?)) = ?)";
    parameters_.insert(parameters_.end(), 4, *key);
  }

  const std::string& where() const { return where_; }
  const ValueRow& parameters() const { return parameters_; }
  const std::string& problem() const { return problem_; }

 private:
  std::string question_;
  std::string where_;
  ValueRow parameters_;
  std::string problem_;
};

}  // namespace

std::vector<std::string> question_names() {
  std::vector<std::string> names;
  for (const auto& [name, question] : questions()) names.push_back(name);
  return names;
}

base::Result<Question> canned_question(const std::string& name, const QuestionFilter& filter) {
  const auto found = questions().find(name);
  if (found == questions().end()) return base::Error{"there is no question '" + name + "'; there are: " + listed_names()};
  const CannedQuestion& question = found->second;
  Conditions conditions(name);
  conditions.add_study(filter.study);
  conditions.add("arm", question.arm, filter.arm);
  conditions.add("outcome", question.outcome, filter.outcome);
  conditions.add("rank", question.rank, filter.rank);
  conditions.add("phase", question.phase, filter.phase);
  if (!conditions.problem().empty()) return base::Error{conditions.problem()};
  return Question{"SELECT " + question.columns + " FROM " + question.from + conditions.where() + " ORDER BY " + question.order,
                  conditions.parameters()};
}

}  // namespace rematch::store
