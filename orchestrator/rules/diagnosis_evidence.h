// What the finders of symptoms share: who is looked at, and how numbers are said. Internal to the diagnosis. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "orchestrator/base/attributed_peak.h"
#include "orchestrator/base/rows.h"
#include "orchestrator/base/verdicts.h"

namespace rematch::rules {

struct Evidence {
  const base::StudyRows& study;
  const base::StudyVerdict& verdict;
};

// An arm with its row and the run that tells of it.
struct TellingRun {
  const base::ArmRow& row;
  const base::ArmVerdict& arm;
  const base::AttemptRows& attempt;
};

struct Found {
  std::string finding;
  std::string next_step;
  std::string ruled_out = {};  // empty: nothing
  std::string command = {};    // of the next step
};

// Why a symptom could not be looked for in this arm; empty: it was, or has nothing to do with it.
using Gap = std::string (*)(const Evidence& evidence, const base::ArmRow& row, const base::ArmVerdict& arm);

// One finding an arm that shows it. `look` sees every arm with a run that counts: of a failed arm the first that failed.
std::vector<base::Diagnosis> find_in_runs(const Evidence& evidence, std::string_view symptom,
                                          const std::function<std::optional<Found>(const TellingRun&)>& look);
// The same of every arm of the plan, run or not.
std::vector<base::Diagnosis> find_in_arms(const Evidence& evidence, std::string_view symptom,
                                          const std::function<std::optional<Found>(const base::ArmRow&, const base::ArmVerdict&)>& look);

// The run of this arm that tells of it; nullptr: none.
const base::AttemptRows* telling_attempt(const Evidence& evidence, const std::string& arm);
// The arm of this group whose only label this is; nullptr: none.
const base::ArmVerdict* arm_of_label(const Evidence& evidence, const std::string& group_id, const std::string& label);

bool selects(const protocol::RecomputeSpec& recompute, const std::string& label);
bool ran_out_of_memory(const base::ArmVerdict& arm);
// "it wrapped 8 regions and replayed them 160 times"; empty where that is not known, or none.
std::string activity_text(const base::AttemptRows& attempt, const std::string& label);
// "a failure by fragmentation: ...", of a failed request that free memory could not have held; empty: not known, or it could.
std::string no_fragmentation_text(const base::ArmVerdict& arm);
// Regions of the label on all ranks of the run; nullopt where a rank has not said it.
std::optional<std::int64_t> num_available(const base::AttemptRows& attempt, const std::string& label);

// A peak saving of less than half a per cent, as much as a plateau may grow by, is hardly any.
bool is_hardly_any(std::optional<double> peak_delta_fraction);

std::string change_text(std::int64_t bytes, std::optional<double> fraction);  // "-5 bytes (-0.01 %)"
std::string moment_text(const base::AttributedPeak& peak);                    // "rank 0 in backward of step 3"

}  // namespace rematch::rules
