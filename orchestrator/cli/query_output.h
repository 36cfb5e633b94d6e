// The rows that a query gave, as text: an aligned table, csv (RFC 4180), one json document, or jsonl with an object a line. Pure.
#pragma once

#include <string>
#include <vector>

#include "orchestrator/store/query.h"

namespace rematch::cli {

std::vector<std::string> answer_formats();  // table, csv, json, jsonl
// `format` is one of answer_formats(). NULL is "-" in a table, empty in csv, null in json.
std::string answer_text(const store::Answer& answer, const std::string& format);

}  // namespace rematch::cli
