// What `plan --predict` says of each arm: the simulation of the same sweep, carried out in the workspace as a study of its own.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <variant>

#include "orchestrator/base/verdicts.h"
#include "orchestrator/cli/sweep_input.h"

namespace rematch::cli {

struct PredictedArm {
  std::optional<base::RankPeak> hot;     // of an arm that is predicted to fit
  std::optional<base::Failure> failure;  // of one that is not
  std::int64_t num_alike = 0;            // of the rank of either
  std::string reason;                    // when there is neither
};

struct Prediction {
  std::string study_id;
  std::string device;
  std::optional<std::int64_t> capacity_bytes;  // null: no limit
  std::map<std::string, PredictedArm> arms;    // by name; every planned arm
};

// Trials of the workspace that are done are not run again. The Exit says why there is no prediction: kEnvironment, kInterrupted.
std::variant<Prediction, Exit> predict(const SweepInput& simulated, const GlobalOptions& options, Streams streams);

// "36.618 GB on rank 0 (and 7 alike): predicted to fit", "will not fit: warm of step 1, forward, rank 0"
std::string predicted_text(const Prediction& prediction, const std::string& arm);
// Under the table: of what, and that it is no measurement.
std::string source_text(const Prediction& prediction);
nlohmann::json to_json(const Prediction& prediction);

}  // namespace rematch::cli
