// A plan that grows by one round: decisions, status of arms and trials are added to a copy of what was decided before. One owner, the
// strategy of the round.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "orchestrator/base/rows.h"
#include "orchestrator/plan/trials.h"

namespace rematch::strategy {

class Growth {
 public:
  explicit Growth(const base::StudyPlan& plan);

  const base::StudyPlan& plan() const { return plan_; }
  std::int64_t round() const { return round_; }

  // Of the round as a whole.
  void remark(base::DecisionAction action, const std::string& reason);
  void take(const std::string& arm, const std::string& reason);
  // A waiting arm will not run; one that ran gets no further trials.
  void leave_out(const std::string& arm, const std::string& reason);
  void freeze(const std::string& arm, const std::string& reason);
  // Arms that still wait are skipped: those of the groups that ran with a decision each, those of other groups without.
  void stop(const std::string& reason);
  void add(const plan::Blocks& blocks);
  void set_num_blocks(std::int64_t num_blocks) { plan_.num_blocks = num_blocks; }

  base::StudyPlan finished() && { return std::move(plan_); }

 private:
  base::ArmRow& row(const std::string& arm);
  void decide(base::DecisionAction action, const std::string& arm, const std::string& reason);

  base::StudyPlan plan_;
  std::int64_t round_ = 0;
};

}  // namespace rematch::strategy
