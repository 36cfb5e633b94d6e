#include "orchestrator/report/comparison_report.h"

#include <functional>

#include "orchestrator/report/cells.h"
#include "orchestrator/report/unmatched_table.h"
#include "orchestrator/rules/provenance.h"
#include "orchestrator/stats/ratio.h"

namespace rematch::report {

namespace {

using base::RunFigures;

Fact fact_of(const char* key, const ComparedSide& side) {
  const auto provenance = rules::provenance_of(*side.attempt);
  return {key, key,
          side.name + ": trial " + side.attempt->trial.trial_id + ", " + std::string(to_string(side.run->outcome)) +
              (provenance ? ", " + std::string(protocol::to_string(*provenance)) : "")};
}

struct Figure {
  std::string name;
  Cell value;
  Cell against;
  Cell delta;
  Cell fraction;
};

struct Sides {
  const RunFigures* own;      // nullptr: it did not pass
  const RunFigures* against;  // likewise
  bool compared;

  template <typename Typed, typename TypedDelta, typename Get>
  Figure figure(std::string name, Get get) const {
    const auto value = own == nullptr ? std::nullopt : get(*own);
    const auto other = against == nullptr ? std::nullopt : get(*against);
    Figure row{std::move(name), cell_of<Typed>(value), cell_of<Typed>(other), {}, {}};
    if (!compared || !value || !other) return row;
    row.delta = TypedDelta{*value - *other};
    row.fraction = cell_of<FractionDelta>(stats::difference_fraction(static_cast<double>(*value), static_cast<double>(*other)));
    return row;
  }
};

std::vector<Figure> figures_of(const Sides& sides) {
  using MaybeBytes = std::optional<std::int64_t>;
  return {
      sides.figure<Bytes, BytesDelta>("peak_allocated_bytes", [](const RunFigures& f) { return MaybeBytes(f.hot.allocated_bytes); }),
      sides.figure<Bytes, BytesDelta>("peak_reserved_bytes", [](const RunFigures& f) { return MaybeBytes(f.hot.reserved_bytes); }),
      sides.figure<Bytes, BytesDelta>("activation_peak_bytes", [](const RunFigures& f) { return f.activation_peak_bytes; }),
      sides.figure<Nanoseconds, Nanoseconds>("step_time_ns", [](const RunFigures& f) { return f.median_step_time_ns; }),
  };
}

const RunFigures* figures_of(const ComparedSide& side) { return side.run->figures ? &*side.run->figures : nullptr; }

}  // namespace

ReportModel make_comparison_report(const ComparedSide& side, const ComparedSide& against,
                                   const std::vector<base::FieldDifference>& differences, FieldsThatDiffer policy) {
  ReportModel model;
  const bool compared = differences.empty() || policy == FieldsThatDiffer::kForce;
  model.title = side.name + " against " + against.name + (differences.empty() ? "" : compared ? " (unmatched)" : " (refused: unmatched)");
  model.header = {fact_of("value", side), fact_of("against", against)};
  const std::vector<ColumnOf<Figure>> columns = {
      {{"figure", "figure"}, [](const Figure& f) { return text_cell(f.name); }},
      {{"value", "value"}, [](const Figure& f) { return f.value; }},
      {{"against", "against"}, [](const Figure& f) { return f.against; }},
      {{"delta", "diff"}, [](const Figure& f) { return f.delta; }},
      {{"delta_fraction", "diff"}, [](const Figure& f) { return f.fraction; }},
  };
  model.tables.push_back(
      table_of("comparison", "Figures of one run of each", columns, figures_of(Sides{figures_of(side), figures_of(against), compared})));
  if (!differences.empty())
    model.tables.push_back(unmatched_table(
        {{side.attempt->trial.trial_id, side.attempt->attempt, side.attempt->trial.arm, against.attempt->trial.trial_id, differences}}));
  return model;
}

}  // namespace rematch::report
