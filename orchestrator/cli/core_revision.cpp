#include "orchestrator/cli/core_revision.h"

#include <CLI/CLI.hpp>
#include <ostream>

#include "orchestrator/spec/nearest.h"
#include "schemas/protocol/json_fields.h"

namespace rematch::cli {

void CoreRevisionOption::declare(CLI::App& app) {
  app.add_option("--core-revision", written, "Of Megatron Core: a release, a branch or the first digits of a commit")
      ->capture_default_str();
}

std::variant<std::string, Exit> CoreRevisionOption::resolve(Streams streams) const {
  if (const auto resolved = protocol::resolve_revision(written)) return std::string(*resolved);
  streams.err << "rematch: wanted a core revision that is known, found '" << protocol::printable(written)
              << "'; known: " << spec::join(protocol::revision_names(), ", ") << "\n";
  return Exit::kUsage;
}

}  // namespace rematch::cli
