// Reports of studies made in code, and their plots as a reader finds them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "orchestrator/report/report_model.h"
#include "orchestrator/rules/judge.h"
#include "tests/orchestrator/report/golden_studies.h"

namespace rematch::tests {

inline report::Beside beside_of(const GoldenStudy& golden) {
  return {golden.published ? &*golden.published : nullptr, golden.twin ? &*golden.twin : nullptr};
}

struct Reported {
  base::StudyRows study;
  base::StudyVerdict verdict;
  report::ReportModel model;
};

inline Reported report_of(const GoldenStudy& golden) {
  const base::StudyVerdict verdict = rules::judge_study(golden.study);
  return {golden.study, verdict, report::make_report(golden.study, verdict, beside_of(golden))};
}
inline Reported report_of(const base::StudyRows& study) { return report_of(GoldenStudy{"", study}); }

inline std::vector<report::Plot> plots_with_key(const report::ReportModel& model, const std::string& key) {
  std::vector<report::Plot> plots;
  std::copy_if(model.plots.begin(), model.plots.end(), std::back_inserter(plots),
               [&](const report::Plot& plot) { return plot.key == key; });
  return plots;
}

// Rank and phase -> bytes, as a reader of the steps finds them.
inline std::map<std::pair<std::int64_t, std::string>, double> heights_of(const report::Plot& plot) {
  std::map<std::pair<std::int64_t, std::string>, double> heights;
  for (const report::PlotSeries& layer : plot.series) {
    EXPECT_FALSE(layer.y.back()) << "a layer ends";
    for (std::size_t i = 0; i + 1 < layer.x.size(); ++i)
      for (auto rank = static_cast<std::int64_t>(layer.x[i]); layer.y[i] && rank < static_cast<std::int64_t>(layer.x[i + 1]); ++rank)
        heights[{rank, layer.name}] = *layer.y[i];
  }
  return heights;
}

}  // namespace rematch::tests
