#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "orchestrator/doctor/slurm_probe.h"

namespace rematch::doctor {

namespace {

using nlohmann::json;

std::map<std::string, std::string> values_of(const std::string& answer) {
  std::map<std::string, std::string> values;
  std::istringstream lines(answer);
  for (std::string line; std::getline(lines, line);)
    if (const auto equals = line.find('='); equals != std::string::npos) values[line.substr(0, equals)] = line.substr(equals + 1);
  return values;
}

// Problems that doctor names there. A lock is this machine's own affair.
std::string problems_in(const json& findings) {
  std::string text;
  for (const json& finding : findings)
    if (finding.value("state", "") == "problem" && finding.value("name", "") != "lock")
      text += (text.empty() ? "" : "; ") + finding.value("name", "") + ": " + finding.value("found", "");
  return text;
}

std::string trainer_in(const json& findings) {
  for (const json& finding : findings)
    if (finding.value("name", "") == "trainer") return finding.value("found", "");
  return "";
}

Finding bad(Finding finding, const std::string& found, const std::string& advice) {
  finding.state = State::kProblem;
  finding.found = found;
  finding.advice = advice;
  return finding;
}

}  // namespace

Finding judge_node(const std::string& node, const std::string& answer, const std::string& document, const ProbeRequest& request) {
  Finding finding{"node_" + node, State::kOk, "it sees and writes the workspace, has room for temporary files, and runs this trainer", "",
                  ""};
  const auto values = values_of(answer);
  const auto of = [&values](const char* name) { return values.contains(name) ? values.at(name) : std::string(); };
  const json shown = json::parse(document, nullptr, false);
  if (!shown.is_object() || !shown.contains("findings") || !shown["findings"].is_array())
    return bad(finding, request.rematch.string() + " ended there with " + of("code") + ": " + of("error"),
               "Put rematch, and the libraries that it is linked with, where that node sees them");
  if (of("temporary").empty())
    return bad(finding, "no temporary folder can be made there: " + of("error"), "Set TMPDIR to a folder of that node with launch.setup");
  if (const std::string problems = problems_in(shown["findings"]); !problems.empty())
    return bad(finding, problems, "See there; `rematch doctor` on that node says the same");
  if (const std::string trainer = trainer_in(shown["findings"]); request.trainer && trainer != request.trainer_found)
    return bad(finding, "trainer " + trainer + "; here it is " + request.trainer_found, "Let both see the same trainer, of one build");
  finding.found = "workspace seen and written, temporary files in " + of("temporary") + (request.trainer ? ", the same trainer" : "");
  return finding;
}

}  // namespace rematch::doctor
