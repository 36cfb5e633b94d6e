#include "orchestrator/slurm/cluster_config.h"

#include <charconv>
#include <sstream>

namespace rematch::slurm {

namespace {

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

}  // namespace

ClusterConfig::ClusterConfig(const std::string& shown) {
  std::istringstream lines(shown);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t equals = line.find('=');
    if (equals != std::string::npos) values_.emplace(trimmed(line.substr(0, equals)), trimmed(line.substr(equals + 1)));
  }
}

std::optional<std::string> ClusterConfig::text(const std::string& name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::int64_t> ClusterConfig::number(const std::string& name) const {
  const auto value = text(name);
  std::int64_t parsed = 0;
  if (!value || std::from_chars(value->data(), value->data() + value->size(), parsed).ec != std::errc()) return std::nullopt;
  return parsed;
}

base::Result<ClusterConfig> read_cluster_config(Client& client) {
  const auto answer = client.call({"scontrol", "show", "config"}, kClientDeadline);
  if (!answer) return answer.error();
  if (answer.value().exit_code == 0) return ClusterConfig(answer.value().out);
  return base::Error{"scontrol show config ended with " + std::to_string(answer.value().exit_code) + ": " + trimmed(answer.value().error)};
}

}  // namespace rematch::slurm
