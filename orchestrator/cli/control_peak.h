// What the workspace already knows of a plan's control: what its peak is made of, which bounds every arm before anything is run.
#pragma once

#include <optional>
#include <string>

#include "orchestrator/base/attributed_peak.h"
#include "orchestrator/cli/verb.h"

namespace rematch::cli {

// nullopt: the workspace has no database, or no such control in it. A database that cannot be opened is named on streams.err. Makes no
// workspace.
std::optional<base::ControlPeak> find_control_peak(const base::StudyPlan& plan, const GlobalOptions& options, Streams streams);

// How much an arm can lower the control's peak at most: "at most -1.323 MB of the control's 48.151 MB peak".
std::string upper_bound_text(const base::ControlPeak& control, const protocol::RecomputeSpec& recompute);
// Which control that was: study, provenance, trial, rank, phase and step.
std::string source_text(const base::ControlPeak& control);

}  // namespace rematch::cli
