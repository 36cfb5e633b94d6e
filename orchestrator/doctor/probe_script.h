// The shell texts of the probe of compute nodes: what the job runs on each of them, and the exit codes by which it speaks where it can
// write nothing. Pure.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "orchestrator/doctor/slurm_probe.h"

namespace rematch::doctor {

inline constexpr std::int64_t kFolderNotSeen = 41;
inline constexpr std::int64_t kFolderNotWritable = 42;

// A file in the probe's folder with this text is what a node must see.
inline constexpr const char* kSentFile = "sent";

// Of the batch job: on one node itself, on several by srun.
std::string probe_batch_script(const ProbeRequest& request, const std::filesystem::path& folder);
// Of each node: leaves <node>.json, <node>.err and, last and by rename, <node>.answer in `folder`.
std::string probe_node_script(const ProbeRequest& request, const std::filesystem::path& folder, const std::string& sent);

}  // namespace rematch::doctor
