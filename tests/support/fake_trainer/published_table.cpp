#include "tests/support/fake_trainer/published_table.h"

#include <cmath>

#include "schemas/protocol/published.h"

namespace rematch::tests {

namespace {

constexpr std::int64_t kMiB = 1 << 20;
constexpr std::int64_t kPeakOfUnknownBytes = 64'000'000'000;

Misdeed out_of_memory_at(std::int64_t step) {
  Misdeed misdeed;
  misdeed.what = "oom";
  misdeed.step = step;
  return misdeed;
}

}  // namespace

Behaviour replayed_behaviour(const std::string& table_path, const protocol::Trial& trial, std::int64_t rank) {
  const protocol::Published table = protocol::read_published(table_path);
  const protocol::PublishedRow* row = protocol::find_row(table, trial.arm.substr(0, trial.arm.find(" (")));
  const bool has_peak = row != nullptr && row->peak_allocated;
  Behaviour behaviour;
  behaviour.peak_bytes = (has_peak ? row->peak_allocated->figure.bytes : kPeakOfUnknownBytes) - rank * kMiB;
  if (row != nullptr && row->step_time_ms) behaviour.step_time_us = std::llround(row->step_time_ms->value * 1000);
  const bool runs_out = row == nullptr || row->outcome.kind == protocol::PublishedEnd::kOutOfMemory;
  if (runs_out && rank == 0)
    behaviour.misdeeds.push_back(out_of_memory_at(row == nullptr ? 0 : row->outcome.iterations_completed.value_or(0)));
  return behaviour;
}

}  // namespace rematch::tests
