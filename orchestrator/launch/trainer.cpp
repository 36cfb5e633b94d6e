#include "orchestrator/launch/trainer.h"

#include <unistd.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

#include "orchestrator/launch/process.h"
#include "schemas/protocol/document_error.h"

namespace rematch::launch {

namespace {

namespace fs = std::filesystem;
constexpr const char* kTrainerName = "rematch-train";

bool is_program(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && ::access(path.c_str(), X_OK) == 0;
}

base::Result<fs::path> named_trainer(const std::string& origin, const fs::path& path) {
  if (is_program(path)) return fs::absolute(path);
  return base::Error{"no trainer: " + origin + " names " + path.string() +
                     ", which is not an executable file. Give the path of a built rematch-train"};
}

std::vector<fs::path> places_to_look(const fs::path& own_folder) {
  std::vector<fs::path> places;
  if (!own_folder.empty()) places.push_back(own_folder / kTrainerName);
  const char* search_path = std::getenv("PATH");  // NOLINT(concurrency-mt-unsafe)
  std::istringstream folders(search_path == nullptr ? "" : search_path);
  for (std::string folder; std::getline(folders, folder, ':');)
    if (!folder.empty()) places.push_back(fs::path(folder) / kTrainerName);
  return places;
}

std::string end_text(const ProcessEnd& end) {
  if (end.signal) return "died by signal " + std::to_string(*end.signal);
  return "ended with exit code " + std::to_string(end.exit_code.value_or(-1));
}

}  // namespace

fs::path folder_of_this_program() {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  return error ? fs::path() : self.parent_path();
}

base::Result<fs::path> locate_trainer(const std::optional<fs::path>& given, const fs::path& own_folder) {
  if (given) return named_trainer("--trainer", *given);
  if (const char* variable = std::getenv("REMATCH_TRAINER"); variable != nullptr && *variable != '\0')  // NOLINT(concurrency-mt-unsafe)
    return named_trainer("REMATCH_TRAINER", variable);
  std::string looked_at;
  for (const fs::path& place : places_to_look(own_folder)) {
    if (is_program(place)) return place;
    looked_at += "\n  " + place.string();
  }
  return base::Error{"no trainer: rematch-train was not found. Looked at (--trainer and REMATCH_TRAINER are not set):" + looked_at +
                     "\nBuild rematch-train, or give its path with --trainer"};
}

base::Result<protocol::Describe> describe_trainer(const fs::path& trainer, std::chrono::milliseconds deadline) {
  ProcessSpec spec;
  spec.program = trainer;
  spec.arguments = {"--describe"};
  const auto captured = run_captured(spec, deadline);
  if (!captured) return base::Error{"cannot ask the trainer what it can do: " + captured.error().message};
  const std::string command = trainer.string() + " --describe";
  if (captured.value().end.exit_code != 0)
    return base::Error{command + " " + end_text(captured.value().end) + "; wanted exit code 0 and a describe document on stdout"};
  const auto document = nlohmann::json::parse(captured.value().text, nullptr, false);
  if (document.is_discarded())
    return base::Error{command + " printed " + std::to_string(captured.value().text.size()) + " bytes that are not JSON: \"" +
                       captured.value().text.substr(0, 80) + "\""};
  try {
    return protocol::parse_describe(document);
  } catch (const protocol::DocumentError& problem) {
    return base::Error{command + ": " + problem.what() + ". Is this trainer of the same version as rematch?"};
  }
}

}  // namespace rematch::launch
