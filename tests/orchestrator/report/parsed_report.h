// A rendered report read back: its tables as the texts of cells, told by the model which table and which columns come next. For tests that
// check what a reader of a format sees.
#pragma once

#include <string>
#include <vector>

#include "orchestrator/report/report_model.h"

namespace rematch::report {

struct ParsedTable {
  const Table* table = nullptr;                // of the model
  std::vector<std::size_t> columns;            // of the table, those that the format shows
  std::vector<std::vector<std::string>> rows;  // one text a shown column
};

// Formats for machines: numbers as they are stored, "" for what was not measured. The others: display_text, "-" for it.
bool is_raw_format(const std::string& format);
// Tables that the format shows as such (lists of sentences are none), in their order. Fails the running test when the text has other
// tables, rows or headings than the model, or when the format has no reader here.
std::vector<ParsedTable> parse_report(const std::string& format, const std::string& text, const ReportModel& model);

}  // namespace rematch::report
