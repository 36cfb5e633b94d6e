// "did you mean": the known name nearest to an unknown one, by edit distance. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rematch::spec {

// Insertions, deletions, replacements and swaps of neighbours, each counted once.
std::size_t edit_distance(std::string_view a, std::string_view b);

// null when none is near enough to be meant: more than a third of the letters differ (two are always allowed).
std::optional<std::string> nearest_name(std::string_view name, const std::vector<std::string>& known);

// "'moe_atc' is not a label; did you mean 'moe_act'?", the question only where one is near. `what`: "a label".
std::string not_known_message(std::string_view name, std::string_view what, const std::vector<std::string>& known);

// "'moe_atc' is not a label; did you mean 'moe_act'? Known: a, b, c". `what`: "a label".
std::string unknown_name_message(std::string_view name, std::string_view what, const std::vector<std::string>& known);

std::string join(const std::vector<std::string>& names, std::string_view separator);

}  // namespace rematch::spec
