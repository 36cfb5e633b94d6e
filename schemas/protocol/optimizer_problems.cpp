#include "schemas/protocol/optimizer_problems.h"

#include <utility>

namespace rematch::protocol {

std::vector<OptimizerProblem> optimizer_problems(const OptimizerSpec& optimizer) {
  std::vector<OptimizerProblem> problems;
  if (optimizer.use_precision_aware_optimizer && !optimizer.use_distributed_optimizer)
    problems.push_back({"use_precision_aware_optimizer",
                        "wanted use_distributed_optimizer: true with it, found false; switch the distributed optimizer on, or this off"});
  if (optimizer.use_precision_aware_optimizer) return problems;
  for (const auto& [option, found] :
       {std::pair("exp_avg_dtype", optimizer.exp_avg_dtype), std::pair("exp_avg_sq_dtype", optimizer.exp_avg_sq_dtype)})
    if (found != "fp32")
      problems.push_back(
          {option, "wanted fp32 without use_precision_aware_optimizer, found '" + found + "'; switch that optimizer on, or write fp32"});
  return problems;
}

}  // namespace rematch::protocol
