// `rematch labels`: the recompute labels of a core revision, and where they have sites in a model of the trainer's.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <ostream>

#include "orchestrator/cli/core_revision.h"
#include "orchestrator/cli/text_table.h"
#include "orchestrator/launch/trainer.h"
#include "orchestrator/rules/model_labels.h"
#include "orchestrator/spec/nearest.h"
#include "schemas/protocol/describe.h"
#include "schemas/protocol/recompute_labels.h"

namespace rematch::cli {

namespace {

using protocol::FamilyDescription;
using protocol::PresetDescription;

struct Model {
  FamilyDescription family;
  std::optional<protocol::FieldMap> fields;  // of a preset; a family alone has no layers to count
};

template <typename Named>
const Named* find_named(const std::vector<Named>& rows, const std::string& name) {
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const Named& candidate) { return candidate.name == name; });
  return row == rows.end() ? nullptr : &*row;
}

Model model_of(const protocol::Describe& trainer, const PresetDescription& preset) {
  const FamilyDescription& family = *find_named(trainer.families, preset.family);
  return {family, rules::preset_fields(family, preset)};
}

std::optional<Model> find_model(const protocol::Describe& trainer, const std::string& name, Streams streams) {
  if (const PresetDescription* preset = find_named(trainer.presets, name)) return model_of(trainer, *preset);
  if (const FamilyDescription* family = find_named(trainer.families, name)) return Model{*family, std::nullopt};
  std::vector<std::string> names;
  for (const auto& preset : trainer.presets) names.push_back(preset.name);
  for (const auto& family : trainer.families) names.push_back(family.name);
  streams.err << "rematch: " << spec::unknown_name_message(name, "a preset or a family", names) << "\n";
  return std::nullopt;
}

std::string per_layer_text(const protocol::LabelSites& sites) {
  std::string text;
  for (const auto& [kind, count] : sites.per_layer)
    if (count > 0) text += (text.empty() ? "" : ", ") + std::to_string(count) + " in a layer of kind " + kind;
  return text;
}

std::string sites_text(const Model& model, const std::string& label) {
  const protocol::LabelSites* sites = protocol::find_sites(model.family, label);
  if (sites == nullptr) return "none: family " + model.family.name + " has no such boundary";
  const std::int64_t count = model.fields ? protocol::count_sites(model.family, *model.fields, label) : 0;
  if (count > 0) return std::to_string(count);
  std::string per_layer = per_layer_text(*sites);
  if (!model.fields && !per_layer.empty()) return per_layer;
  return "none: " + (sites->no_site_reason.empty() ? "family " + model.family.name + " has no such boundary" : sites->no_site_reason);
}

class LabelsVerb final : public Verb {
 public:
  std::string name() const override { return "labels"; }
  std::string summary() const override { return "List the recompute labels of a core revision, and where a model has sites for them"; }

  void declare(CLI::App& app) override {
    app.add_option("--model", model_, "A preset or a family of the trainer, for the column of sites");
    revision_.declare(app);
    app.footer(
        "Examples:\n"
        "  rematch labels\n"
        "  rematch labels --core-revision dev\n"
        "  rematch labels --model moonlight_16b\n"
        "Sites are the places in the whole model where the label takes effect; `explain LABEL` says more.\n"
        "Exit: 0 shown, 2 no such model or core revision, 8 no trainer that can be asked (with --model).");
  }

  Exit run(const GlobalOptions& options, Streams streams) override {
    const auto revision = revision_.resolve(streams);
    if (const Exit* exit = std::get_if<Exit>(&revision)) return *exit;
    std::optional<Model> model;
    if (!model_.empty()) {
      const auto trainer = describe(options);
      if (!trainer) {
        streams.err << "rematch: " << trainer.error().message << "\n";
        return Exit::kEnvironment;
      }
      model = find_model(trainer.value(), model_, streams);
      if (!model) return Exit::kUsage;
    }
    streams.out << table(std::get<std::string>(revision), model);
    return Exit::kOk;
  }

 private:
  static base::Result<protocol::Describe> describe(const GlobalOptions& options) {
    const auto trainer = launch::locate_trainer(options.trainer);
    if (!trainer) return trainer.error();
    return launch::describe_trainer(trainer.value());
  }

  static std::string table(const std::string& revision, const std::optional<Model>& model) {
    std::vector<TableRow> rows = {model ? TableRow{"label", "kind", "sites", "drops"} : TableRow{"label", "kind", "drops"}};
    for (const protocol::LabelRow& label : protocol::label_rows()) {
      if (!protocol::contains(label.core_revisions, revision)) continue;
      TableRow row = {std::string(label.label), std::string(to_string(label.mechanism)), std::string(label.discards)};
      if (model) row.insert(row.end() - 1, sites_text(*model, std::string(label.label)));
      rows.push_back(std::move(row));
    }
    return "labels of " + revision + "\n" + text_table(rows);
  }

  std::string model_;
  CoreRevisionOption revision_;
};

const VerbRegistrar<LabelsVerb> registrar;

}  // namespace

}  // namespace rematch::cli
