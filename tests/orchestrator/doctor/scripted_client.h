// Slurm's answers as a test has written them, by the words of the command.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "orchestrator/slurm/client.h"

namespace rematch::doctor {

// To what it does not know it answers as when there is no such program.
class ScriptedClient final : public slurm::Client {
 public:
  base::Result<slurm::Answer> call(const std::vector<std::string>& command, std::chrono::milliseconds /*deadline*/) override {
    std::string words;
    for (const std::string& word : command) words += (words.empty() ? "" : " ") + word;
    commands.push_back(words);
    if (const auto program = programs.find(command.front()); program != programs.end()) return program->second(command);
    const auto found = answers.find(words);
    if (found == answers.end()) return base::Error{command.front() + " is not on PATH"};
    return found->second;
  }

  std::map<std::string, slurm::Answer> answers;
  std::map<std::string, std::function<slurm::Answer(const std::vector<std::string>&)>> programs;  // asked before `answers`
  std::vector<std::string> commands;
};

}  // namespace rematch::doctor
