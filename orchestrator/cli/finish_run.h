// What `run` does when all is carried out that can be: keeps the report, says what is not done, or prints the table. The same for a study
// that ran here and for one that ran in jobs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "orchestrator/cli/verb.h"
#include "orchestrator/engine/engine.h"
#include "orchestrator/rules/gate.h"
#include "schemas/protocol/published.h"

namespace rematch::cli {

struct FinishOptions {
  std::optional<protocol::Published> published;
  std::string format = "md";  // of the table
  std::string undone_reason;  // of trials that are not done though nothing interrupted: whose fault
  std::vector<rules::Gate> gates;
};

Exit finish_run(const engine::EngineResult& result, const FinishOptions& finish, const GlobalOptions& options, Streams streams);

}  // namespace rematch::cli
