// Slurm's commands as a table: the command's words joined by blanks -> its answer. What is not in it does not answer.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "orchestrator/slurm/client.h"

namespace rematch::tests {

class FakeClient final : public slurm::Client {
 public:
  base::Result<slurm::Answer> call(const std::vector<std::string>& command, std::chrono::milliseconds) override {
    std::string line;
    for (const std::string& word : command) line += (line.empty() ? "" : " ") + word;
    calls.push_back(line);
    const auto found = answers.find(line);
    if (found == answers.end()) return base::Error{line + ": no answer"};
    return found->second;
  }

  std::map<std::string, slurm::Answer> answers;
  std::vector<std::string> calls;
};

}  // namespace rematch::tests
