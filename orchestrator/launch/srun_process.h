// srun while it runs: its stdin is the control channel of the supervisors that it starts, its stdout their notices, its stderr its own
// words and theirs. Used by the launcher `srun`. One thread, the one that runs the io_context. Destroying it forgets srun and closes the
// streams: the supervisors then see the end of their stdin.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "orchestrator/base/result.h"
#include "orchestrator/launch/node_notice.h"
#include "orchestrator/launch/process.h"

namespace rematch::launch {

// None is called once the SrunProcess is gone. on_end comes last and once.
struct SrunListener {
  std::function<void(const NodeNotice&)> on_notice;
  std::function<void(const std::string&)> on_words;  // a line of stderr, without its newline
  std::function<void(ProcessEnd)> on_end;            // srun has ended, and its streams with it
};

class SrunProcess {
 public:
  virtual ~SrunProcess() = default;
  virtual void send(char command) = 0;  // to each supervisor
  virtual bool running() const = 0;
  virtual void signal(int number) = 0;  // to srun, where it runs: SIGTERM makes it kill the step
};

// The error says that there is no srun, or why it could not be started.
base::Result<std::unique_ptr<SrunProcess>> start_srun(boost::asio::io_context& context, const std::vector<std::string>& arguments,
                                                      const std::map<std::string, std::string>& environment, SrunListener listener);

}  // namespace rematch::launch
