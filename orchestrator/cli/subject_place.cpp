#include "orchestrator/cli/subject_place.h"

#include <ostream>
#include <vector>

namespace rematch::cli {

namespace {

std::vector<report::TrialName> beginning_so(const store::Store& store, const std::string& key, const std::string& study_id) {
  std::vector<report::TrialName> names;
  if (key.empty()) return names;
  for (const store::TrialPlace& place : store.find_trials(key, study_id)) names.push_back({place.arm, place.trial_id});
  return names;
}

base::Result<SubjectPlace> place_in(const store::Store& store, const std::string& key, const std::string& study_id) {
  base::StudyPlan plan = store.load_plan_head(study_id);
  auto subject = report::find_detail_subject(plan, key, beginning_so(store, key, study_id));
  if (!subject) return subject.error();
  return SubjectPlace{std::move(plan), subject.value()};
}

Exit refuse(const std::string& message, Streams streams) {
  streams.err << "rematch: " << message << "\n";
  return Exit::kUsage;
}

std::string all_of(const std::vector<SubjectPlace>& places) {
  std::string text;
  for (const SubjectPlace& place : places)
    text += (text.empty() ? "" : ", ") + place.subject.name() + " of " + place.plan.name + " (" + place.plan.study_id + ")";
  return text;
}

// What to type where a study was named instead of a part of it.
std::string instead_of_study(const store::StudySummary& study) {
  return "'" + study.name + "' (" + study.study_id + ") is a study, an arm or a trial is wanted; `rematch report " + study.study_id +
         "` prints it, `rematch diagnose " + study.study_id + "` its symptoms, `rematch status` how far it got";
}

}  // namespace

std::variant<SubjectPlace, Exit> find_subject_place(const store::Store& store, const std::string& key, const std::string& study,
                                                    Streams streams) {
  const std::vector<store::StudySummary> studies = store.studies();
  std::vector<std::string> where;
  if (!study.empty() || studies.size() <= 1) {
    const auto named = store.find_study(study);
    if (!named) return refuse(named.error().message, streams);
    where.push_back(named.value().study_id);
  } else {
    for (const store::StudySummary& each : studies) where.push_back(each.study_id);
  }
  std::vector<SubjectPlace> found;
  std::string why_not;
  for (const std::string& study_id : where) {
    auto place = place_in(store, key, study_id);
    if (place)
      found.push_back(std::move(place).value());
    else
      why_not += (why_not.empty() ? "" : "; ") + place.error().message;
  }
  if (found.size() == 1) return std::move(found.front());
  if (found.size() > 1) return refuse("'" + key + "' is several: " + all_of(found) + "; name the study with --study", streams);
  if (const auto as_study = store.find_study(key); !key.empty() && as_study) return refuse(instead_of_study(as_study.value()), streams);
  return refuse(why_not, streams);
}

}  // namespace rematch::cli
