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
  std::string since;  // SQL that is true of what began at the time ? or later
};

constexpr const char* kTrial = "s.name AS study, s.study_id, t.arm, t.block, t.slot, a.trial_id, a.attempt, ";
constexpr const char* kOrder = "s.name, s.study_id, t.run_position, t.trial_id, a.attempt";
constexpr const char* kAttempts =
    "study s CROSS JOIN trial t INDEXED BY trial_in_run_order ON t.study_id = s.study_id CROSS JOIN attempt a INDEXED BY attempt_key "
    "ON a.study_id = t.study_id AND a.trial_id = t.trial_id";
// Of an attempt, so that it is looked up once and not for every row of it.
constexpr const char* kRunOutcome =
    "(SELECT v.outcome FROM verdict v WHERE v.study_id = a.study_id AND v.scope = 'run' AND v.subject = a.trial_id || '/' || a.attempt)";
// Measured, modelled or predicted, as the rank said, or of an attempt the first rank that did.
constexpr const char* kRankProvenance =
    ", (SELECT r.provenance FROM rank r WHERE r.study_id = a.study_id AND r.trial_id = a.trial_id AND r.attempt = a.attempt AND "
    "r.rank = x.rank) AS provenance";
constexpr const char* kRunProvenance =
    ", (SELECT r.provenance FROM rank r WHERE r.study_id = a.study_id AND r.trial_id = a.trial_id AND r.attempt = a.attempt AND "
    "r.provenance IS NOT NULL ORDER BY r.rank LIMIT 1) AS provenance";
constexpr const char* kSince = "a.start_unix_ns >= ?";
constexpr const char* kStudySince = "EXISTS (SELECT 1 FROM attempt a WHERE a.study_id = s.study_id AND a.start_unix_ns >= ?)";

// Rows of a table that ranks of each attempt have some of.
CannedQuestion of_attempts(const std::string& table, const std::string& columns, const std::string& order, const std::string& phase) {
  const std::string from =
      kAttempts + (" CROSS JOIN " + table) + " x ON x.study_id = a.study_id AND x.trial_id = a.trial_id AND x.attempt = a.attempt";
  return {kTrial + columns + kRankProvenance, from, kOrder + order, "t.arm", kRunOutcome, "x.rank", phase, kSince};
}

// Rows of the attempts themselves.
CannedQuestion of_attempt(const std::string& columns, const std::string& from = "") {
  return {kTrial + columns, kAttempts + from, kOrder, "t.arm", kRunOutcome, "", "", kSince};
}

// Rows of a table that a study has some of, ordered by `position`.
CannedQuestion of_study(const std::string& table, const std::string& columns, const std::string& position, const std::string& arm) {
  return {"s.name AS study, s.study_id, " + columns,
          "study s CROSS JOIN " + table + " x ON x.study_id = s.study_id",
          "s.name, s.study_id, " + position,
          arm,
          "",
          "",
          "",
          kStudySince};
}

CannedQuestion arms() {
  return {"v.*",
          "study s CROSS JOIN arms v ON v.study_id = s.study_id",
          "s.name, s.study_id, v.position",
          "v.arm",
          "v.outcome",
          "",
          "",
          "EXISTS (SELECT 1 FROM trial t JOIN attempt a USING (study_id, trial_id) WHERE t.study_id = s.study_id AND t.arm = v.arm AND "
          "a.start_unix_ns >= ?)"};
}

CannedQuestion attribution() {
  return {"v.*",
          "attribution v JOIN study s ON s.study_id = v.study_id",
          "s.name, s.study_id, v.arm, v.bytes DESC, v.role, v.region",
          "v.arm",
          "",
          "v.rank",
          "",
          "EXISTS (SELECT 1 FROM attempt a WHERE a.study_id = v.study_id AND a.trial_id = v.trial_id AND a.attempt = v.attempt AND "
          "a.start_unix_ns >= ?)"};
}

