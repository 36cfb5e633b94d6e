// One file that opens without a network, for a screen of any width and for paper: the answer first, then what it rests on. Styles, pictures
// and a small script stand inline; its Content-Security-Policy forbids everything else.
#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "orchestrator/report/cell_text.h"
#include "orchestrator/report/format.h"
#include "orchestrator/report/formats/html_assets.h"
#include "orchestrator/report/formats/html_plots.h"
#include "orchestrator/report/formats/html_table.h"
#include "orchestrator/report/formats/html_text.h"
#include "orchestrator/report/formats/svg_canvas.h"

namespace rematch::report {

namespace {

constexpr std::size_t kManySections = 10;  // their links are folded
constexpr std::size_t kLongTable = 24;     // rows; a longer one is folded, unless it is one of those that everybody wants

// What of a table its place in the document depends on.
enum class Part { kMain, kArmsWithoutFigures, kOther, kSentences };

Part part_of(const Table& table) {
  if (table.as_list) return Part::kSentences;
  if (table.key == "failed_arms" || table.key == "arms_without_figures" || table.key == "unmatched") return Part::kArmsWithoutFigures;
  return table.key == "arms" || table.key.starts_with("guide_") ? Part::kMain : Part::kOther;
}

// Commands to be copied whole; every other fact is read.
bool is_command(const Fact& fact) {
  static constexpr std::array<std::string_view, 4> kKeys = {"run_command", "report_command", "reproduce", "replay_command"};
  return std::find(kKeys.begin(), kKeys.end(), fact.key) != kKeys.end() && std::holds_alternative<std::string>(fact.value);
}

std::vector<Fact> without_commands(const std::vector<Fact>& facts) {
  std::vector<Fact> rest;
  std::remove_copy_if(facts.begin(), facts.end(), std::back_inserter(rest), is_command);
  return rest;
}

class Document {
 public:
  Document(const ReportModel& model, ByteUnits units) : model_(model), units_(units) {}

  std::string text() {
    if (model_.answer.empty()) add_facts("Facts");
    add_answer();
    add_tables(Part::kMain);
    add_plots();
    add_tables(Part::kArmsWithoutFigures);
    add_tables(Part::kOther);
    add_tables(Part::kSentences);
    if (!model_.answer.empty()) add_facts("Setting and provenance");
    add_commands();
    add_notes();
    return head() + sections_ + "</main>\n<script>" + std::string(html_script()) + "</script>\n</body>\n</html>\n";
  }

 private:
  std::string head() const;
  std::string contents() const;
  void add_section(const std::string& key, const std::string& title, const std::string& content, std::string_view classes = "");
  void add_folded(const std::string& key, const std::string& title, const std::string& size, const std::string& content);
  void add_answer();
  void add_facts(const std::string& title);
  void add_tables(Part part);
  void add_table(const Table& table);
  void add_plots();
  void add_commands();
  void add_notes();
  std::string new_id(const std::string& key);
  void open_section(const std::string& id, const std::string& title, std::string_view classes);

