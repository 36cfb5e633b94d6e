#include "orchestrator/cli/unknown_word.h"

#include <algorithm>

#include "orchestrator/cli/typed_words.h"
#include "orchestrator/spec/nearest.h"

namespace rematch::cli {

namespace {

// Only long names: of short ones several may stand in one word.
std::optional<std::string> unknown_option(const ProgramPage& program, const VerbPage* verb, const std::string& word) {
  const std::string name = word.substr(0, word.find('='));
  if (!name.starts_with("--") || name == "--") return std::nullopt;
  const std::vector<std::string> known = option_names(program, verb);
  if (std::find(known.begin(), known.end(), name) != known.end()) return std::nullopt;
  return spec::not_known_message(name, verb == nullptr ? "an option of rematch" : "an option of rematch " + verb->name, known);
}

}  // namespace

std::optional<std::string> unknown_word_message(const ProgramPage& program, const std::vector<std::string>& words) {
  std::vector<std::string> before;
  for (const std::string& word : words) {
    before.push_back(word);
    const TypedWords typed = typed_words(program, before);
    if (!typed.may_be_option) continue;  // it is a value, or stands behind --
    if (auto message = unknown_option(program, typed.verb, word)) return message;
    if (typed.verb == nullptr && typed.wanted == nullptr && !word.starts_with("-") && find_verb(program, word) == nullptr)
      return spec::not_known_message(word, "a verb of rematch", verb_names(program));
  }
  return std::nullopt;
}

}  // namespace rematch::cli
