#include "orchestrator/spec/expert_load.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

#include "schemas/protocol/document_error.h"
#include "schemas/protocol/find_field.h"

namespace rematch::spec {

namespace {

constexpr const char* kForcingField = "moe_router_force_load_balancing";

template <typename T>
T field_or(const protocol::FieldMap& fields, const std::string& name, T otherwise) {
  const T* value = protocol::find_field<T>(fields, name);
  return value == nullptr ? otherwise : *value;
}

// "120,80": null when a piece is no whole number of tokens.
std::optional<std::vector<std::int64_t>> parse_histogram(const std::string& text) {
  std::vector<std::int64_t> counts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    std::int64_t count = 0;
    const auto parsed = std::from_chars(text.data() + begin, text.data() + end, count);
    if (parsed.ec != std::errc() || parsed.ptr != text.data() + end || count < 0) return std::nullopt;
    counts.push_back(count);
    begin = end + 1;
  }
  return counts;
}

// Without the place in a trial document, which the user never wrote.
std::string message_of(const protocol::DocumentError& problem) {
  const std::string text = problem.what();
  const std::size_t at = text.find(": ");
  return at == std::string::npos ? text : text.substr(at + 2);
}

// A figure of another kind of load would say nothing.
std::optional<LoadProblem> ignored_figure(const SimulateSpec& simulate, const std::string& kind) {
  const auto problem = [&](const std::string& figure, const std::string& its_kind) {
    return LoadProblem{"simulate." + figure, "is of expert_load: " + its_kind + " alone; found " + kind +
                                                 ": write expert_load: " + its_kind + ", or leave this out"};
  };
  if (simulate.expert_imbalance && kind != "imbalance") return problem("expert_imbalance", "imbalance");
  if (simulate.expert_histogram && kind != "histogram") return problem("expert_histogram", "histogram");
  return std::nullopt;
}

}  // namespace

std::variant<ResolvedLoad, LoadProblem> resolve_expert_load(const SweepSpec& spec) {
  const protocol::FieldMap& fields = spec.common.model.fields;
  const bool is_forced = field_or(fields, kForcingField, false);
  const auto num_experts = field_or(fields, "num_moe_experts", std::int64_t{0});
  ResolvedLoad resolved;
  resolved.load.kind = spec.simulate.expert_load.value_or(is_forced ? "forced" : "balanced");
  resolved.otherwise = is_forced ? "the model's " + std::string(kForcingField) : "default";
  const std::string& kind = resolved.load.kind;
  if (auto problem = ignored_figure(spec.simulate, kind)) return *std::move(problem);
  if (kind == "forced" && !is_forced)
    return LoadProblem{"simulate.expert_load",
                       "forced wants a model with " + std::string(kForcingField) +
                           ": true; found none, so that routing is the router's: write balanced, or set that field"};
  if (kind == "balanced" || kind == "forced") return resolved;
  const bool by_imbalance = kind == "imbalance";
  const std::string key = by_imbalance ? "simulate.expert_imbalance" : "simulate.expert_histogram";
  if (num_experts == 0) return LoadProblem{"simulate.expert_load", kind + " is for a mixture of experts; this model has no experts"};
  if (by_imbalance) {
    if (!spec.simulate.expert_imbalance)
      return LoadProblem{key,
                         "wanted, for expert_load: imbalance, the tokens of expert-parallel rank 0 over the mean of a rank; found none"};
    resolved.load.imbalance = spec.simulate.expert_imbalance;
  } else {
    resolved.load.histogram = parse_histogram(spec.simulate.expert_histogram.value_or(""));
    if (!resolved.load.histogram)
      return LoadProblem{key, "wanted the tokens of each expert as whole numbers, such as 120,80; found '" +
                                  spec.simulate.expert_histogram.value_or("") + "'"};
  }
  try {
    protocol::expert_shares(resolved.load, num_experts, spec.common.parallel.expert_model_parallel_size);
  } catch (const protocol::DocumentError& problem) {
    return LoadProblem{key, message_of(problem)};
  }
  return resolved;
}

}  // namespace rematch::spec
