// What a label does in Megatron Core, for people: its file, what it drops, keeps and replays, where it has no effect, and which
// rows of the rule table speak of it. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "orchestrator/compat/rules.h"

namespace rematch::compat {

struct LabelPage {
  std::string_view label;
  std::string_view source;  // where the boundary is set, below Megatron-LM's root; the same at every revision that knows the label
  std::string_view keeps;
  std::string_view replays;
  std::string_view no_effect;
  std::string_view more_rules;  // ids of rows about it whose reasons do not name it
};

const LabelPage& label_page(std::string_view label);  // of any label of the label table

// Rows of that revision that read recompute_modules and whose reason names the label, and the page's more_rules.
std::vector<const Rule*> rules_about(std::string_view label, std::string_view core_revision);
// Rows of that id, or of that key: "C12", "C12 both_names".
std::vector<const Rule*> rules_named(std::string_view name);

}  // namespace rematch::compat
