// The questions that a study asks of Slurm, by the names of its jobs and never by their numbers alone: numbers are used again after a
// controller's crash. Each is one call of a client with a deadline. An error means that the state is not known, not that it is bad.
// One thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "orchestrator/base/result.h"
#include "orchestrator/slurm/client.h"
#include "orchestrator/slurm/job_table.h"

namespace rematch::slurm {

class Cluster {
 public:
  // The client outlives it.
  Cluster(Client& client, std::int64_t user_id) : client_(client), user_id_(user_id) {}

  // What the controller knows of jobs of these names, of any state; an array element a row.
  base::Result<std::vector<JobRow>> queue(const std::vector<std::string>& names);
  // What accounting knows of them, an attempt a row. Empty where there is no accounting, which is found out once.
  base::Result<std::vector<JobRow>> history(const std::vector<std::string>& names, std::chrono::minutes back);
  bool has_history() const { return has_history_; }

  // All jobs of these names; a call a name.
  std::optional<base::Error> cancel(const std::vector<std::string>& names);
  std::optional<base::Error> cancel_pending(const std::vector<std::string>& names);
  // The job or element of a row that the queue has just shown under a name of ours.
  std::optional<base::Error> cancel_row(const JobRow& row);

  // Elements that an array may have. 1001, Slurm's default, where it is not told.
  std::int64_t most_array_elements();

  base::Result<Answer> call(const std::vector<std::string>& command);

 private:
  base::Result<std::string> ask(const std::vector<std::string>& command);
  std::optional<base::Error> cancel_those(const std::vector<std::string>& names, const std::vector<std::string>& words);

  Client& client_;
  std::int64_t user_id_;
  bool has_history_ = true;  // until it says that it has none
};

}  // namespace rematch::slurm
