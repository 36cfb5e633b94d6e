#include "orchestrator/spec/nearest.h"

#include <algorithm>

#include "orchestrator/base/joined_text.h"

namespace rematch::spec {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> cost(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) cost[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) cost[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = cost[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, replaced});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
    }
  }
  return cost[a.size()][b.size()];
}

std::optional<std::string> nearest_name(std::string_view name, const std::vector<std::string>& known) {
  std::optional<std::string> nearest;
  std::size_t least = std::max<std::size_t>(2, name.size() / 3) + 1;
  for (const auto& candidate : known) {
    const std::size_t distance = edit_distance(name, candidate);
    if (distance >= least || distance >= candidate.size()) continue;
    least = distance;
    nearest = candidate;
  }
  return nearest;
}

std::string not_known_message(std::string_view name, std::string_view what, const std::vector<std::string>& known) {
  std::string message = "'";
  message += name;
  message += "' is not ";
  message += what;
  if (const auto nearest = nearest_name(name, known)) message += "; did you mean '" + *nearest + "'?";
  return message;
}

std::string unknown_name_message(std::string_view name, std::string_view what, const std::vector<std::string>& known) {
  const std::string message = not_known_message(name, what, known);
  return message + (message.back() == '?' ? " Known: " : "; known: ") + join(known, ", ");
}

std::string join(const std::vector<std::string>& names, std::string_view separator) { return base::joined(names, separator); }

}  // namespace rematch::spec
