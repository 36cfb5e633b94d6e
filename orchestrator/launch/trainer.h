// Finding the trainer and asking it what it can do. Called by the verbs before a sweep is planned.
// One thread. Failure: an Error that names every place looked at, or what the trainer said instead of a describe document.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>

#include "orchestrator/base/result.h"
#include "schemas/protocol/describe.h"

namespace rematch::launch {

// Empty when the system does not tell.
std::filesystem::path folder_of_this_program();

// --trainer when given, else REMATCH_TRAINER, else rematch-train in `own_folder`, else rematch-train on PATH.
// A place that the user named and that holds no program is an error: the later places are not tried.
base::Result<std::filesystem::path> locate_trainer(const std::optional<std::filesystem::path>& given,
                                                   const std::filesystem::path& own_folder = folder_of_this_program());

inline constexpr std::chrono::milliseconds kDescribeDeadline{60'000};

// Runs `TRAINER --describe`.
base::Result<protocol::Describe> describe_trainer(const std::filesystem::path& trainer,
                                                  std::chrono::milliseconds deadline = kDescribeDeadline);

}  // namespace rematch::launch
