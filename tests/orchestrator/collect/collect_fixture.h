// An attempt of two ranks on disk, read back; a test changes what it writes. Fixture of this folder's tests.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "orchestrator/collect/collect.h"
#include "tests/orchestrator/attempt_files.h"
#include "tests/orchestrator/study_builder.h"
#include "tests/support/temp_dir.h"

namespace rematch::collect {

class Collect : public ::testing::Test {
 protected:
  // A run of two ranks in which nothing went wrong; a test changes it before it is written.
  base::AttemptRows clean() { return builder_.run("[]"); }

  base::AttemptRows collected(const base::AttemptRows& attempt) {
    folder_ = tests::write_attempt(temp_.path() / attempt.trial.trial_id, attempt);
    return collect_attempt(folder_, "00000000000005ed");
  }

  void append_text(std::int64_t rank, const std::string& text) {
    std::ofstream(protocol::AttemptPaths{folder_}.rank_record(rank), std::ios::app) << text;
  }
  base::AttemptRows collect_again() { return collect_attempt(folder_, "00000000000005ed"); }

  static void end_by(base::RankRows& rank, std::optional<std::int64_t> exit_code, std::optional<std::int64_t> signal, std::int64_t at_ns) {
    rank.exit.exit_code = exit_code;
    rank.exit.signal = signal;
    rank.exit.end_mono_ns = at_ns;
    rank.bye.reset();
  }
  // Stops within `stage` after `num_steps` steps, as if its process had vanished.
  static void stop_in(base::RankRows& rank, protocol::Stage stage, std::size_t num_steps) {
    rank.stages = tests::ledger_up_to(stage);
    rank.steps.resize(num_steps);
    rank.bye.reset();
  }
  static protocol::ErrorRecord error_of(protocol::FailureKind kind, std::int64_t at_ns) {
    protocol::ErrorRecord error;
    error.kind = kind;
    error.stage = protocol::Stage::kSteady;
    error.step = 5;
    error.phase = protocol::Phase::kBackward;
    error.mono_ns = at_ns;
    error.message = "what happened";
    return error;
  }

  tests::TempDir temp_;
  std::filesystem::path folder_;
  tests::StudyBuilder builder_{"collect"};
};

}  // namespace rematch::collect
