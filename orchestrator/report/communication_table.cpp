#include "orchestrator/report/communication_table.h"

#include "orchestrator/base/predicted.h"
#include "orchestrator/report/cells.h"
#include "orchestrator/rules/communication.h"

namespace rematch::report {

Table communication_table(const base::AttemptRows& attempt) {
  using protocol::CommCount;
  const auto communication = rules::step_communication(attempt);
  const std::vector<ColumnOf<CommCount>> columns = {
      {{"axis", "axis"}, [](const CommCount& c) { return text_cell(c.axis); }},
      {{"pass", "pass"}, [](const CommCount& c) { return name_cell(c.pass); }},
      {{"operation", "operation"}, [](const CommCount& c) { return name_cell(c.operation); }},
      {{"num_calls", "calls"}, [](const CommCount& c) { return Cell{Count{c.num_calls}}; }},
      {{"bytes", "bytes"}, [](const CommCount& c) { return Cell{Bytes{c.bytes}}; }},
      {{"duration_ns", "time"},
       [&](const CommCount& c) {
         return base::is_predicted(attempt.trial) ? Cell{} : Cell{Nanoseconds{static_cast<double>(c.duration_ns)}};
       }},
  };
  if (!communication) return table_of("communication", "Communication", columns, {});
  const std::string who = base::rank_text(communication->rank, base::num_alike(attempt.trial, communication->rank));
  return table_of("communication", "Communication (" + who + ", step " + std::to_string(communication->step) + ")", columns,
                  communication->counts);
}

std::vector<Fact> replayed_communication_facts(const base::AttemptRows& attempt) {
  const auto communication = rules::step_communication(attempt);
  if (!communication || communication->counts.empty()) return {};
  const rules::PassTotal replayed = rules::total_of(*communication, protocol::Pass::kReplay);
  return {{"replayed_communication_calls", "replayed communication, calls", Count{replayed.num_calls}},
          {"replayed_communication_bytes", "replayed communication", Bytes{replayed.bytes}}};
}

}  // namespace rematch::report
