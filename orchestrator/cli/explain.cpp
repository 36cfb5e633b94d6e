// `rematch explain RULE|LABEL`: the page of a compatibility rule or of a recompute label.
#include <CLI/CLI.hpp>
#include <ostream>

#include "orchestrator/cli/core_revision.h"
#include "orchestrator/compat/label_pages.h"
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

std::vector<std::string> known_names() {
  std::vector<std::string> names;
  for (const protocol::LabelRow& row : protocol::label_rows()) names.emplace_back(row.label);
  for (const compat::Rule& rule : compat::rules())
    if (names.back() != rule.id) names.emplace_back(rule.id);
  return names;
}

class ExplainVerb final : public Verb {
 public:
  std::string name() const override { return "explain"; }
  std::string summary() const override { return "Show the page of a compatibility rule or of a recompute label"; }

  void declare(CLI::App& app) override {
    app.add_option("rule_or_label", name_, "A rule by id (C12), a row of it ('C12 both_names'), or a label")->required();
    revision_.declare(app);
    app.footer(
        "Examples:\n"
        "  rematch explain moe_act\n"
        "  rematch explain gdn --core-revision dev\n"
        "  rematch explain C9\n"
        "A label's page says what it drops, keeps and replays, where it has no effect, its file in Megatron-LM, and the rules about it.\n"
        "Exit: 0 shown, 2 no such rule or label, or a core revision that is not known.");
  }

  Exit run(const GlobalOptions&, Streams streams) override {
    const auto revision = revision_.resolve(streams);
    if (const Exit* exit = std::get_if<Exit>(&revision)) return *exit;
    if (const protocol::LabelRow* row = find_row(name_)) {
      streams.out << label_text(*row, std::get<std::string>(revision));
      return Exit::kOk;
    }
    const auto rows = compat::rules_named(name_);
    for (const compat::Rule* rule : rows) streams.out << rule_text(*rule);
    if (!rows.empty()) return Exit::kOk;
    streams.err << "rematch: " << spec::unknown_name_message(name_, "a rule or a label", known_names()) << "\n";
    return Exit::kUsage;
  }

 private:
  std::string name_;
  CoreRevisionOption revision_;
};

const VerbRegistrar<ExplainVerb> registrar;

}  // namespace

}  // namespace rematch::cli
