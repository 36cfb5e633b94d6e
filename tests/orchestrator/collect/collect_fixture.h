// A run of two ranks on disk, changed by a test before it is collected.
#pragma once

#include <gtest/gtest.h>

#include <fstream>

#include "orchestrator/collect/collect.h"
#include "tests/orchestrator/attempt_files.h"
#include "tests/orchestrator/study_builder.h"
#include "tests/support/temp_dir.h"

namespace rematch::collect {

using base::AttemptRows;
using base::RankRows;
using protocol::FailureKind;
using protocol::LaunchEnd;
using protocol::Phase;
using protocol::Stage;

class Collect : public ::testing::Test {
 protected:
  // A run of two ranks in which nothing went wrong; a test changes it before it is written.
  AttemptRows clean() { return builder_.run("[]"); }

  AttemptRows collected(const AttemptRows& attempt) {
    folder_ = tests::write_attempt(temp_.path() / attempt.trial.trial_id, attempt);
    return collect_attempt(folder_, "00000000000005ed");
  }

  void append_text(std::int64_t rank, const std::string& text) {
    std::ofstream(protocol::AttemptPaths{folder_}.rank_record(rank), std::ios::app) << text;
  }
  AttemptRows collect_again() { return collect_attempt(folder_, "00000000000005ed"); }

  static void end_by(RankRows& rank, std::optional<std::int64_t> exit_code, std::optional<std::int64_t> signal, std::int64_t at_ns) {
    rank.exit.exit_code = exit_code;
    rank.exit.signal = signal;
    rank.exit.end_mono_ns = at_ns;
    rank.bye.reset();
  }
  // Stops within `stage` after `num_steps` steps, as if its process had vanished.
  static void stop_in(RankRows& rank, Stage stage, std::size_t num_steps) {
    rank.stages = tests::ledger_up_to(stage);
    rank.steps.resize(num_steps);
    rank.bye.reset();
  }
  static protocol::ErrorRecord error_of(FailureKind kind, std::int64_t at_ns) {
    protocol::ErrorRecord error;
    error.kind = kind;
    error.stage = Stage::kSteady;
    error.step = 5;
    error.phase = Phase::kBackward;
    error.mono_ns = at_ns;
    error.message = "what happened";
    return error;
  }

  tests::TempDir temp_;
  std::filesystem::path folder_;
  tests::StudyBuilder builder_{"collect"};
};

}  // namespace rematch::collect
