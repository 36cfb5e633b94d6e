// bench_end_notice TRIAL_JSON TRAINER FOLDER COUNT: launches the trial COUNT times with the local launcher and prints, for each, the
// milliseconds from the last rank's exit, as the launch record has it, until the launcher's caller hears of the end.
#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <exception>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>

#include "orchestrator/launch/launcher.h"
#include "orchestrator/launch/supervisor.h"
#include "probes/host/clock.h"
#include "schemas/protocol/trial.h"
#include "schemas/protocol/trial_paths.h"

namespace {

using namespace rematch;  // NOLINT(google-build-using-namespace): a program of its own

double notice_ms(launch::Launcher& launcher, const launch::LaunchRequest& request) {
  boost::asio::io_context context;
  std::optional<base::Result<protocol::LaunchRecord>> ended;
  std::int64_t heard_mono_ns = 0;
  const auto running = launcher.start(context, request, [&](base::Result<protocol::LaunchRecord> record) {
    heard_mono_ns = probes::mono_ns();
    ended.emplace(std::move(record));
  });
  while (!ended) context.run_one();
  std::int64_t last_mono_ns = 0;
  for (const protocol::RankExit& rank : ended->value().ranks) last_mono_ns = std::max(last_mono_ns, rank.end_mono_ns);
  return static_cast<double>(heard_mono_ns - last_mono_ns) * 1e-6;
}

void measure(const std::filesystem::path& trial_json, const std::filesystem::path& trainer, const std::filesystem::path& folder,
             int count) {
  const protocol::Trial trial = protocol::read_trial(trial_json.string());
  const auto launcher = launch::make_launcher("local");
  for (int attempt = 1; attempt <= count; ++attempt) {
    const std::filesystem::path attempt_folder = protocol::attempt_paths(folder, attempt).root;
    std::filesystem::create_directories(attempt_folder);
    std::filesystem::copy_file(trial_json, protocol::AttemptPaths{attempt_folder}.trial());
    std::cout << notice_ms(*launcher.value(), {trainer, attempt_folder, attempt, trial}) << "\n";
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (const auto arguments = launch::parse_supervise_command(argc, argv)) return launch::supervise(*arguments);
    if (argc != 5) throw std::runtime_error("usage: bench_end_notice TRIAL_JSON TRAINER FOLDER COUNT");
    measure(argv[1], argv[2], argv[3], std::stoi(argv[4]));
    return 0;
  } catch (const std::exception& problem) {
    std::cerr << "bench_end_notice: " << problem.what() << "\n";
    return 1;
  }
}
