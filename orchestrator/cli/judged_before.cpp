#include "orchestrator/cli/judged_before.h"

#include "orchestrator/cli/warn.h"
#include "orchestrator/store/query.h"
#include "probes/host/build_id.h"

namespace rematch::cli {

namespace {

// An arm with figures has a provenance since schema version 8.
constexpr const char* kStudies =
    "SELECT s.name || ' (' || s.study_id || ')', EXISTS (SELECT 1 FROM verdict v WHERE v.study_id = s.study_id AND v.scope = 'arm' AND "
    "v.peak_allocated_bytes IS NOT NULL AND v.provenance IS NULL), r.build_id FROM study s LEFT JOIN report r USING (study_id) "
    "WHERE ?1 = '' OR s.study_id = ?1 ORDER BY s.name, s.study_id";

constexpr const char* kAdvice = "; `rematch ingest` judges it anew";

}  // namespace

void tell_of_judged_before(const std::filesystem::path& database, const std::string& study_id, std::ostream& err) {
  const auto answer = store::ask(database, {kStudies, {study_id}}, INT64_MAX);
  if (!answer) return;
  const std::string own = probes::program_build_id().value_or("");
  for (const store::ValueRow& row : answer.value().rows) {
    const std::string study = std::get<std::string>(row[0]);
    const auto* build = std::get_if<std::string>(&row[2]);
    if (std::get<std::int64_t>(row[1]) != 0)
      warn(err, {base::WarningId::kJudgedBefore, study + " was judged before schema version 8: columns that are newer are null" + kAdvice});
    else if (build != nullptr && *build != own)
      warn(err, {base::WarningId::kJudgedBefore, study + " was judged by build " + *build + " of this program, this is " + own + kAdvice});
  }
}

}  // namespace rematch::cli
