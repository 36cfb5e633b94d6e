// A plot of each kind, of figures made in code: names with odd characters, what was not measured, an axis that ends below an extreme.
#pragma once

#include <string>
#include <vector>

#include "orchestrator/report/report_model.h"

namespace rematch::tests {

inline report::Plot points_plot() {
  using report::PlotUnit;
  return {"pareto",
          "Peak against step time",
          "Figures are modelled-device.",
          report::PlotKind::kPoints,
          {"peak allocated", PlotUnit::kBytes},
          {"step time", PlotUnit::kNanoseconds},
          {},
          {{"[]", {1.0e9, 1.0e9, 1.02e9}, {10.0e6, 10.1e6, 9.9e6}, true},
           {"moe_act", {0.8e9}, {10.4e6}, true},
           {"core<attn> & \"more\"", {1.0e9}, {10.4e6}, false},
           {"no figures", {0.9e9}, {std::nullopt}, false}},
          {{1.1e9, "budget per rank"}}};
}

// `num_ranks` ranks, of which each has `step` bytes less than the one before.
inline report::Plot layers_plot(int num_ranks = 4, double step = 5e7) {
  using report::PlotUnit;
  report::Plot plot{"rank_phases",
                    "Peaks by rank and phase: moe_act",
                    "Figures are modelled-device.",
                    report::PlotKind::kLayers,
                    {"rank", PlotUnit::kRank},
                    {"peak allocated", PlotUnit::kBytes},
                    {},
                    {{"forward", {}, {}, false}, {"backward", {}, {}, false}},
                    {}};
  for (std::size_t phase = 0; phase < plot.series.size(); ++phase) {
    report::PlotSeries& series = plot.series[phase];
    for (int rank = 0; rank < num_ranks; ++rank) {
      series.x.push_back(rank);
      series.y.emplace_back(0.8e9 + 0.2e9 * static_cast<double>(phase) - step * rank);
    }
    series.x.push_back(num_ranks);
    series.y.emplace_back(std::nullopt);
  }
  return plot;
}

// The first step of each run lies above the axis; one step of the second was not measured.
inline report::Plot lines_plot() {
  using report::PlotUnit;
  report::Plot plot{"step_times",
                    "Step times: moe_act",
                    "Figures are modelled-device.",
                    report::PlotKind::kLines,
                    {"step", PlotUnit::kStep},
                    {"step time", PlotUnit::kNanoseconds, 11e6},
                    {},
                    {{"block 0", {}, {}, true}, {"block 1", {}, {}, false}},
                    {{2, "warm-up ends"}, {6, "block 1 begins"}}};
  for (int run = 0; run < 2; ++run)
    for (int step = 0; step < 12; ++step) {
      report::PlotSeries& series = plot.series[static_cast<std::size_t>(run)];
      series.x.push_back(step);
      const bool is_missing = run == 1 && step == 7;
      series.y.push_back(is_missing ? std::nullopt : std::optional(step == 0 ? 20e6 : 10e6 + 1e5 * (step % 3) + 3e5 * run));
    }
  return plot;
}

inline report::Plot stacked_plot() {
  using report::PlotUnit;
  return {"attribution",
          "What the peak is made of",
          "Figures are modelled-device.",
          report::PlotKind::kStackedBars,
          {"arm", PlotUnit::kNone},
          {"peak allocated", PlotUnit::kBytes},
          {"[]", "moe_act"},
          {{"parameters", {0, 1}, {150e6, 150e6}, false}, {"activations", {0, 1}, {400e6, 280e6}, false}},
          {}};
}

inline report::Plot grouped_plot() {
  using report::PlotUnit;
  return {"beside",
          "Predicted beside modelled-device",
          "A bar has one provenance.",
          report::PlotKind::kGroupedBars,
          {"arm", PlotUnit::kNone},
          {"peak allocated", PlotUnit::kBytes},
          {"[]", "an arm with a name that is far too long to stand beside its bars"},
          {{"predicted", {0, 1}, {1.05e9, 0.9e9}, false}, {"modelled-device", {0, 1}, {1.0e9, std::nullopt}, false}},
          {}};
}

inline std::vector<report::Plot> sample_plots() { return {points_plot(), layers_plot(), lines_plot(), stacked_plot(), grouped_plot()}; }

}  // namespace rematch::tests
