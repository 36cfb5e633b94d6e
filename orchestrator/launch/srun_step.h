// One job step of the launcher `srun`, from srun's start until the launch record is written out of the parts of its nodes.
#pragma once

#include <memory>

#include "orchestrator/launch/launcher.h"

namespace rematch::launch {

// As Launcher::start.
std::unique_ptr<RunningAttempt> start_srun_step(boost::asio::io_context& context, const LaunchRequest& request, OnAttemptEnd on_end);

}  // namespace rematch::launch
