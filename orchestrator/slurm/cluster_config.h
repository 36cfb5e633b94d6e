// `scontrol show config`: how a cluster is set up. Asked once by whoever needs a limit of it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "orchestrator/base/result.h"
#include "orchestrator/slurm/client.h"

namespace rematch::slurm {

class ClusterConfig {
 public:
  explicit ClusterConfig(const std::string& shown);  // lines "Name = value"; others are passed over

  std::optional<std::string> text(const std::string& name) const;     // nullopt: not shown
  std::optional<std::int64_t> number(const std::string& name) const;  // that the value begins with: 300 of "300 sec"

 private:
  std::map<std::string, std::string> values_;
};

// The error is the client's, or what scontrol wrote when it failed.
base::Result<ClusterConfig> read_cluster_config(Client& client);

}  // namespace rematch::slurm
