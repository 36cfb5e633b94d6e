#include "orchestrator/report/moved_table.h"

#include "orchestrator/base/predicted.h"
#include "orchestrator/report/cells.h"

namespace rematch::report {

namespace {

struct Row {
  std::string arm;
  std::string moved;
  std::string side;
  std::string against;
  const base::RankInBothArms* rank;
};

std::vector<Row> rows_of(const std::vector<base::ArmVerdict>& arms) {
  std::vector<Row> rows;
  for (const base::ArmVerdict& arm : arms) {
    if (const auto& hot = arm.hot_rank_moved) {
      rows.push_back({arm.arm, "hot rank", "from", hot->against, &hot->from});
      rows.push_back({arm.arm, "hot rank", "to", hot->against, &hot->to});
    }
    if (arm.moved && arm.moved->from.rank != arm.moved->to.rank) {
      rows.push_back({arm.arm, "failure", "from", arm.moved->against, &arm.moved->from_rank});
      rows.push_back({arm.arm, "failure", "to", arm.moved->against, &arm.moved->to_rank});
    }
  }
  return rows;
}

Cell pipeline_cell(const base::RankInBothArms& rank) {
  if (rank.pipeline_size == 1) return {};
  return std::to_string(rank.pipeline_rank) + " of " + std::to_string(rank.pipeline_size);
}

Cell peak_cell(const std::optional<base::RankPeak>& peak) { return peak ? Cell{Bytes{peak->allocated_bytes}} : Cell{}; }
Cell phase_cell(const std::optional<base::RankPeak>& peak) { return peak ? name_cell(peak->binding_phase) : Cell{}; }

}  // namespace

Table moved_table(const base::StudyPlan& plan, const std::vector<base::ArmVerdict>& arms) {
  std::vector<ColumnOf<Row>> columns = {
      modules_column<Row>(),
      {{"moved", "moved"}, [](const Row& r) { return text_cell(r.moved); }},
      {{"side", "side"}, [](const Row& r) { return text_cell(r.side); }},
      {{"rank", "rank"}, [](const Row& r) { return Cell{Count{r.rank->rank}}; }},
      {{"pipeline_rank", "pipeline rank"}, [](const Row& r) { return pipeline_cell(*r.rank); }},
      {{"against", "set against"}, [](const Row& r) { return text_cell(r.against); }},
      {{"against_peak_allocated_bytes", "peak there"}, [](const Row& r) { return peak_cell(r.rank->against); }},
      {{"against_binding_phase", "binding phase there"}, [](const Row& r) { return phase_cell(r.rank->against); }},
      {{"peak_allocated_bytes", "peak here"}, [](const Row& r) { return peak_cell(r.rank->own); }},
      {{"binding_phase", "binding phase here"}, [](const Row& r) { return phase_cell(r.rank->own); }},
  };
  if (base::is_predicted(plan))
    columns.insert(columns.begin() + 4, {{"num_alike", "others alike"}, [](const Row& r) { return Cell{Count{r.rank->num_alike}}; }});
  return table_of("moved_ranks", "Moved to another rank", columns, rows_of(arms));
}

}  // namespace rematch::report
