// rematch-train: one rank of one trial. Reads trial.json, trains, leaves its record beside it.
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <system_error>

#include "probes/allocator/allocation_trace.h"
#include "probes/allocator/trace_replay.h"
#include "runtime/describe.h"
#include "runtime/rank_job.h"

namespace {

constexpr const char* kUsage =
    "usage: rematch-train --trial FILE [--gradient-log FOLDER] [--allocation-trace FILE]\n"
    "       rematch-train --trial FILE --saved-tensors\n"
    "       rematch-train --replay-trace FILE [--expandable-segments] [--memory-limit BYTES]\n"
    "       rematch-train --describe\n\n"
    "Runs one rank of a trial. RANK, LOCAL_RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT are read as torchrun sets them.\n"
    "The record goes to rank-NNNNN.jsonl beside FILE.\n"
    "  --describe               print what this build can do, as JSON\n"
    "  --gradient-log FOLDER    also write a hash of every gradient of every step\n"
    "  --allocation-trace FILE  also write every allocation and free of this rank's device to FILE, which must not be there\n"
    "  --saved-tensors          train nothing: list per layer and region what one forward holds for its backward\n"
    "  --replay-trace FILE      train nothing: print what an allocation trace comes to in the modelled allocator, as JSON\n"
    "  --expandable-segments    with expandable_segments:True in place of fixed segments\n"
    "  --memory-limit BYTES     on a device of that capacity\n"
    "exit codes: 0 done, 2 usage, 10 out of memory, 11 numerics, 12 communication, 13 bad trial, 15 interrupted, 70 our own bug\n";
constexpr int kUsageError = 2;

struct Arguments {
  bool describe = false;
  bool help = false;
  bool saved_tensors = false;
  bool expandable_segments = false;
  std::optional<std::string> trial;
  std::optional<std::string> replay_trace;
  std::optional<std::string> memory_limit;
  rematch::runtime::RankOutputs outputs;
};

std::optional<Arguments> parse(int argc, char** argv) {
  Arguments arguments;
  const std::map<std::string, bool*> flags = {{"--describe", &arguments.describe},
                                              {"--help", &arguments.help},
                                              {"-h", &arguments.help},
                                              {"--saved-tensors", &arguments.saved_tensors},
                                              {"--expandable-segments", &arguments.expandable_segments}};
  const std::map<std::string, std::optional<std::string>*> values = {{"--trial", &arguments.trial},
                                                                     {"--gradient-log", &arguments.outputs.gradient_log_folder},
                                                                     {"--allocation-trace", &arguments.outputs.allocation_trace},
                                                                     {"--replay-trace", &arguments.replay_trace},
                                                                     {"--memory-limit", &arguments.memory_limit}};
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (const auto flag = flags.find(word); flag != flags.end()) {
      *flag->second = true;
    } else if (const auto value = values.find(word); value != values.end() && i + 1 < argc) {
      *value->second = argv[++i];
    } else {
      std::fprintf(stderr, "rematch-train: unexpected '%s'\n%s", word.c_str(), kUsage);
      return std::nullopt;
    }
  }
  return arguments;
}

// Options that would be ignored; empty where there are none.
std::string stray_option(const Arguments& arguments) {
  if (!arguments.replay_trace && (arguments.expandable_segments || arguments.memory_limit))
    return "--expandable-segments and --memory-limit: wanted --replay-trace with them";
  if (arguments.replay_trace && (arguments.trial || arguments.describe || arguments.saved_tensors))
    return "--replay-trace: wanted neither --trial nor --describe with it";
  const auto& outputs = arguments.outputs;
  const bool trains = arguments.trial && !arguments.saved_tensors;
  if (!trains && (outputs.gradient_log_folder || outputs.allocation_trace))
    return "--gradient-log and --allocation-trace: wanted --trial with them, without --saved-tensors";
  return "";
}

int print_replay(const Arguments& arguments) {
  rematch::probes::AllocatorOptions options;
  if (arguments.expandable_segments) options.segments = rematch::probes::SegmentKind::kExpandable;
  if (const auto& limit = arguments.memory_limit) {
    std::int64_t bytes = 0;
    const auto [end, error] = std::from_chars(limit->data(), limit->data() + limit->size(), bytes);
    if (error != std::errc() || end != limit->data() + limit->size() || bytes < 1) {
      std::fprintf(stderr, "rematch-train: --memory-limit: wanted a whole number of bytes, 1 or more, found '%s'\n", limit->c_str());
      return kUsageError;
    }
    options.capacity_bytes = bytes;
  }
  try {
    std::cout << rematch::probes::replay_document(rematch::probes::replay_trace(*arguments.replay_trace, options)) << '\n';
    return 0;
  } catch (const rematch::probes::TraceError& error) {
    std::fprintf(stderr, "rematch-train: %s\n", error.what());
  } catch (const std::system_error& error) {
    std::fprintf(stderr, "rematch-train: %s\n", error.what());
  }
  return kUsageError;
}

}  // namespace

int main(int argc, char** argv) {
  const auto arguments = parse(argc, argv);
  if (!arguments) return kUsageError;
  if (const auto stray = stray_option(*arguments); !stray.empty()) {
    std::fprintf(stderr, "rematch-train: %s\n", stray.c_str());
    return kUsageError;
  }
  try {
    if (arguments->describe) {
      std::cout << rematch::protocol::to_json(rematch::runtime::describe()).dump(2) << '\n';
      return 0;
    }
    if (arguments->replay_trace) return print_replay(*arguments);
    if (!arguments->trial || arguments->help) {
      std::fputs(kUsage, arguments->help ? stdout : stderr);
      return arguments->help ? 0 : kUsageError;
    }
    const auto environment = rematch::runtime::read_rank_environment();
    return static_cast<int>(arguments->saved_tensors ? rematch::runtime::list_saved_tensors(*arguments->trial, environment)
                                                     : rematch::runtime::run_rank(*arguments->trial, environment, arguments->outputs));
  } catch (const rematch::runtime::BadOutput& error) {
    std::fprintf(stderr, "rematch-train: %s\n", error.what());
    return kUsageError;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rematch-train: %s\n", error.what());
    return static_cast<int>(rematch::protocol::TrainExit::kInternal);
  }
}