  const ReportModel& model_;
  ByteUnits units_;
  std::string links_;
  std::size_t num_sections_ = 0;
  std::string sections_;
  std::map<std::string, int> used_ids_;
};

std::string Document::head() const {
  const std::string policy = "default-src 'none'; style-src 'unsafe-inline'; script-src '" + std::string(html_script_hash()) +
                             "'; base-uri 'none'; form-action 'none'";
  return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" content=\"" +
         policy + "\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>" + escaped_html(model_.title) +
         "</title>\n<style>" + std::string(html_style()) +
         "</style>\n</head>\n<body>\n<a class=\"skip\" href=\"#main\">Skip to the content</a>\n" + (model_.plots.empty() ? "" : hatches()) +
         "<header>\n<h1>" + escaped_html(model_.title) + "</h1>\n" + contents() + "</header>\n<main id=\"main\">\n";
}

std::string Document::contents() const {
  const std::string list = "<ul>\n" + links_ + "</ul>";
  const std::string folded = "<details><summary>Contents</summary>" + list + "</details>";
  return "<nav aria-label=\"Contents\">" + (num_sections_ < kManySections ? list : folded) + "</nav>\n";
}

// Tables of one key may be several.
std::string Document::new_id(const std::string& key) {
  const int number = ++used_ids_[key];
  return number == 1 ? key : key + "-" + std::to_string(number);
}

void Document::open_section(const std::string& id, const std::string& title, std::string_view classes) {
  ++num_sections_;
  links_ += "<li><a" + attribute("href", "#" + id) + ">" + escaped_html(title) + "</a></li>\n";
  sections_ += "<section" + attribute("id", id) + (classes.empty() ? "" : attribute("class", classes)) +
               attribute("aria-labelledby", id + "-heading") + ">\n";
}

void Document::add_section(const std::string& id, const std::string& title, const std::string& content, std::string_view classes) {
  open_section(id, title, classes);
  sections_ += "<h2" + attribute("id", id + "-heading") + ">" + escaped_html(title) + "</h2>\n" + content + "</section>\n";
}

void Document::add_folded(const std::string& id, const std::string& title, const std::string& size, const std::string& content) {
  open_section(id, title, "");
  sections_ += "<details><summary><h2" + attribute("id", id + "-heading") + ">" + escaped_html(title) + "</h2> <span>" +
               escaped_html(size) + "</span></summary>\n" + content + "</details>\n</section>\n";
}

void Document::add_answer() {
  if (model_.answer.empty()) return;
  const Fact& answer = model_.answer.front();
  std::vector<Fact> rest = without_commands(model_.answer);
  rest.erase(rest.begin());
  const std::string title = answer.title == "answer" ? "Answer" : "Answer, " + answer.title.substr(0, answer.title.find(' '));
  add_section(new_id("answer"), title,
              "<p class=\"lead\"><b" + attribute("data-key", answer.key) + ">" + escaped_html(display_text(answer.value, units_)) +
                  "</b></p>\n" + html_facts(rest, units_),
              "answer");
}

void Document::add_facts(const std::string& title) {
  if (const std::vector<Fact> facts = without_commands(model_.header); !facts.empty())
    add_section(new_id("facts"), title, html_facts(facts, units_));
}

void Document::add_tables(Part part) {
  for (const Table& table : model_.tables)
    if (table.place != Place::kDataOnly && part_of(table) == part) add_table(table);
}

void Document::add_table(const Table& table) {
  const std::string id = new_id(table.key);
  if (table.as_list) return add_section(id, table.title, html_list(table, units_));
  const bool names_arms = part_of(table) == Part::kMain && !model_.answer.empty();
  const std::string chosen = names_arms ? display_text(model_.answer.front().value, units_) : "";
  const std::string content = html_table(table, units_, id + "-heading", chosen);
  if (part_of(table) == Part::kOther && table.rows.size() > kLongTable)
    add_folded(id, table.title, std::to_string(table.rows.size()) + " rows", content);
  else
    add_section(id, table.title, content);
}

void Document::add_plots() {
  if (!model_.plots.empty()) add_section(new_id("plots"), "Plots", html_plots(model_.plots, units_));
}

void Document::add_commands() {
  std::string content;
  for (const std::vector<Fact>* facts : {&model_.header, &model_.answer})
    for (const Fact& fact : *facts)
      if (is_command(fact))
        content += "<p>" + escaped_html(fact.title) + ":</p>\n<pre" + attribute("data-key", fact.key) + ">" +
                   escaped_html(std::get<std::string>(fact.value)) + "</pre>\n";
  if (!content.empty()) add_section(new_id("commands"), "How to reproduce", content);
}

void Document::add_notes() {
  std::string content;
  for (const std::string& note : model_.notes) content += "<li>" + escaped_html(note) + "</li>\n";
  if (!content.empty()) add_section(new_id("notes"), "Notes", "<ul>\n" + content + "</ul>\n");
}

std::string render_html(const ReportModel& model, ByteUnits units) { return Document(model, units).text(); }

const FormatRegistrar kRegistrar("html", render_html, FormatPlots::kDrawn);

}  // namespace

}  // namespace rematch::report
