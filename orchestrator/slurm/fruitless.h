// Earlier runners of the same job, or of another of its submission, that came to nothing: what bounds how often a part is begun again.
// Reads the disk, writes nothing.
#pragma once

#include <cstdint>
#include <filesystem>

#include "orchestrator/slurm/parts.h"
#include "schemas/protocol/runner_record.h"
#include "schemas/protocol/submission.h"

namespace rematch::slurm {

// This many, and the part is given up.
inline constexpr std::int64_t kMostFruitless = 3;

// Of those since whose start no block of the part was done. One that was told to end counts as neither: that says nothing of the part.
struct FruitlessRunners {
  std::int64_t num_requeued = 0;  // each put its job back
  std::int64_t num_died = 0;      // without a last word: with their node, or killed
  std::int64_t num() const { return num_requeued + num_died; }
};

// Those before `own`, of its submission and scope. `part` is what that scope names.
FruitlessRunners fruitless_runners(const std::filesystem::path& study_folder, const protocol::RunnerRecord& own, DoneTrials& trials,
                                   const protocol::SubmissionTask& part);

}  // namespace rematch::slurm
