#include "orchestrator/report/plots.h"

#include <utility>

#include "orchestrator/report/attribution_plot.h"
#include "orchestrator/report/beside_plot.h"
#include "orchestrator/report/pareto_plot.h"
#include "orchestrator/report/rank_phases_plot.h"
#include "orchestrator/report/step_times_plot.h"

namespace rematch::report {

namespace {

void append(std::vector<Plot> more, std::vector<Plot>& plots) {
  for (Plot& plot : more) plots.push_back(std::move(plot));
}

}  // namespace

std::vector<Plot> make_plots(const base::StudyRows& study, const base::StudyVerdict& verdict, const Beside& beside) {
  std::vector<Plot> plots;
  append(pareto_plots(study, verdict), plots);
  append(attribution_plots(study, verdict), plots);
  append(rank_phases_plots(study, verdict), plots);
  append(step_times_plots(study, verdict), plots);
  append(beside_plots(study, beside), plots);
  return plots;
}

}  // namespace rematch::report
