#include "orchestrator/report/command_facts.h"

#include "orchestrator/base/predicted.h"
#include "orchestrator/base/shell_text.h"
#include "orchestrator/report/cells.h"

namespace rematch::report {

std::vector<Fact> command_facts(const base::StudyPlan& plan, const std::string& options) {
  const std::string run = std::string("rematch run ") + (base::is_predicted(plan) ? "--simulate " : "");
  const std::string report = "rematch report " + plan.study_id + (options.empty() ? "" : " " + options);
  return {{"run_command", "run by, options aside", plan.sweep_path.empty() ? Cell{} : Cell{run + base::shell_quoted(plan.sweep_path)}},
          {"report_command", "this report by", text_cell(report)}};
}

}  // namespace rematch::report
