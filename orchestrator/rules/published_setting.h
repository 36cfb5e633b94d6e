// Rule: a published table may be set against a study only where what the source states of its setting is what the study ran. Pure.
#pragma once

#include <string>
#include <vector>

#include "schemas/protocol/published.h"
#include "schemas/protocol/trial.h"

namespace rematch::rules {

struct SettingDifference {
  std::string field;
  std::string published;
  std::string here;

  bool operator==(const SettingDifference&) const = default;
};

// What the source does not state is no difference; nor is the number of steps.
std::vector<SettingDifference> setting_differences(const protocol::Published& published, const protocol::Trial& trial);

// The trial does the work of the table's rows: the source states model and batch, and they are the trial's. Layout, precision and revision
// do not matter for it.
bool does_same_work(const protocol::Published& published, const protocol::Trial& trial);

// "bf16", "fp8" or "fp32".
std::string precision_of(const protocol::Trial& trial);

}  // namespace rematch::rules
