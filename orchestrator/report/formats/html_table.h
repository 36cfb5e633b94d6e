// A table of a report as HTML: numbers to the right with their raw value in data-v, what was not measured as "-" of class m. A script may
// sort it; without one it stands as the model has it. Pure.
#pragma once

#include <string>

#include "orchestrator/report/format.h"
#include "orchestrator/report/report_model.h"

namespace rematch::report {

// `id` names the heading that says what the table is; `chosen` the row that is the answer, by its first cell; empty: none.
std::string html_table(const Table& table, ByteUnits units, const std::string& id, const std::string& chosen);

// A table whose rows are sentences.
std::string html_list(const Table& table, ByteUnits units);

// What is known of them: titles and values.
std::string html_facts(const std::vector<Fact>& facts, ByteUnits units);

}  // namespace rematch::report
