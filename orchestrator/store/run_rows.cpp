#include "orchestrator/store/run_rows.h"

#include <algorithm>
#include <tuple>

#include "orchestrator/store/columns.h"
#include "orchestrator/store/database.h"
#include "orchestrator/store/row_columns.h"
#include "orchestrator/store/store.h"

namespace rematch::store {

namespace {

using base::RunVerdict;

constexpr const char* kSelect =
    "SELECT t.trial_id, t.arm, t.block, t.slot, a.attempt, v.outcome, v.loss_basis, v.shortfalls, v.hot_rank, v.peak_allocated_bytes,"
    " v.peak_reserved_bytes, v.binding_phase, v.activation_peak_bytes, v.step_time_ns, v.tflops_per_rank, v.first_steady_step,"
    " v.warmup_reached, v.peak_growth_bytes, v.peak_growth_allowed_bytes"
    " FROM trial t JOIN attempt a USING (study_id, trial_id)"
    " JOIN verdict v ON v.study_id = t.study_id AND v.scope = 'run' AND v.subject = t.trial_id || '/' || a.attempt"
    " WHERE t.study_id = ? AND ";

// Hands out the values of a row in the order of the columns.
class Values {
 public:
  explicit Values(const ValueRow& row) : row_(row) {}
  template <typename T>
  T next() {
    T value{};
    from_value(row_.at(next_++), value);
    return value;
  }

 private:
  const ValueRow& row_;
  std::size_t next_ = 0;
};

std::vector<base::Shortfall> shortfalls_of(const std::vector<std::string>& flat) {
  std::vector<base::Shortfall> shortfalls;
  for (std::size_t i = 0; i + 1 < flat.size(); i += 2) shortfalls.push_back({flat[i], flat[i + 1]});
  return shortfalls;
}

std::optional<base::RunFigures> figures_of(Values& values) {
  const auto hot_rank = values.next<std::optional<std::int64_t>>();
  base::RunFigures figures;
  figures.hot.rank = hot_rank.value_or(0);
  figures.hot.allocated_bytes = values.next<std::optional<std::int64_t>>().value_or(0);
  figures.hot.reserved_bytes = values.next<std::optional<std::int64_t>>().value_or(0);
  figures.hot.binding_phase = values.next<std::optional<protocol::Phase>>();
  figures.activation_peak_bytes = values.next<std::optional<std::int64_t>>();
  figures.median_step_time_ns = values.next<std::optional<double>>();
  figures.tflops_per_rank = values.next<std::optional<double>>();
  figures.first_steady_step = values.next<std::optional<std::int64_t>>().value_or(0);
  figures.warmup_reached = values.next<std::optional<bool>>().value_or(false);
  figures.peak_growth_bytes = values.next<std::optional<std::int64_t>>().value_or(0);
  figures.peak_growth_allowed_bytes = values.next<std::optional<std::int64_t>>().value_or(0);
  return hot_rank ? std::optional(figures) : std::nullopt;
}

RunVerdict run_of(Database& database, const std::string& study_id, const ValueRow& row) {
  Values values(row);
  RunVerdict run;
  run.trial_id = values.next<std::string>();
  run.arm = values.next<std::string>();
  run.block = values.next<std::int64_t>();
  run.slot = values.next<std::int64_t>();
  run.attempt = values.next<std::int64_t>();
  run.outcome = values.next<base::Outcome>();
  run.loss_basis = values.next<std::optional<std::string>>().value_or("");
  run.shortfalls = shortfalls_of(values.next<std::optional<std::vector<std::string>>>().value_or(std::vector<std::string>{}));
  run.figures = figures_of(values);
  if (run.outcome == base::Outcome::kPass) return run;
  const Key key = {{"study_id", study_id}, {"trial_id", run.trial_id}, {"attempt", run.attempt}};
  for (base::Failure& failure : select_rows<base::Failure>(database, "failure", key, "attempt")) run.failure = std::move(failure);
  return run;
}

}  // namespace

std::vector<RunVerdict> select_runs(Database& database, const std::string& study_id, const TrialChoice& choice) {
  std::vector<RunVerdict> runs;
  const auto add = [&](const char* column, const std::string& wanted) {
    for (const ValueRow& row : database.query(std::string(kSelect) + column + " = ?", {study_id, wanted}))
      runs.push_back(run_of(database, study_id, row));
  };
  for (const std::string& arm : choice.arms) add("t.arm", arm);
  for (const std::string& trial_id : choice.trial_ids) add("t.trial_id", trial_id);
  const auto order = [](const RunVerdict& run) { return std::tuple(run.block, run.slot, run.attempt); };
  std::stable_sort(runs.begin(), runs.end(), [&](const RunVerdict& a, const RunVerdict& b) { return order(a) < order(b); });
  return runs;
}

}  // namespace rematch::store
