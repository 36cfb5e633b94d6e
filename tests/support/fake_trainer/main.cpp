// A trainer without torch, for process tests: same command line, same files, same exit codes as rematch-train.
// REMATCH_FAKE says how it misbehaves (behaviour.h), REMATCH_FAKE_TABLE whose outcomes it has instead (published_table.h),
// REMATCH_FAKE_BUILD which build it says it is. `--describe` prints the describe example with this program's build id; of a GPU it has
// no need, so it takes trials of device cuda too.
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "schemas/protocol/describe.h"
#include "schemas/protocol/record_file.h"
#include "schemas/protocol/trial.h"
#include "tests/support/fake_trainer/behaviour.h"
#include "tests/support/fake_trainer/fake_rank.h"
#include "tests/support/fake_trainer/published_table.h"

namespace {

using namespace rematch;  // NOLINT(google-build-using-namespace): a program of its own

std::string variable(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
  return value == nullptr ? "" : value;
}

protocol::Describe describe() {
  const std::filesystem::path example = std::filesystem::path(REMATCH_SOURCE_DIR) / "schemas/examples/describe/valid.json";
  const auto text = protocol::read_whole_file(example);
  if (!text) throw std::runtime_error("no " + example.string());
  protocol::Describe described = protocol::parse_describe(nlohmann::json::parse(*text));
  const std::string build = variable("REMATCH_FAKE_BUILD");
  described.devices.emplace_back("cuda");
  described.build_id = build.empty() ? tests::kFakeBuildId : build;
  return described;
}

int run_trial(const std::filesystem::path& trial_path) {
  const protocol::Trial trial = protocol::read_trial(trial_path.string());
  const std::int64_t rank = std::stoll(variable("RANK"));
  std::cerr << "rank " << rank << " of trial " << trial.trial_id << "\n";
  const std::string table = variable("REMATCH_FAKE_TABLE");
  const tests::Behaviour behaviour =
      table.empty() ? tests::parse_behaviour(variable("REMATCH_FAKE"), trial, rank) : tests::replayed_behaviour(table, trial, rank);
  tests::FakeRank fake(trial_path.parent_path(), trial, rank, behaviour, describe());
  return fake.run();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::string verb = argc > 1 ? argv[1] : "";
    if (verb == "--describe") {
      std::cout << protocol::to_json(describe()).dump(2) << "\n";
      return 0;
    }
    if (verb == "--trial" && argc == 3) return run_trial(argv[2]);
    std::cerr << "usage: fake_trainer --describe | --trial ATTEMPT/trial.json\n";
    return static_cast<int>(protocol::TrainExit::kBadTrial);
  } catch (const std::exception& problem) {
    std::cerr << "fake_trainer: " << problem.what() << "\n";
    return static_cast<int>(protocol::TrainExit::kInternal);
  }
}
