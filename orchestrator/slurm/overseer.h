// Watches over a runner's work: keeps its claim alive, and stops it when it is superseded or cancelled, or the allocation lost a node.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "orchestrator/engine/claim.h"
#include "orchestrator/engine/listener.h"
#include "orchestrator/engine/overseer.h"
#include "orchestrator/slurm/client.h"
#include "schemas/protocol/submission.h"

namespace rematch::slurm {

class AllocationOverseer final : public engine::Overseer {
 public:
  // All must outlive it. Asks Slurm for the time left.
  AllocationOverseer(engine::Claim& claim, std::filesystem::path submission, Client& client, engine::Listener& listener);

  std::optional<engine::StopCause> beat() override;
  // Reads the submission again.
  std::optional<engine::StopCause> before_trial() override;
  // Asks Slurm, where there are several nodes.
  std::optional<engine::StopCause> after_inconclusive(const base::AttemptRows& attempt) override;
  std::optional<std::chrono::seconds> time_left() override;

 private:
  engine::Claim& claim_;
  std::filesystem::path submission_;
  Client& client_;
  engine::Listener& listener_;
  std::optional<std::chrono::steady_clock::time_point> end_;
  bool beat_failed_ = false;
};

// Why it is not to be worked on; empty: nothing speaks against it.
std::string closed_text(const protocol::Submission& submission);

}  // namespace rematch::slurm
