// One rank of the fake trainer: writes the records of a plausible run, and misbehaves where its Behaviour says so.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "schemas/protocol/describe.h"
#include "schemas/protocol/record_file.h"
#include "schemas/protocol/trial.h"
#include "tests/support/fake_trainer/behaviour.h"

namespace rematch::tests {

inline constexpr const char* kFakeBuildId = "fake-trainer-1";

class FakeRank {
 public:
  FakeRank(const std::filesystem::path& attempt_folder, protocol::Trial trial, std::int64_t rank, Behaviour behaviour,
           const protocol::Describe& describe);
  // Returns the exit code.
  int run();

 private:
  void enter(protocol::Stage stage, std::optional<std::int64_t> step = std::nullopt);
  void leave();
  void misbehave();
  void commit(const Misdeed& misdeed);
  void run_out_of_memory();
  void hello();
  void model(const protocol::Describe& describe);
  void first_step();
  void step(std::int64_t index);
  std::int64_t peak_bytes() const;
  protocol::Attribution attribution() const;
  std::int64_t num_micro_batches() const;

  std::filesystem::path folder_;
  protocol::Trial trial_;
  std::int64_t rank_;
  Behaviour behaviour_;
  protocol::RecordWriter writer_;
  protocol::LabelCounts sites_;
  protocol::LabelCounts sites_available_;
  std::string build_id_;
  protocol::Stage stage_ = protocol::Stage::kSpawned;
  std::optional<std::int64_t> step_;
  std::int64_t lifetime_peak_bytes_ = 0;
  std::optional<int> early_exit_;
  bool replays_without_label_ = false;
};

}  // namespace rematch::tests
