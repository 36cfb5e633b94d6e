// A study that is followed while the world goes on second by second.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "tests/orchestrator/slurm/cluster_fixture.h"

namespace rematch::tests {

using std::chrono::minutes;
using std::chrono::seconds;

class FollowTest : public ClusterFixture {
 protected:
  using ClusterFixture::ClusterFixture;

  // `steps[n]` happens after n seconds; 30 minutes later the test has hung.
  void play(std::map<int, std::function<void()>> steps) {
    steps_ = std::move(steps);
    begin_ = slurm_.now;
    slurm_.on_pause = [this] {
      while (!steps_.empty() && slurm_.now >= begin_ + seconds(steps_.begin()->first)) {
        const auto step = steps_.begin()->second;
        steps_.erase(steps_.begin());
        step();
      }
      if (slurm_.now > begin_ + minutes(30)) slurm_.is_told_to_stop = true;
    };
  }

  std::string name() const { return last_.submission.name; }
  int seconds_taken() const { return static_cast<int>(std::chrono::duration_cast<seconds>(slurm_.now - begin_).count()); }

  std::map<int, std::function<void()>> steps_;
  FakeSlurm::Time begin_;
};

}  // namespace rematch::tests
