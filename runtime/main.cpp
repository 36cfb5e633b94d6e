// rematch-train: one rank of one trial. Reads trial.json, trains, leaves its record beside it.
#include <cstdio>
#include <exception>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "runtime/describe.h"
#include "runtime/rank_job.h"

namespace {

constexpr const char* kUsage =
    "usage: rematch-train --trial FILE [--gradient-log FOLDER]\n"
    "       rematch-train --trial FILE --saved-tensors\n"
    "       rematch-train --describe\n\n"
    "Runs one rank of a trial. RANK, LOCAL_RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT are read as torchrun sets them.\n"
    "The record goes to rank-NNNNN.jsonl beside FILE.\n"
    "  --describe             print what this build can do, as JSON\n"
    "  --gradient-log FOLDER  also write a hash of every gradient of every step\n"
    "  --saved-tensors        train nothing: list per layer and region what one forward holds for its backward\n"
    "exit codes: 0 done, 10 out of memory, 11 numerics, 12 communication, 13 bad trial, 15 interrupted, 70 our own bug\n";
constexpr int kUsageError = 2;

struct Arguments {
  bool describe = false;
  bool help = false;
  bool saved_tensors = false;
  std::optional<std::string> trial;
  std::optional<std::string> gradient_log;
};

std::optional<Arguments> parse(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const bool has_value = i + 1 < argc;
    if (word == "--describe") {
      arguments.describe = true;
    } else if (word == "--help" || word == "-h") {
      arguments.help = true;
    } else if (word == "--saved-tensors") {
      arguments.saved_tensors = true;
    } else if (word == "--trial" && has_value) {
      arguments.trial = argv[++i];
    } else if (word == "--gradient-log" && has_value) {
      arguments.gradient_log = argv[++i];
    } else {
      std::fprintf(stderr, "rematch-train: unexpected '%s'\n%s", word.c_str(), kUsage);
      return std::nullopt;
    }
  }
  return arguments;
}

}  // namespace

int main(int argc, char** argv) {
  const auto arguments = parse(argc, argv);
  if (!arguments) return kUsageError;
  try {
    if (arguments->describe) {
      std::cout << rematch::protocol::to_json(rematch::runtime::describe()).dump(2) << '\n';
      return 0;
    }
    if (!arguments->trial || arguments->help) {
      std::fputs(kUsage, arguments->help ? stdout : stderr);
      return arguments->help ? 0 : kUsageError;
    }
    const auto environment = rematch::runtime::read_rank_environment();
    return static_cast<int>(arguments->saved_tensors ? rematch::runtime::list_saved_tensors(*arguments->trial, environment)
                                                     : rematch::runtime::run_rank(*arguments->trial, environment, arguments->gradient_log));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rematch-train: %s\n", error.what());
    return static_cast<int>(rematch::protocol::TrainExit::kInternal);
  }
}
