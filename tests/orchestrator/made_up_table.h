// A published table made in code that is sound in every way: the work of an iteration is 100 TFLOP on two GPUs. Tests break one thing of
// it.
#pragma once

#include <cmath>
#include <string>

#include "tests/orchestrator/published_builder.h"

namespace rematch::tests {

inline constexpr double kMadeUpFlops = 100e12;

inline protocol::PublishedBytes gigabytes(double number) {
  std::string text = std::to_string(number);
  text.resize(text.find('.') + 4);  // three decimals
  return {text + " GB", std::llround(number * 1e9), 1'000'000, false};
}

inline protocol::PublishedMean mean_of_ten(double value) { return {value, 2, false, 11, 20}; }

// Its throughput follows from the work, to two decimals.
inline protocol::PublishedRow sound_row(const std::vector<std::string>& labels, double peak_gigabytes, double step_time_ms) {
  protocol::PublishedRow row = published_row(labels, protocol::PublishedEnd::kCompleted, 20);
  row.peak_allocated = {gigabytes(peak_gigabytes), "data-parallel rank 0", 2, "lifetime maximum"};
  row.step_time_ms = mean_of_ten(step_time_ms);
  row.tflops_per_gpu = mean_of_ten(std::round(kMadeUpFlops / 2 / (step_time_ms * 1e-3) / 1e10) / 100);
  return row;
}

inline protocol::Published made_up_table() {
  protocol::Published table = make_published();
  table.name = "made_up";
  table.source.hardware = "2 X9 80GB";
  table.rows = {sound_row({}, 36.618, 100), sound_row({"moe_act"}, 35.902, 104), sound_row({"mla_up_proj"}, 34.5, 110)};
  table.rows[1].deltas = {{"peak_allocated", "[]", -1.96, 2, gigabytes(0.716)}, {"step_time_ms", "[]", 4.0, 2, std::nullopt}};
  table.rows[2].deltas = {{"peak_allocated", "[]", -5.78, 2, std::nullopt}};
  return table;
}

}  // namespace rematch::tests
