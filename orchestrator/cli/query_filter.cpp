#include "orchestrator/cli/query_filter.h"

#include <algorithm>
#include <vector>

#include "orchestrator/base/verdicts.h"
#include "orchestrator/spec/nearest.h"
#include "orchestrator/store/verdict_rows.h"
#include "schemas/protocol/outcome.h"
#include "schemas/protocol/published.h"

namespace rematch::cli {

namespace {

template <typename All>
std::vector<std::string> names_of(const All& all) {
  std::vector<std::string> names;
  for (const auto each : all) names.emplace_back(to_string(each));
  return names;
}

std::vector<std::string> outcomes_of(const std::string& question) {
  if (question == "studies") return store::conclusion_names();
  if (question == "published") return names_of(protocol::kAllPublishedEnds);
  return names_of(base::kAllOutcomes);
}

std::optional<std::string> problem_of(const std::optional<std::string>& word, const std::string& option, const std::string& what,
                                      const std::vector<std::string>& known) {
  if (!word || std::find(known.begin(), known.end(), *word) != known.end()) return std::nullopt;
  return option + ": " + spec::unknown_name_message(*word, what, known);
}

}  // namespace

std::optional<std::string> problem_of_filter(const std::string& question, const store::QuestionFilter& filter) {
  if (filter.study && filter.study->empty()) return "--study: wanted the name or id of a study, or the beginning of either; found ''";
  if (auto problem = problem_of(filter.outcome, "--outcome", "an outcome of `" + question + "`", outcomes_of(question))) return problem;
  return problem_of(filter.phase, "--phase", "a phase", names_of(protocol::kAllPhases));
}

}  // namespace rematch::cli
