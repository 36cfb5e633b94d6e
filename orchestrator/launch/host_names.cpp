#include "orchestrator/launch/host_names.h"

#include <chrono>
#include <sstream>

#include "orchestrator/launch/find_program.h"
#include "orchestrator/launch/process.h"

namespace rematch::launch {

base::Result<std::vector<std::string>> host_names(const std::string& list) {
  constexpr std::chrono::milliseconds kDeadline{10'000};
  const auto program = find_program("scontrol");
  if (!program) return base::Error{"wanted scontrol on PATH to read the node list " + list + ", found none"};
  ProcessSpec spec;
  spec.program = *program;
  spec.arguments = {"show", "hostnames", list};
  const auto said = run_captured(spec, kDeadline, Capture::kOutputAndErrors);
  if (!said) return said.error();
  std::vector<std::string> names;
  std::istringstream lines(said.value().text);
  for (std::string line; std::getline(lines, line);)
    if (!line.empty()) names.push_back(line);
  if (said.value().end.exit_code != 0 || names.empty())
    return base::Error{"scontrol show hostnames " + list + " gave no names: " + said.value().error_text};
  return names;
}

}  // namespace rematch::launch
