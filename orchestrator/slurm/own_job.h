// What a runner asks of Slurm about the job that it runs in. One client call each, with a deadline; what is not answered is not known.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "orchestrator/base/result.h"
#include "orchestrator/slurm/client.h"
#include "schemas/protocol/launch_record.h"
#include "schemas/protocol/submission.h"

namespace rematch::slurm {

// Takes the variables of an array out of this process's environment where its job is none: one that was submitted from within an element
// may have inherited them, and they name somebody else's job. Before any thread is started.
void forget_other_arrays(protocol::SubmissionShape shape);

// "17", of an element of an array "15_2": the number alone of its last element is the whole array's.
std::string job_text(const protocol::Allocation& job);

// Until the time limit. nullopt: no limit, or not known.
std::optional<std::chrono::seconds> time_left(Client& client, const protocol::Allocation& job);
// Fewer than it began with after some failed. nullopt: not known.
std::optional<std::int64_t> num_nodes_now(Client& client, const protocol::Allocation& job);
// Puts the job back into the queue. Slurm then ends what runs of it, the caller included, so the caller ignores SIGTERM before.
std::optional<base::Error> requeue(Client& client, const protocol::Allocation& job);

// N of the last "--signal=[...]USR1@N" among sbatch's arguments: seconds before the limit. nullopt: no such signal.
std::optional<std::chrono::seconds> signal_margin(const std::vector<std::string>& sbatch_command);

}  // namespace rematch::slurm
