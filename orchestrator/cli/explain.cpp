// `rematch explain NAME`: the page of a rule, a label, a warning, a symptom or a word of a report; `--list`: what there are pages of.
#include "orchestrator/cli/explain.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <ostream>
#include <set>

#include "orchestrator/base/warnings.h"
#include "orchestrator/cli/core_revision.h"
#include "orchestrator/compat/label_pages.h"
#include "orchestrator/report/pages.h"
#include "orchestrator/spec/nearest.h"
#include "schemas/protocol/recompute_labels.h"

namespace rematch::cli {

namespace {

std::string revisions_text(protocol::CoreRevisions revisions) {
  std::string text;
  for (const std::string_view revision : revisions) text += (text.empty() ? "" : ", ") + std::string(revision);
  return text;
}

std::string kind_text(protocol::Mechanism mechanism) {
  switch (mechanism) {
    case protocol::Mechanism::kCheckpoint: return "checkpoint: keeps inputs and output, replays what is between";
    case protocol::Mechanism::kOutputDiscarding:
      return "output_discarding: drops the output too, and rebuilds it in place before it is needed";
  }
  return "";
}

std::string rule_text(const compat::Rule& rule) {
  return key_of(rule) + "\n  effect    " + std::string(to_string(rule.effect)) + "\n  origin    " + std::string(to_string(rule.origin)) +
         (rule.class_warns ? ", which warns of it" : "") + "\n  reads     " +
         std::string(rule.fields.empty() ? "every field" : rule.fields) + "\n  at        " + revisions_text(rule.core_revisions) +
         "\n  reason    " + std::string(rule.reason) + "\n";
}

std::string label_text(const protocol::LabelRow& row, const std::string& revision) {
  const compat::LabelPage& page = compat::label_page(row.label);
  std::string text = std::string(row.label) + " at " + revision + "\n";
  if (!protocol::contains(row.core_revisions, revision)) text += "  unknown   to this revision (L1); what follows is of the others\n";
  text += "  kind      " + kind_text(row.mechanism) + "\n  at        " + revisions_text(row.core_revisions) + "\n  drops     " +
          std::string(row.discards) + "\n  keeps     " + std::string(page.keeps) + "\n  replays   " + std::string(page.replays) +
          "\n  no effect " + std::string(page.no_effect) + "\n  source    " + std::string(page.source) +
          "\n            megatron/core/tensor_parallel/random.py (how checkpoints work)\n"
          "            megatron/core/transformer/transformer_config.py (which labels are accepted)\n";
  for (const compat::Rule* rule : compat::rules_about(row.label, revision))
    text += "  rule      " + key_of(*rule) + " (" + std::string(to_string(rule->effect)) + "): " + std::string(rule->reason) + "\n";
  return text;
}

const protocol::LabelRow* find_row(const std::string& name) {
  for (const protocol::LabelRow& row : protocol::label_rows())
    if (row.label == name) return &row;
  return nullptr;
}

struct ListedPage {
  std::string name;
  std::string title;
};

struct PageKind {
  std::string heading;
  std::vector<ListedPage> pages;
};

// What there are pages of. A rule of several rows is listed by its first.
std::vector<PageKind> page_kinds() {
  PageKind labels{"labels", {}};
  for (const protocol::LabelRow& row : protocol::label_rows()) labels.pages.push_back({std::string(row.label), std::string(row.discards)});
  PageKind rules{"rules", {}};
  std::set<std::string_view> seen;
  for (const compat::Rule& rule : compat::rules())
    if (seen.insert(rule.id).second) rules.pages.push_back({std::string(rule.id), std::string(rule.reason)});
  PageKind warnings{"warnings", {}};
  for (const base::WarningPage& page : base::warning_pages()) warnings.pages.push_back({std::string(page.name), std::string(page.title)});
  std::vector<PageKind> kinds = {labels, rules, warnings};
  for (const report::PageTable& table : report::page_tables()) {
    PageKind& kind = kinds.emplace_back(PageKind{std::string(table.heading), {}});
    for (const report::Page& page : table.pages) kind.pages.push_back({std::string(page.name), std::string(page.meaning)});
  }
  return kinds;
}

}  // namespace

std::vector<std::string> explained_names() {
  std::vector<std::string> names;
  for (const PageKind& kind : page_kinds())
    for (const ListedPage& page : kind.pages) names.push_back(page.name);
  return names;
}

namespace {

std::string unknown_text(const std::string& name) {
  if (name.empty()) return "wanted a name that has a page; `rematch explain --list` shows them";
  const std::string message = spec::not_known_message(name, "a name that has a page", explained_names());
  return message + (message.ends_with('?') ? "" : ";") + " `rematch explain --list` shows them";
}

// Pages of several kinds may share a name: a word and a warning, a stage and a phase.
std::string all_pages(const std::string& name, const std::string& revision) {
  std::vector<std::string> pages;
  if (const protocol::LabelRow* row = find_row(name)) pages.push_back(label_text(*row, revision));
  std::string rules;
  for (const compat::Rule* rule : compat::rules_named(name)) rules += rule_text(*rule);
  pages.push_back(std::move(rules));
  pages.push_back(report::pages_named(name));
  if (const base::WarningPage* page = base::find_warning(name)) pages.push_back(base::page_text(*page));
  std::string text;
  for (const std::string& page : pages) text += (text.empty() || page.empty() ? "" : "\n") + page;
  return text;
}

std::string list_text() {
  std::string text;
  for (const PageKind& kind : page_kinds()) {
    text += (text.empty() ? "" : "\n") + kind.heading + "\n";
    std::size_t width = 0;
    for (const ListedPage& page : kind.pages) width = std::max(width, page.name.size());
    for (const ListedPage& page : kind.pages) text += "  " + page.name + std::string(width + 2 - page.name.size(), ' ') + page.title + "\n";
  }
  return text;
}

class ExplainVerb final : public Verb {
 public:
  std::string name() const override { return "explain"; }
  std::string summary() const override { return "Show the page of a rule, a label, a warning, a symptom, or a word of a report"; }

  void declare(CLI::App& app) override {
    app.add_option(
        "name", name_,
        "A rule by id (C12), a row of it ('C12 both_names'), a label, a warning or symptom, or a word of a report: stage, phase, verdict");
    app.add_flag("--list", lists_, "List what there are pages of");
    revision_.declare(app);
    app.footer(
        "Examples:\n"
        "  rematch explain moe_act\n"
        "  rematch explain gdn --core-revision dev\n"
        "  rematch explain C9\n"
        "  rematch explain uncollected-trials\n"
        "  rematch explain optimizer-bound\n"
        "  rematch explain censored\n"
        "  rematch explain --list\n"
        "A label's page says what it drops, keeps and replays, where it has no effect, its file in Megatron-LM, and the rules about it.\n"
        "Exit: 0 shown, 2 no page of that name, or a core revision that is not known.");
  }

  Exit run(const GlobalOptions&, Streams streams) override {
    if (lists_) streams.out << list_text();
    if (lists_) return Exit::kOk;
    const auto revision = revision_.resolve(streams);
    if (const Exit* exit = std::get_if<Exit>(&revision)) return *exit;
    const std::string pages = all_pages(name_, std::get<std::string>(revision));
    if (pages.empty()) {
      streams.err << "rematch: " << unknown_text(name_) << "\n";
      return Exit::kUsage;
    }
    streams.out << pages;
    return Exit::kOk;
  }

 private:
  std::string name_;
  bool lists_ = false;
  CoreRevisionOption revision_;
};

const VerbRegistrar<ExplainVerb> registrar;

}  // namespace

}  // namespace rematch::cli
