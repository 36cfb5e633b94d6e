#include "orchestrator/cli/subject_input.h"

#include <algorithm>
#include <ostream>
#include <vector>

#include "orchestrator/cli/study_input.h"
#include "orchestrator/store/store.h"
#include "schemas/protocol/trial_paths.h"

namespace rematch::cli {

namespace {

struct Place {
  std::string study_id;
  std::string arm;
  std::string trial_id;

  bool operator==(const Place&) const = default;
};

// The arm of this name, else the trials whose id begins so.
std::vector<Place> places_in(const base::StudyPlan& plan, const std::string& key) {
  for (const base::ArmRow& arm : plan.arms)
    if (arm.arm == key) return {{plan.study_id, key, ""}};
  std::vector<Place> places;
  for (const protocol::Trial& trial : plan.trials)
    if (!key.empty() && trial.trial_id.starts_with(key)) places.push_back({plan.study_id, trial.arm, trial.trial_id});
  return places;
}

std::vector<base::StudyPlan> plans_of(const store::Store& store, const std::string& only) {
  std::vector<base::StudyPlan> plans;
  for (const store::StudySummary& summary : store.studies())
    if (only.empty() || summary.study_id == only) plans.push_back(store.load_plan(summary.study_id));
  return plans;
}

std::string listed(const std::vector<base::StudyPlan>& plans) {
  std::string text;
  for (const base::StudyPlan& plan : plans) {
    text += (text.empty() ? "" : "; ") + plan.name + " (" + plan.study_id + "):";
    for (const base::ArmRow& arm : plan.arms) text += " " + arm.arm;
  }
  return text;
}

std::string which(const std::vector<Place>& places) {
  std::string text;
  for (const Place& place : places)
    text += (text.empty() ? "" : ", ") + (place.trial_id.empty() ? place.arm : place.trial_id) + " of study " + place.study_id;
  return text;
}

}  // namespace

std::variant<Subject, Exit> load_subject(const std::string& key, const std::string& study, const GlobalOptions& options, Streams streams) {
  const std::filesystem::path database = protocol::WorkspacePaths{options.workspace}.database();
  std::string only;
  if (!study.empty() || !std::filesystem::exists(database)) {
    auto named = load_study(study, options, streams);  // says what is wrong with the database or with the name
    if (const Exit* exit = std::get_if<Exit>(&named)) return *exit;
    only = std::get<base::StudyRows>(named).plan.study_id;
  }
  const base::Result<store::Store> opened = store::Store::open(database);
  if (!opened) {
    streams.err << "rematch: " << opened.error().message << "\n";
    return Exit::kEnvironment;
  }
  const std::vector<base::StudyPlan> plans = plans_of(opened.value(), only);
  std::vector<Place> found;
  for (const base::StudyPlan& plan : plans)
    for (const Place& place : places_in(plan, key)) found.push_back(place);
  if (found.size() == 1)
    return Subject{opened.value().load_study(found.front().study_id).value(), found.front().arm, found.front().trial_id};
  if (found.empty())
    streams.err << "rematch: no arm or trial '" << key << "'; there are the arms of " << listed(plans) << "\n";
  else
    streams.err << "rematch: '" << key << "' is several: " << which(found) << "; name the study with --study, or more of the id\n";
  return Exit::kUsage;
}

}  // namespace rematch::cli
