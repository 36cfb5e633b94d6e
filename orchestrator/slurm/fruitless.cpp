#include "orchestrator/slurm/fruitless.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <vector>

#include "orchestrator/engine/claim_files.h"
#include "schemas/protocol/trial_paths.h"

namespace rematch::slurm {

namespace {

using protocol::RunnerEnd;
using protocol::RunnerRecord;

bool died(const RunnerRecord& record) { return !record.end; }
bool counts(const RunnerRecord& record) { return died(record) || record.end == RunnerEnd::kRequeued; }

// The latest first.
std::vector<RunnerRecord> earlier_ones(const std::filesystem::path& study_folder, const RunnerRecord& own) {
  const protocol::StudyPaths paths{study_folder};
  std::vector<RunnerRecord> records;
  for (const engine::ClaimName& name : engine::claims_in(paths.runners())) {
    if (name.scope != own.scope || name.epoch >= own.epoch) continue;
    auto record = engine::try_read_claim(paths.runner(name.scope, name.epoch));
    if (record && record->submission == own.submission && counts(*record)) records.push_back(*std::move(record));
  }
  std::sort(records.begin(), records.end(), [](const auto& a, const auto& b) { return a.epoch > b.epoch; });
  return records;
}

}  // namespace

FruitlessRunners fruitless_runners(const std::filesystem::path& study_folder, const RunnerRecord& own, DoneTrials& trials,
                                   const protocol::SubmissionTask& part) {
  FruitlessRunners fruitless;
  for (const RunnerRecord& record : earlier_ones(study_folder, own)) {
    if (trials.has_block_since(part, record.start_unix_ns)) break;
    ++(died(record) ? fruitless.num_died : fruitless.num_requeued);
  }
  return fruitless;
}

}  // namespace rematch::slurm
