// How a runner has its own job put back into the queue: its last word first, then the request, unless it was told to end in between.
#pragma once

#include <filesystem>
#include <string>

#include "orchestrator/engine/claim.h"
#include "orchestrator/slurm/client.h"
#include "orchestrator/slurm/runner.h"

namespace rematch::slurm {

// `claim` has an allocation; `submission`: its document. `why`: what ended the run. The thread holds the signals of engine::HeldSignals;
// once the request is sent SIGTERM is ignored. The result is on record: requeued, or interrupted where the job does not come back.
RunnerResult put_back(engine::Claim& claim, const std::filesystem::path& submission, Client& client, const std::string& why);

}  // namespace rematch::slurm
