#include "orchestrator/launch/supervise_command.h"

#include "orchestrator/base/whole_number.h"

namespace rematch::launch {

std::vector<std::string> supervise_command(const SuperviseArguments& arguments) {
  std::vector<std::string> words = {kSuperviseVerb, arguments.trainer.string(), arguments.attempt_folder.string(),
                                    std::to_string(arguments.attempt)};
  if (arguments.master_port) words.push_back(std::to_string(*arguments.master_port));
  return words;
}

std::optional<SuperviseArguments> parse_supervise_command(int argc, const char* const* argv) {
  if ((argc != 5 && argc != 6) || std::string(argv[1]) != kSuperviseVerb) return std::nullopt;
  const auto attempt = base::whole_number(argv[4]);
  const auto port = argc == 6 ? base::whole_number(argv[5]) : std::nullopt;
  if (!attempt || (argc == 6 && !port)) return std::nullopt;
  return SuperviseArguments{argv[2], argv[3], *attempt, port};
}

}  // namespace rematch::launch
