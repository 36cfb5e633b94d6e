#include "orchestrator/cli/verb.h"

#include <algorithm>

namespace rematch::cli {

namespace {

std::vector<std::unique_ptr<Verb>>& table() {
  static std::vector<std::unique_ptr<Verb>> verbs;
  return verbs;
}

}  // namespace

void register_verb(std::unique_ptr<Verb> verb) { table().push_back(std::move(verb)); }

std::vector<Verb*> all_verbs() {
  std::vector<Verb*> verbs;
  for (const auto& verb : table()) verbs.push_back(verb.get());
  std::sort(verbs.begin(), verbs.end(), [](const Verb* a, const Verb* b) { return a->name() < b->name(); });
  return verbs;
}

}  // namespace rematch::cli
