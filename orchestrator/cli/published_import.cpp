#include "orchestrator/cli/published_import.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>
#include <system_error>
#include <utility>
#include <variant>

#include "orchestrator/cli/imported_tables.h"
#include "orchestrator/cli/warn.h"
#include "orchestrator/engine/workspace_lock.h"
#include "orchestrator/launch/trainer.h"
#include "orchestrator/report/audit_report.h"
#include "orchestrator/rules/audit_published.h"
#include "orchestrator/rules/model_labels.h"
#include "orchestrator/rules/published_setting.h"
#include "orchestrator/store/store.h"
#include "schemas/protocol/document_error.h"
#include "schemas/protocol/trial_paths.h"

namespace rematch::cli {

namespace {

using Tables = std::vector<protocol::Published>;

Exit complain(const std::string& message, Exit exit, Streams streams) {
  streams.err << "rematch: " << message << "\n";
  return exit;
}

std::variant<Tables, Exit> read_tables(const std::vector<std::string>& files, Streams streams) {
  Tables tables;
  Exit exit = Exit::kOk;
  for (const std::string& file : files) {
    try {
      protocol::Published table = protocol::read_published(file);
      const auto has_name = [&](const protocol::Published& other) { return other.name == table.name; };
      if (std::any_of(tables.begin(), tables.end(), has_name))
        exit = complain("--published: " + file + ": published.name: wanted each table once, found " + table.name + " again", Exit::kUsage,
                        streams);
      tables.push_back(std::move(table));
    } catch (const protocol::DocumentError& error) {
      exit = complain(std::string("--published: ") + error.what(), Exit::kUsage, streams);
    }
  }
  if (exit == Exit::kOk) return tables;
  streams.err << "rematch: --published: no table was imported\n";
  return exit;
}

// Of the newest study by name that does the table's work and came as far as to count it.
std::optional<rules::WorkByFormula> counted_work(const store::Store& store, const protocol::Published& table) {
  for (const store::StudySummary& study : store.studies()) {
    const std::optional<protocol::Trial> trial = store.first_trial(study.study_id);
    if (!trial || !rules::does_same_work(table, *trial)) continue;
    if (const auto flops = store.flops_per_step(study.study_id))
      return rules::WorkByFormula{*flops, "study " + study.name + " (" + study.study_id + ")"};
  }
  return std::nullopt;
}

// What it says of its presets; an audit can do without, and where no table names a preset it is not asked.
std::optional<protocol::Describe> described_trainer(const Tables& tables, const GlobalOptions& options) {
  const auto names_preset = [](const protocol::Published& table) { return table.setting.preset.has_value(); };
  if (std::none_of(tables.begin(), tables.end(), names_preset)) return std::nullopt;
  const auto trainer = launch::locate_trainer(options.trainer);
  if (!trainer) return std::nullopt;
  const auto described = launch::describe_trainer(trainer.value());
  return described ? std::optional(described.value()) : std::nullopt;
}

std::vector<rules::PublishedAudit> audits_of(const Tables& tables, const store::Store* store,
                                             const std::optional<protocol::Describe>& trainer) {
  std::vector<rules::PublishedAudit> audits;
  for (const protocol::Published& table : tables)
    audits.push_back(rules::audit_published(table, store == nullptr ? std::nullopt : counted_work(*store, table),
                                            trainer ? rules::model_labels(*trainer, table.setting) : std::nullopt));
  return audits;
}

std::string import_text(Import import) {
  switch (import) {
    case Import::kNew: return "imported";
    case Import::kReplaced: return "imported; it replaces another table of this name";
    case Import::kUnchanged: return "was imported before and is the same";
  }
  return "";
}

Exit import_tables(const Tables& tables, const std::filesystem::path& workspace, store::Store& store, Streams streams) {
  for (const protocol::Published& table : tables) {
    try {
      const Import import = write_table(workspace, table);
      store.put_published(table.name, protocol::to_json(table).dump());
      streams.err << table.name << ": " << import_text(import) << ", " << table.rows.size()
                  << (table.rows.size() == 1 ? " row\n" : " rows\n");
    } catch (const std::system_error& error) {
      return complain(table.name + " was not imported: " + error.what(), Exit::kEnvironment, streams);
    }
  }
  return Exit::kOk;
}

void tell_contradicted(const std::vector<rules::PublishedAudit>& audits, Streams streams) {
  for (const rules::PublishedAudit& audit : audits)
    if (const std::int64_t num = rules::num_contradicted(audit); num > 0)
      warn(streams.err,
           {base::WarningId::kAuditContradicted, audit.published.name + ": " + std::to_string(num) +
                                                     (num == 1 ? " figure is" : " figures are") + " contradicted; see the findings"});
}

// Looks at the workspace's database where there is one that can be read.
std::vector<rules::PublishedAudit> audits_without_import(const Tables& tables, const std::filesystem::path& workspace,
                                                         const std::optional<protocol::Describe>& trainer, Streams streams) {
  const std::filesystem::path database = protocol::WorkspacePaths{workspace}.database();
  if (!std::filesystem::exists(database)) return audits_of(tables, nullptr, trainer);
  const base::Result<store::Store> store = store::Store::open_to_read(database);
  if (!store)
    warn(streams.err,
         {base::WarningId::kNoCountedWork, "the tables' throughput is checked against no study's work: " + store.error().message});
  return audits_of(tables, store ? &store.value() : nullptr, trainer);
}

}  // namespace

void PublishedImport::declare(CLI::App& app) {
  CLI::Option* published = app.add_option("--published", files_, "Import and audit these tables (rematch/published/1) instead");
  app.add_flag("--dry-run", dry_run_, "With --published: audit only, write nothing to the workspace")->needs(published);
  declare_report_output(app, output_);
  for (const char* name : {"--format", "--json", "--output", "--units"}) app.get_option(name)->needs(published);
}

Exit PublishedImport::run(const GlobalOptions& options, Streams streams) {
  const std::variant<Tables, Exit> read = read_tables(files_, streams);
  if (const Exit* exit = std::get_if<Exit>(&read)) return *exit;
  const Tables& tables = std::get<Tables>(read);
  const std::optional<protocol::Describe> trainer = described_trainer(tables, options);
  std::vector<rules::PublishedAudit> audits;
  if (dry_run_) {
    audits = audits_without_import(tables, options.workspace, trainer, streams);
  } else {
    const auto lock = engine::WorkspaceLock::take(options.workspace, "ingest");
    if (!lock) return complain(lock.error().message, Exit::kEnvironment, streams);
    base::Result<store::Store> store = store::Store::open(protocol::WorkspacePaths{options.workspace}.database());
    if (!store) return complain(store.error().message, Exit::kEnvironment, streams);
    store::Store database = std::move(store).value();
    if (const Exit exit = import_tables(tables, options.workspace, database, streams); exit != Exit::kOk) return exit;
    audits = audits_of(tables, &database, trainer);
  }
  tell_contradicted(audits, streams);
  return write_report(report::make_audit_report(audits), output_, streams);
}

}  // namespace rematch::cli
