#include "orchestrator/slurm/put_back.h"

#include <signal.h>

#include <optional>

#include "orchestrator/engine/held_signals.h"
#include "orchestrator/slurm/overseer.h"
#include "orchestrator/slurm/own_job.h"
#include "schemas/protocol/document_error.h"
#include "schemas/protocol/submission.h"

namespace rematch::slurm {

namespace {

using protocol::RunnerEnd;

RunnerResult finish(engine::Claim& claim, RunnerEnd end, const std::string& message) {
  claim.finish(end, message);
  return {end, message};
}

// Why the job must not come back; empty: it may.
std::string wish_to_end(const std::filesystem::path& submission) {
  if (engine::HeldSignals::pending() == engine::StopCause::kSignal) return "SIGTERM or SIGINT came";
  try {
    return closed_text(protocol::read_submission(submission.string()));
  } catch (const protocol::DocumentError&) {
    return "";  // it was read before, and said nothing of the kind
  }
}

}  // namespace

RunnerResult put_back(engine::Claim& claim, const std::filesystem::path& submission, Client& client, const std::string& why) {
  claim.finish(RunnerEnd::kRequeued, why);
  if (const std::string wish = wish_to_end(submission); !wish.empty())
    return finish(claim, RunnerEnd::kInterrupted, why + ", and the job was not put back into the queue: " + wish);
  ::signal(SIGTERM, SIG_IGN);  // Slurm sends it as soon as it has the request
  if (const auto problem = requeue(client, *claim.record().allocation))
    return finish(claim, RunnerEnd::kInterrupted, why + ", and the job could not be put back into the queue: " + problem->message);
  return {RunnerEnd::kRequeued, why};
}

}  // namespace rematch::slurm
