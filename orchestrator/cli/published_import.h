// `ingest --published FILE...`: tables that others published are audited, and kept in the workspace as files and in its database.
#pragma once

#include <string>
#include <vector>

#include "orchestrator/cli/report_output.h"
#include "orchestrator/cli/verb.h"

namespace rematch::cli {

class PublishedImport {
 public:
  void declare(CLI::App& app);
  bool is_asked_for() const { return !files_.empty(); }
  // kUsage, and nothing imported, when one of the files is no published table; kEnvironment when the workspace cannot be written.
  Exit run(const GlobalOptions& options, Streams streams);

 private:
  std::vector<std::string> files_;
  bool dry_run_ = false;
  ReportOutput output_;
};

}  // namespace rematch::cli