std::map<std::string, CannedQuestion> questions_of_attempts() {
  return {
      {"attempts",
       of_attempt(
           "a.host, (SELECT group_concat(json_extract(value, '$.node'), ',') FROM json_each(a.launch_document, '$.nodes')) AS nodes, "
           "a.launch_end, a.world_size, a.job_id, a.array_job_id, a.array_task_id, a.restart_count, a.runner, a.start_unix_ns, "
           "a.end_unix_ns, a.strays_ended")},
      {"runs",
       of_attempt("a.start_unix_ns, v.outcome, v.reason, v.hot_rank, v.peak_allocated_bytes, v.peak_reserved_bytes, v.binding_phase, "
                  "v.activation_peak_bytes, v.step_time_ns, v.tflops_per_rank" +
                      std::string(kRunProvenance),
                  " LEFT JOIN verdict v ON v.study_id = a.study_id AND v.scope = 'run' AND v.subject = a.trial_id || '/' || a.attempt")},
      {"ranks",
       of_attempts("rank",
                   "x.rank, x.node, x.host, x.local_rank, x.visible_devices, x.device, x.device_name, x.device_id, x.cpu_affinity, "
                   "x.pid, x.exit_code, x.signal, x.ended_by_supervisor",
                   ", x.rank", "")},
      {"traffic", of_attempts("communication", "x.rank, x.step, x.axis, x.pass, x.operation, x.num_calls, x.bytes, x.duration_ns",
                              ", x.rank, x.step, x.axis, x.pass, x.operation", "")},
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
  };
}

std::map<std::string, CannedQuestion> all_questions() {
  std::map<std::string, CannedQuestion> all = questions_of_attempts();
  all["arms"] = arms();
  all["attribution"] = attribution();
  all["studies"] = {"v.*",      "studies v JOIN study s ON s.study_id = v.study_id", "v.study, v.study_id", "", "v.conclusion", "", "",
                    kStudySince};
  // Its tables are filtered by the name of the study that they belong to.
  all["published"] = {"v.*",
                      "(SELECT name, name AS study_id FROM published_table) s CROSS JOIN published v ON v.study = s.name",
                      "v.study, v.position",
                      "v.arm",
                      "v.outcome",
                      "",
                      "",
                      ""};
  all["decisions"] = of_study("decision", "x.round, x.action, x.arm, x.reason", "x.position", "x.arm");
  all["diagnoses"] =
      of_study("diagnosis", "x.symptom, x.arm, x.finding, x.why, x.ruled_out, x.next_step, x.command", "x.position", "x.arm");
  all["unmatched"] = of_study("field_difference", "x.trial_id, x.attempt, x.field, x.value, x.against AS against_trial_id, x.against_value",
                              "x.trial_id, x.attempt, x.position",
                              "(SELECT t.arm FROM trial t WHERE t.study_id = x.study_id AND t.trial_id = "
                              "x.trial_id)");
  return all;
}

const std::map<std::string, CannedQuestion>& questions() {
  static const std::map<std::string, CannedQuestion> all = all_questions();
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
    add_condition(column + " = ?", *wanted);
  }
  // `condition` has the parameter as its question mark.
  void add_since(const std::string& condition, std::int64_t unix_ns) {
    if (condition.empty())
      problem_ += (problem_.empty() ? "" : "; ") + ("`" + question_ + "` has no time to filter by");
    else
      add_condition(condition, unix_ns);
  }
  void add_condition(const std::string& condition, const Value& parameter) {
    where_ += (where_.empty() ? " WHERE " : " AND ") + condition;
    parameters_.push_back(parameter);
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
  if (filter.since_unix_ns) conditions.add_since(question.since, *filter.since_unix_ns);
  if (!conditions.problem().empty()) return base::Error{conditions.problem()};
  return Question{"SELECT " + question.columns + " FROM " + question.from + conditions.where() + " ORDER BY " + question.order,
                  conditions.parameters()};
}

}  // namespace rematch::store
