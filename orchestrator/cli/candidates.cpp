#include "orchestrator/cli/candidates.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <utility>

#include "orchestrator/base/verdicts.h"
#include "orchestrator/cli/database_option.h"
#include "orchestrator/cli/explain.h"
#include "orchestrator/cli/imported_tables.h"
#include "orchestrator/cli/study_folders.h"
#include "orchestrator/launch/trainer.h"
#include "orchestrator/plan/starter.h"
#include "orchestrator/spec/keys.h"
#include "orchestrator/store/query.h"
#include "schemas/protocol/core_revisions.h"
#include "schemas/protocol/outcome.h"
#include "schemas/protocol/trial_paths.h"

namespace rematch::cli {

namespace {

namespace fs = std::filesystem;

struct Asked {
  const ProgramPage& program;
  const TypedWords& typed;
  const GlobalOptions& options;
};

constexpr std::int64_t kMostRows = 1000;

void add_words(const std::vector<std::string>& words, Candidates& found) {
  for (const std::string& word : words) found.list.push_back({word, ""});
}

// The database that the value is of, and the study that was typed for it.
struct Place {
  fs::path database;
  std::string study;
  bool is_workspace = true;  // and not one of --db
};

Place place_of(const Asked& asked) {
  const TypedWords& typed = asked.typed;
  const std::string name = typed.wanted == nullptr ? "" : typed.wanted->names.back();
  const bool is_against = name == "against" || name == "--against-study";
  const bool has_own = is_against && !typed.against_database.empty();
  const std::string& named = has_own ? typed.against_database : typed.database;
  const bool keeps_study = !is_against || (typed.against_study.empty() && !has_own);
  const std::string& study = keeps_study ? typed.study : typed.against_study;
  if (named.empty()) return {protocol::WorkspacePaths{asked.options.workspace}.database(), study, true};
  const base::Result<fs::path> database = find_database(named);
  return {database ? database.value() : fs::path(), study, false};
}

// Rows of two texts: what can stand there, and what it is.
void add_rows(const Asked& asked, const std::string& sql, store::ValueRow parameters, Candidates& found) {
  const fs::path database = place_of(asked).database;
  if (!fs::exists(database)) return;
  const auto answer = store::ask(database, {sql, std::move(parameters)}, kMostRows);
  if (!answer) return;
  for (const store::ValueRow& row : answer.value().rows) {
    const auto* text = std::get_if<std::string>(&row.at(0));
    const auto* description = std::get_if<std::string>(&row.at(1));
    if (text != nullptr) found.list.push_back({*text, description == nullptr ? "" : *description});
  }
}

void add_studies(const Asked& asked, Candidates& found) {
  if (!place_of(asked).is_workspace)
    return add_rows(asked,
                    "SELECT name, 'study ' || study_id FROM study UNION ALL SELECT study_id, 'study ' || name FROM study WHERE ?1 <> ''",
                    {asked.typed.word}, found);
  for (const fs::path& folder : study_folders(asked.options.workspace)) {
    const auto [name, id] = split_folder_name(folder);
    found.list.push_back({name, "study " + id});
    if (!asked.typed.word.empty()) found.list.push_back({id, "study " + name});
  }
}

void add_arms(const Asked& asked, Candidates& found) {
  add_rows(asked,
           "SELECT a.arm, min('arm of ' || s.name) FROM arm a JOIN study s USING (study_id) WHERE ?1 = '' OR s.name = ?1 OR "
           "substr(s.study_id, 1, length(?1)) = ?1 GROUP BY a.arm ORDER BY min(a.position)",
           {place_of(asked).study}, found);
}

// Trial ids are many, and are offered once one is begun.
void add_trials(const Asked& asked, Candidates& found) {
  if (asked.typed.word.empty()) return;
  add_rows(asked, "SELECT trial_id, 'trial of arm ' || arm FROM trial WHERE substr(trial_id, 1, length(?1)) = ?1 ORDER BY trial_id",
           {asked.typed.word}, found);
}

void add_subjects(const Asked& asked, Candidates& found) {
  add_arms(asked, found);
  add_trials(asked, found);
}

void add_subjects_and_studies(const Asked& asked, Candidates& found) {
  add_studies(asked, found);
  add_subjects(asked, found);
}

void add_outcomes(const Asked&, Candidates& found) {
  for (const base::Outcome outcome : base::kAllOutcomes) found.list.push_back({std::string(base::to_string(outcome)), ""});
}

void add_phases(const Asked&, Candidates& found) {
  for (const protocol::Phase phase : protocol::kAllPhases) found.list.push_back({std::string(protocol::to_string(phase)), ""});
}

std::optional<protocol::Describe> described_trainer(const Asked& asked) {
  const auto trainer = launch::locate_trainer(asked.options.trainer);
  if (!trainer) return std::nullopt;
  auto described = launch::describe_trainer(trainer.value());
  if (!described) return std::nullopt;
  return std::move(described).value();
}

void add_presets(const Asked& asked, Candidates& found) {
  const auto trainer = described_trainer(asked);
  if (!trainer) return;
  for (const plan::StarterPreset& preset : plan::starter_presets(*trainer)) found.list.push_back({preset.name, preset.size});
}

void add_models(const Asked& asked, Candidates& found) {
  const auto trainer = described_trainer(asked);
  if (!trainer) return;
  for (const auto& preset : trainer->presets) found.list.push_back({preset.name, "preset of family " + preset.family});
  for (const auto& family : trainer->families) found.list.push_back({family.name, "family"});
}

void add_tables(const Asked& asked, Candidates& found) {
  found.files = Files::kTables;
  for (const std::string& name : imported_names(asked.options.workspace)) found.list.push_back({name, "published table"});
}

// KEY=, and behind it the words that the key may have.
void add_settings(const Asked& asked, Candidates& found) {
  const auto equals = asked.typed.word.find('=');
  for (const spec::KeyRow& row : spec::key_rows()) {
    if (equals == std::string::npos) found.list.push_back({row.key + "=", ""});
    if (equals == std::string::npos || row.key != asked.typed.word.substr(0, equals)) continue;
    for (const std::string& word : row.allowed) found.list.push_back({row.key + "=" + word, ""});
  }
}

void add_allowed(const char* key, Candidates& found) {
  for (const spec::KeyRow& row : spec::key_rows())
    if (row.key == key) add_words(row.allowed, found);
}

void add_verbs(const Asked& asked, Candidates& found) {
  for (const VerbPage& verb : asked.program.verbs)
    if (!verb.is_hidden) found.list.push_back({verb.name, verb.summary});
}

template <Files files>
void add_files(const Asked&, Candidates& found) {
  found.files = files;
}

struct ValueRow {
  const char* name;  // of the option, or of the positional
  void (*add)(const Asked&, Candidates&);
};

// Where the values of an option without fixed choices come from; no row: from nowhere.
constexpr ValueRow kValues[] = {
    {"--study", add_studies},
    {"--against-study", add_studies},
    {"study", add_studies},
    {"--arm", add_arms},
    {"subject", add_subjects_and_studies},
    {"against", add_subjects_and_studies},
    {"trial_or_arm", add_subjects},
    {"--outcome", add_outcomes},
    {"--phase", add_phases},
    {"--model", add_models},
    {"preset", add_presets},
    {"--published", add_tables},
    {"--core-revision", [](const Asked&, Candidates& found) { add_words(protocol::revision_names(), found); }},
    {"--shape", [](const Asked&, Candidates& found) { add_allowed("launch.shape", found); }},
    {"--set", add_settings},
    {"name", [](const Asked&, Candidates& found) { add_words(explained_names(), found); }},
    {"verb", add_verbs},
    {"sweep", add_files<Files::kSweeps>},
    {"--workspace", add_files<Files::kFolders>},
    {"--trainer", add_files<Files::kAny>},
    {"--output", add_files<Files::kAny>},
    {"--db", add_files<Files::kAny>},
    {"--against-db", add_files<Files::kAny>},
    {"file", add_files<Files::kAny>},
};

void add_values(const Asked& asked, const OptionPage& option, Candidates& found) {
  add_words(option.choices, found);
  for (const ValueRow& row : kValues)
    for (const std::string& name : option.names)
      if (name == row.name) row.add(asked, found);
}

void add_options(const Asked& asked, Candidates& found) {
  const auto add = [&](const std::vector<OptionPage>& options) {
    for (const OptionPage& option : options)
      for (const std::string& name : option.names)
        if (!option.is_positional) found.list.push_back({name, option.description});
  };
  if (asked.typed.verb != nullptr) add(asked.typed.verb->options);
  add(asked.program.options);
}

}  // namespace

Candidates candidates(const ProgramPage& program, const TypedWords& typed, const GlobalOptions& options) {
  const Asked asked{program, typed, options};
  Candidates found;
  if (typed.wanted != nullptr)
    add_values(asked, *typed.wanted, found);
  else if (typed.may_be_option && typed.word.starts_with("-"))
    add_options(asked, found);
  else if (typed.verb == nullptr)
    add_verbs(asked, found);
  std::erase_if(found.list, [&](const Candidate& each) { return !each.text.starts_with(typed.word); });
  std::stable_sort(found.list.begin(), found.list.end(), [](const auto& a, const auto& b) { return a.text < b.text; });
  const auto same = [](const auto& a, const auto& b) { return a.text == b.text; };
  found.list.erase(std::unique(found.list.begin(), found.list.end(), same), found.list.end());
  return found;
}

}  // namespace rematch::cli
