// --core-revision of the verbs that show the tables of labels and rules.
#pragma once

#include <string>
#include <variant>

#include "orchestrator/cli/verb.h"
#include "schemas/protocol/core_revisions.h"

namespace rematch::cli {

// In any spelling that is known, of one that is shown.
struct CoreRevisionOption {
  std::string written = std::string(protocol::kSnapshot);
  void declare(CLI::App& app);
  // kUsage, said, when it is not known.
  std::variant<std::string, Exit> resolve(Streams streams) const;
};

}  // namespace rematch::cli
