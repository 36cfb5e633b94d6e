#include "orchestrator/launch/supervise_command.h"

#include <charconv>

namespace rematch::launch {

namespace {

std::optional<std::int64_t> whole_number(const std::string& text) {
  std::int64_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  return parsed.ec == std::errc() && parsed.ptr == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

}  // namespace

std::vector<std::string> supervise_command(const SuperviseArguments& arguments) {
  std::vector<std::string> words = {kSuperviseVerb, arguments.trainer.string(), arguments.attempt_folder.string(),
                                    std::to_string(arguments.attempt)};
  if (arguments.master_port) words.push_back(std::to_string(*arguments.master_port));
  return words;
}

std::optional<SuperviseArguments> parse_supervise_command(int argc, const char* const* argv) {
  if ((argc != 5 && argc != 6) || std::string(argv[1]) != kSuperviseVerb) return std::nullopt;
  const auto attempt = whole_number(argv[4]);
  const auto port = argc == 6 ? whole_number(argv[5]) : std::nullopt;
  if (!attempt || (argc == 6 && !port)) return std::nullopt;
  return SuperviseArguments{argv[2], argv[3], *attempt, port};
}

}  // namespace rematch::launch
