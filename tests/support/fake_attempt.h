// One attempt of the fake trainer through a real launcher: a temporary attempt folder, its trial.json, a behaviour, and the end.
#pragma once

#include <stdlib.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>

#include "orchestrator/launch/launcher.h"
#include "schemas/protocol/record_file.h"
#include "schemas/protocol/trial_paths.h"
#include "tests/support/eventually.h"
#include "tests/support/make_trial.h"
#include "tests/support/temp_dir.h"
#include "tests/support/time_allowance.h"

namespace rematch::tests {

inline std::filesystem::path fake_trainer_path() { return std::filesystem::path(REMATCH_BIN_DIR) / "fake_trainer"; }

class FakeAttempt {
 public:
  explicit FakeAttempt(const std::string& behaviour, std::int64_t world_size = 2) {
    ::setenv("REMATCH_FAKE", behaviour.c_str(), 1);
    request_.trainer = fake_trainer_path();
    request_.attempt_folder = folder_.path();
    request_.trial = make_trial(world_size);
  }

  protocol::Trial& trial() { return request_.trial; }
  launch::LaunchRequest& request() { return request_; }
  protocol::AttemptPaths paths() const { return {request_.attempt_folder}; }

  // `during` runs once, `after` from the start on, with the attempt on its way.
  using During = std::function<void(std::unique_ptr<launch::RunningAttempt>&)>;
  std::optional<base::Result<protocol::LaunchRecord>> run(launch::Launcher& launcher, const During& during = nullptr,
                                                          std::chrono::milliseconds after = std::chrono::milliseconds(300)) {
    protocol::write_file_by_rename(paths().trial(), protocol::to_json(request_.trial).dump());
    boost::asio::io_context context;
    std::optional<base::Result<protocol::LaunchRecord>> result;
    auto attempt = launcher.start(context, request_, [&](base::Result<protocol::LaunchRecord> ended) {
      ++num_ends;
      result.emplace(std::move(ended));
      context.stop();
    });
    boost::asio::steady_timer timer(context, time_allowance(after));
    if (during) timer.async_wait([&](boost::system::error_code) { during(attempt); });
    context.run_for(time_allowance(std::chrono::seconds(60)));
    return result;
  }

  int num_ends = 0;

 private:
  TempDir folder_;
  launch::LaunchRequest request_;
};

// Throws std::runtime_error before the rank has said hello.
inline pid_t pid_of_rank(const FakeAttempt& attempt, std::int64_t rank) {
  const auto file = protocol::read_record_file(attempt.paths().rank_record(rank));
  if (file.records.empty()) throw std::runtime_error("rank " + std::to_string(rank) + " has not said hello");
  return static_cast<pid_t>(std::get<protocol::HelloRecord>(file.records.front()).pid);
}

inline pid_t parent_of(pid_t pid) {
  const auto text = protocol::read_whole_file("/proc/" + std::to_string(pid) + "/stat");
  return static_cast<pid_t>(std::stol(text->substr(text->rfind(')') + 4)));
}

// Pid of a daemon that the behaviour "daemon" of this rank started.
inline pid_t daemon_pid(const std::filesystem::path& attempt_folder, std::int64_t rank) {
  const auto text = protocol::read_whole_file(attempt_folder / ("daemon-" + std::to_string(rank) + ".pid"));
  return text && !text->empty() ? static_cast<pid_t>(std::stol(*text)) : 0;
}

}  // namespace rematch::tests
