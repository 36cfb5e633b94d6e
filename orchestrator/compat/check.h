// One line of check-config: a raw Megatron configuration as JSON, and what becomes of it. Pure.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "orchestrator/compat/rules.h"

namespace rematch::compat {

// A line that cannot be judged. The column counts bytes from 1.
struct LineProblem {
  std::size_t column = 1;
  std::string message;
};

struct CheckInput {
  Configuration configuration;
  bool is_fragment = false;            // it names no model, and was laid over plain_base()
  std::vector<std::string> keys_left;  // of the line, beside those that it is read for
};

// The model under a configuration that does not name all of num_layers, hidden_size and num_attention_heads: 8 dense layers, bf16, no
// dropout, no graphed modules.
nlohmann::json plain_base(std::string_view core_revision);

// {"revision", "te_version", "torch_version", "config", "surroundings"}; all but config may be left out where core_revision is given.
std::variant<CheckInput, LineProblem> read_check_line(std::string_view text, const std::optional<std::string>& core_revision);

struct Judgement {
  bool accepted = true;
  std::vector<Violation> violations;
};
Judgement judge(const Configuration& configuration, Policy policy, const Rule* left_out = nullptr);

// One record of the output; `line` counts from 1.
nlohmann::json check_json(std::size_t line, const CheckInput& input, const Judgement& judgement, Policy policy);
std::string check_text(std::size_t line, const CheckInput& input, const Judgement& judgement, Policy policy);

}  // namespace rematch::compat
