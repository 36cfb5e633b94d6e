#include "orchestrator/slurm/cluster_config.h"

#include <gtest/gtest.h>

namespace rematch::slurm {
namespace {

TEST(ClusterConfig, ReadsNamesAndTheNumberThatAValueBeginsWith) {
  const ClusterConfig config(
      "Configuration data as of 2026-01-31T09:30:00\n"
      "KillWait                = 30 sec\n"
      "PreemptParameters       = \n"
      "SlurmdParameters        = a=1,b=2\n"
      "\n"
      "Slurmctld(primary) at vm is UP\n");
  EXPECT_EQ(config.number("KillWait"), 30);
  EXPECT_EQ(config.text("KillWait"), "30 sec");
  EXPECT_EQ(config.text("PreemptParameters"), "");
  EXPECT_EQ(config.text("SlurmdParameters"), "a=1,b=2");
  EXPECT_EQ(config.number("SlurmdParameters"), std::nullopt);
  EXPECT_EQ(config.text("MaxArraySize"), std::nullopt);
}

}  // namespace
}  // namespace rematch::slurm
