// bench_workspace WORKSPACE SWEEP: the trial folders of a sweep as if it had been carried out, written by the fake trainer's ranks in this
// process: as many trials as wanted in seconds. The database is left to `rematch ingest`.
#include <exception>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "orchestrator/engine/study_folder.h"
#include "orchestrator/plan/plan.h"
#include "orchestrator/spec/sweep.h"
#include "probes/host/clock.h"
#include "schemas/protocol/describe.h"
#include "schemas/protocol/launch_record.h"
#include "schemas/protocol/record_file.h"
#include "schemas/protocol/trial_paths.h"
#include "tests/support/fake_trainer/fake_rank.h"

namespace {

using namespace rematch;  // NOLINT(google-build-using-namespace): a program of its own

protocol::Describe described_trainer() {
  const auto text = protocol::read_whole_file(REMATCH_SOURCE_DIR "/schemas/examples/describe/valid.json");
  protocol::Describe described = protocol::parse_describe(nlohmann::json::parse(text.value()));
  described.build_id = tests::kFakeBuildId;
  return described;
}

base::StudyPlan plan_of(const std::string& path, const protocol::Describe& trainer) {
  const spec::ParsedSweep parsed = spec::parse_sweep(protocol::read_whole_file(path).value(), path, trainer, {});
  for (const spec::Diagnostic& problem : parsed.problems) std::cerr << to_string(problem) << "\n";
  if (!parsed.problems.empty()) throw std::runtime_error(path + " is refused");
  return plan::make_plan(parsed.spec, trainer);
}

void write_attempt(const engine::AttemptOnDisk& attempt, const protocol::Trial& trial, const protocol::Describe& trainer) {
  protocol::LaunchRecord launch;
  launch.trial_id = trial.trial_id;
  launch.host = "bench";
  launch.supervisor_pid = 1;
  launch.command = {"fake_trainer"};
  launch.start_unix_ns = probes::unix_ns();
  for (const std::int64_t rank : protocol::started_ranks(trial)) {
    protocol::RankExit exit{.rank = rank, .pid = rank + 2, .exit_code = 0, .start_mono_ns = probes::mono_ns()};
    tests::FakeRank(attempt.folder, trial, rank, {}, trainer).run();
    exit.end_mono_ns = probes::mono_ns();
    launch.ranks.push_back(exit);
  }
  launch.end_unix_ns = probes::unix_ns();
  protocol::write_file_unsynced(protocol::AttemptPaths{attempt.folder}.launch(), protocol::to_json(launch).dump(2) + "\n");
}

void write_workspace(const std::filesystem::path& workspace, const std::string& sweep) {
  const protocol::Describe trainer = described_trainer();
  const base::StudyPlan plan = plan_of(sweep, trainer);
  const engine::StudyFolder folder(std::filesystem::absolute(protocol::WorkspacePaths{workspace}.study(plan.name, plan.study_id)));
  folder.write_plan(plan);
  for (const protocol::Trial& trial : plan.trials) {
    const engine::AttemptOnDisk attempt = folder.begin_attempt(trial);
    write_attempt(attempt, trial, trainer);
    folder.mark_done(attempt, trial.trial_id);
  }
  std::cout << plan.trials.size() << "\n";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: bench_workspace WORKSPACE SWEEP\n";
    return 2;
  }
  try {
    write_workspace(argv[1], argv[2]);
    return 0;
  } catch (const std::exception& problem) {
    std::cerr << "bench_workspace: " << problem.what() << "\n";
    return 1;
  }
}
