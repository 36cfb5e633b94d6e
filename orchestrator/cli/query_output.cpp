#include "orchestrator/cli/query_output.h"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "orchestrator/report/formats/csv_text.h"

namespace rematch::cli {

namespace {

using Json = nlohmann::ordered_json;

constexpr int kQuerySchemaVersion = 1;

// `null` is what stands for NULL.
struct ValueText {
  std::string null;
  std::string operator()(std::monostate) const { return null; }
  std::string operator()(std::int64_t value) const { return std::to_string(value); }
  std::string operator()(double value) const { return std::isfinite(value) ? fmt::format("{}", value) : null; }
  std::string operator()(const std::string& text) const { return text; }
};

struct ValueJson {
  Json operator()(std::monostate) const { return nullptr; }
  Json operator()(std::int64_t value) const { return value; }
  Json operator()(double value) const { return std::isfinite(value) ? Json(value) : Json(nullptr); }
  Json operator()(const std::string& text) const { return text; }
};

Json row_json(const store::Answer& answer, const store::ValueRow& row) {
  Json object = Json::object();
  for (std::size_t i = 0; i < row.size(); ++i) object[answer.columns[i]] = std::visit(ValueJson{}, row[i]);
  return object;
}

std::string dumped(const Json& document, int indent) { return document.dump(indent, ' ', false, Json::error_handler_t::replace); }

std::string as_json(const store::Answer& answer) {
  Json document = {{"schema_version", kQuerySchemaVersion}, {"columns", answer.columns}, {"rows", Json::array()}, {"cut", answer.cut}};
  for (const store::ValueRow& row : answer.rows) document["rows"].push_back(row_json(answer, row));
  return dumped(document, 2) + "\n";
}

std::string as_json_lines(const store::Answer& answer) {
  std::string text;
  for (const store::ValueRow& row : answer.rows) text += dumped(row_json(answer, row), -1) + "\n";
  return text;
}

std::string as_csv(const store::Answer& answer) {
  std::string text;
  for (const std::string& column : answer.columns) text += (&column == &answer.columns.front() ? "" : ",") + report::csv_field(column);
  text += "\n";
  for (const store::ValueRow& row : answer.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) text += (i == 0 ? "" : ",") + report::csv_field(std::visit(ValueText{""}, row[i]));
    text += "\n";
  }
  return text;
}

// A cell must not end its line.
std::string one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < ' '; }, ' ');
  return text;
}

std::string as_table(const store::Answer& answer) {
  std::vector<std::vector<std::string>> lines = {answer.columns};
  for (const store::ValueRow& row : answer.rows) {
    std::vector<std::string>& line = lines.emplace_back();
    for (const store::Value& value : row) line.push_back(one_line(std::visit(ValueText{"-"}, value)));
  }
  std::vector<std::size_t> widths(answer.columns.size());
  for (const auto& line : lines)
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  std::string text;
  for (std::size_t n = 0; n < lines.size(); ++n) {
    std::string line;
    for (std::size_t i = 0; i < lines[n].size(); ++i) {
      const bool is_text = n == 0 || std::holds_alternative<std::string>(answer.rows[n - 1][i]);
      line +=
          (i == 0 ? "" : "  ") + (is_text ? fmt::format("{:<{}}", lines[n][i], widths[i]) : fmt::format("{:>{}}", lines[n][i], widths[i]));
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

const std::map<std::string, std::string (*)(const store::Answer&)>& formats() {
  static const std::map<std::string, std::string (*)(const store::Answer&)> all = {
      {"table", as_table}, {"csv", as_csv}, {"json", as_json}, {"jsonl", as_json_lines}};
  return all;
}

}  // namespace

std::vector<std::string> answer_formats() {
  std::vector<std::string> names;
  for (const auto& [name, render] : formats()) names.push_back(name);
  return names;
}

std::string answer_text(const store::Answer& answer, const std::string& format) { return formats().at(format)(answer); }

}  // namespace rematch::cli
