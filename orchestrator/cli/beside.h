// What a report of a study can have beside the study's own figures: a published table that the user names, and of a predicted study the
// newest study of the workspace that trains the same on a modelled device. Used by `report` and by `run`.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "orchestrator/base/rows.h"
#include "orchestrator/base/verdicts.h"
#include "orchestrator/cli/verb.h"
#include "orchestrator/report/report_model.h"
#include "schemas/protocol/published.h"

namespace rematch::cli {

// The option --published FILE or NAME.
class PublishedOption {
 public:
  void declare(CLI::App& app);
  bool is_given() const { return !file_.empty(); }
  // nullopt where the option was not given. kUsage, and the reason on streams.err, when there is neither such a file nor an imported table
  // of that name in the workspace, or it is no published table.
  std::variant<std::optional<protocol::Published>, Exit> load(const GlobalOptions& options, Streams streams) const;

 private:
  std::string file_;
};

// kComparisonRefused, and why on streams.err, when no row of the table may be set against the study; else `otherwise`.
Exit exit_beside(const base::StudyRows& study, const std::optional<protocol::Published>& published, Exit otherwise, Streams streams);

// The report of the study with all of it. A database that cannot be opened is named on streams.err, and no twin is shown.
report::ReportModel make_report_beside(const base::StudyRows& study, const base::StudyVerdict& verdict,
                                       const std::optional<protocol::Published>& published, const GlobalOptions& options, Streams streams);

}  // namespace rematch::cli
