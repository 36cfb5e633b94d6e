// Rule: a published table is a comparison only where it has a control that ran in the same setting; what it lacks is said, row by row and
// field by field. Pure.
#pragma once

#include <string>
#include <vector>

#include "orchestrator/base/rows.h"
#include "schemas/protocol/published.h"

namespace rematch::rules {

// The row that recomputed nothing; nullptr: there is none.
const protocol::PublishedRow* find_control(const protocol::Published& published);
bool has_control(const protocol::Published& published);

// Its arm; of a row that names none its description in quotes.
std::string name_of(const protocol::PublishedRow& row);

// Fields of the setting and of the rows that the source does not state: "setting.attention", "peak_allocated.ranks of mlp, mlp+core_attn".
std::vector<std::string> fields_not_stated(const protocol::Published& published);

// Why no row of the table may be set against the study, in one sentence; empty: some row may.
std::string published_refusal(const base::StudyRows& study, const protocol::Published& published);

}  // namespace rematch::rules
