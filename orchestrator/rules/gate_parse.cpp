#include <algorithm>
#include <array>
#include <cmath>
#include <regex>
#include <span>

#include "orchestrator/rules/gate.h"

namespace rematch::rules {

namespace {

// A bound is a share of what the figure is set against, an amount in the figure's own unit, or there is none.
struct MetricRow {
  std::string_view name;
  GateMetric metric;
  GateUse use;
  GateUnit amount;  // kNone: no amounts
  bool has_share;
  std::string_view example;
};

using enum GateMetric;
using enum GateUse;
using enum GateUnit;

constexpr std::array kMetrics = {
    MetricRow{"regression", kRegression, kComparison, kNone, true, "regression>2%"},
    MetricRow{"step_time", kStepTime, kComparison, kNone, true, "step_time>2%"},
    MetricRow{"peak_allocated", kPeakAllocated, kComparison, kBytes, true, "peak_allocated>100MB"},
    MetricRow{"peak_reserved", kPeakReserved, kComparison, kBytes, true, "peak_reserved>1%"},
    MetricRow{"activation_peak", kActivationPeak, kComparison, kBytes, true, "activation_peak>1%"},
    MetricRow{"outcome", kOutcome, kComparison, kNone, false, "outcome"},
    MetricRow{"undecided", kUndecided, kComparison, kNone, false, "undecided"},
    MetricRow{"step_time", kStepTime, kStudy, kNanoseconds, false, "step_time>900ms"},
    MetricRow{"peak_allocated", kPeakAllocated, kStudy, kBytes, false, "peak_allocated>40GB"},
    MetricRow{"peak_reserved", kPeakReserved, kStudy, kBytes, false, "peak_reserved>44GiB"},
    MetricRow{"activation_peak", kActivationPeak, kStudy, kBytes, false, "activation_peak>10GB"},
    MetricRow{"margin", kMargin, kStudy, kBytes, false, "margin<2GB"},
    MetricRow{"drift", kDrift, kStudy, kNone, false, "drift"},
    MetricRow{"aa_difference", kAaDifference, kStudy, kNone, true, "aa_difference>3%"},
    MetricRow{"undecided", kUndecided, kStudy, kNone, false, "undecided"},
};

struct UnitRow {
  std::string_view name;
  GateUnit unit;
  double size;
};

constexpr std::array kUnits = {
    UnitRow{"%", kFraction, 0.01},       UnitRow{"B", kBytes, 1},
    UnitRow{"kB", kBytes, 1e3},          UnitRow{"MB", kBytes, 1e6},
    UnitRow{"GB", kBytes, 1e9},          UnitRow{"KiB", kBytes, 1024},
    UnitRow{"MiB", kBytes, 1024 * 1024}, UnitRow{"GiB", kBytes, 1024.0 * 1024 * 1024},
    UnitRow{"ns", kNanoseconds, 1},      UnitRow{"us", kNanoseconds, 1e3},
    UnitRow{"ms", kNanoseconds, 1e6},    UnitRow{"s", kNanoseconds, 1e9},
};

const MetricRow* find_metric(const std::string& name, GateUse use) {
  const auto* const found =
      std::find_if(kMetrics.begin(), kMetrics.end(), [&](const MetricRow& row) { return row.name == name && row.use == use; });
  return found == kMetrics.end() ? nullptr : found;
}

std::string known(GateUse use) {
  std::string text;
  for (const MetricRow& row : kMetrics)
    if (row.use == use) text += (text.empty() ? "" : ", ") + std::string(row.example);
  return text;
}

base::Error refused(const std::string& text, GateUse use, const std::string& why) {
  return base::Error{"--fail-on " + text + ": " + why + "; the gates here are such as " + known(use)};
}

// Why a metric that is none of this use is not.
std::string unknown_metric(const std::string& name, GateUse use) {
  if (use == kStudy && (name == "regression" || name == "outcome"))
    return "'" + name + "' is a difference, and one study is set against nothing here: `rematch compare` sets two against each other";
  if (find_metric(name, use == kStudy ? kComparison : kStudy) != nullptr)
    return use == kStudy ? "'" + name + "' is a gate on comparisons" : "'" + name + "' is a gate on one study, of `report` and `run`";
  return "there is no metric '" + name + "'";
}

bool takes(const MetricRow& row, GateUnit unit) { return unit == kFraction ? row.has_share : unit != kNone && unit == row.amount; }

std::string wanted_bound(const MetricRow& row) {
  if (!row.has_share && row.amount == kNone) return "'" + std::string(row.name) + "' takes no bound";
  const std::string amount = row.amount == kBytes ? "bytes (kB, MB, GB, KiB, MiB, GiB)" : "a time (us, ms, s)";
  return "'" + std::string(row.name) + "' wants > or < and a bound in " +
         (row.amount == kNone ? "%"
          : row.has_share     ? "% or in " + amount
                              : amount);
}

}  // namespace

base::Result<Gate> parse_gate(const std::string& text, GateUse use) {
  static const std::regex form(R"(\s*([a-z_]+)\s*(?:([<>])\s*([-+]?[0-9]{1,15}(?:\.[0-9]{1,9})?)\s*(%|[A-Za-z]{1,3})\s*)?)");
  std::smatch parts;
  if (!std::regex_match(text, parts, form)) return refused(text, use, "wanted a metric, > or <, and a bound with its unit");
  const MetricRow* row = find_metric(parts[1].str(), use);
  if (row == nullptr) return refused(text, use, unknown_metric(parts[1].str(), use));
  Gate gate{.text = text, .metric = row->metric};
  const bool has_bound = parts[2].matched;
  if (has_bound != (row->has_share || row->amount != kNone)) return refused(text, use, wanted_bound(*row));
  if (!has_bound) return gate;
  const auto* const unit = std::find_if(kUnits.begin(), kUnits.end(), [&](const UnitRow& each) { return each.name == parts[4].str(); });
  if (unit == kUnits.end() || !takes(*row, unit->unit)) return refused(text, use, wanted_bound(*row));
  if (row->metric == kRegression && parts[2].str() == "<") return refused(text, use, "a regression is above a bound: wanted >");
  gate.sense = parts[2].str() == ">" ? GateSense::kAbove : GateSense::kBelow;
  gate.unit = unit->unit;
  gate.bound = std::stod(parts[3].str()) * unit->size;
  return gate;
}

}  // namespace rematch::rules
