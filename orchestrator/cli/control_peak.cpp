#include "orchestrator/cli/control_peak.h"

#include <ostream>

#include "orchestrator/cli/warn.h"
#include "orchestrator/report/bytes_text.h"
#include "orchestrator/rules/attribution.h"
#include "orchestrator/store/store.h"
#include "schemas/protocol/trial_paths.h"

namespace rematch::cli {

std::optional<base::ControlPeak> find_control_peak(const base::StudyPlan& plan, const GlobalOptions& options, Streams streams) {
  const std::filesystem::path database = protocol::WorkspacePaths{options.workspace}.database();
  if (!std::filesystem::exists(database)) return std::nullopt;
  const base::Result<store::Store> opened = store::Store::open(database);
  if (opened) return opened.value().control_peak(plan.arms.front().group_id);
  warn(streams.err, {base::WarningId::kNoUpperBounds, "no upper bounds of the arms: " + opened.error().message});
  return std::nullopt;
}

std::string upper_bound_text(const base::ControlPeak& control, const protocol::RecomputeSpec& recompute) {
  constexpr report::ByteUnits kUnits = report::ByteUnits::kGB;
  if (rules::no_label_lowers(control.peak.phase)) return "no label can help";
  const std::string held = report::bytes_text(protocol::total_bytes(control.peak.attribution), kUnits);
  std::string bound = "at most " + report::bytes_text(-rules::upper_bound_bytes(control.peak, recompute), kUnits);
  switch (control.peak.moment) {
    case base::Moment::kPeak: return bound + " of the control's " + held + " peak";
    case base::Moment::kOutOfMemory: return bound + " of the " + held + " that the control held when it ran out of memory";
  }
  return bound;
}

std::string source_text(const base::ControlPeak& control) {
  const base::AttributedPeak& peak = control.peak;
  const std::string provenance = control.provenance ? " (" + std::string(protocol::to_string(*control.provenance)) + ")" : "";
  return "the control of study " + control.study + provenance + ", trial " + control.trial_id + ", rank " + std::to_string(peak.rank) +
         ", " + std::string(protocol::to_string(peak.phase)) + (peak.step ? " of step " + std::to_string(*peak.step) : "");
}

}  // namespace rematch::cli
