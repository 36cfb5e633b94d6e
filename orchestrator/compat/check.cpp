#include "orchestrator/compat/check.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "orchestrator/spec/nearest.h"
#include "schemas/protocol/json_fields.h"

namespace rematch::compat {

namespace {

using nlohmann::json;

// Where a key stands in the line, for a message; 1 where it does not.
std::size_t column_of(std::string_view text, const std::string& key) {
  const std::size_t found = text.find("\"" + key + "\"");
  return found == std::string_view::npos ? 1 : found + 1;
}

struct Line {
  std::string_view text;
  json document;
  LineProblem problem(const std::string& key, const std::string& message) const { return {column_of(text, key), message}; }
};

std::optional<LineProblem> read_revision(const Line& line, const std::optional<std::string>& given, Configuration& configuration) {
  std::string revision = given.value_or("");
  if (line.document.contains("revision")) {
    if (!line.document["revision"].is_string())
      return line.problem("revision", "wanted revision to be a text, found " + line.document["revision"].dump());
    revision = line.document["revision"].get<std::string>();
  }
  const std::string known = "known: " + spec::join(protocol::revision_names(), ", ");
  if (revision.empty())
    return line.problem("revision", "wanted revision, found none: write it in the line or give --core-revision; " + known);
  const auto resolved = protocol::resolve_revision(revision);
  if (!resolved)
    return line.problem("revision", "wanted a revision that is known, found '" + protocol::printable(revision) + "'; " + known);
  configuration.core_revision = std::string(*resolved);
  return std::nullopt;
}

std::optional<LineProblem> read_version(const Line& line, const std::string& key, std::optional<Version>& version) {
  if (!line.document.contains(key) || line.document[key].is_null()) return std::nullopt;
  const json& value = line.document[key];
  if (value.is_string()) version = Version::parse(value.get<std::string>());
  if (version) return std::nullopt;
  return line.problem(key, "wanted " + key + " as \"2.6.0\" or \"2.6.0.dev0\" or null, found " + value.dump());
}

std::optional<LineProblem> read_surroundings(const Line& line, Surroundings& surroundings) {
  if (!line.document.contains("surroundings")) return std::nullopt;
  const std::vector<std::pair<std::string, bool*>> flags = {{"recompute_activations", &surroundings.recompute_activations},
                                                            {"backward_by_grad", &surroundings.backward_by_grad},
                                                            {"cross_attention", &surroundings.cross_attention},
                                                            {"stage_input_requires_grad", &surroundings.stage_input_requires_grad}};
  std::vector<std::string> names;
  for (const auto& [name, flag] : flags) names.push_back(name);
  if (!line.document["surroundings"].is_object()) return line.problem("surroundings", "wanted surroundings to be an object");
  for (const auto& [key, value] : line.document["surroundings"].items()) {
    const auto flag = std::find_if(flags.begin(), flags.end(), [&key = key](const auto& row) { return row.first == key; });
    if (flag == flags.end()) return line.problem(key, spec::unknown_name_message(key, "a key of surroundings", names));
    if (!value.is_boolean()) return line.problem(key, "wanted " + key + " to be true or false, found " + value.dump());
    *flag->second = value.get<bool>();
  }
  return std::nullopt;
}

bool names_no_model(const json& config) {
  return !config.contains("num_layers") || !config.contains("hidden_size") || !config.contains("num_attention_heads");
}

std::optional<LineProblem> read_config(const Line& line, CheckInput& input) {
  const bool is_object = line.document.contains("config") && line.document["config"].is_object();
  if (!is_object) return line.problem("config", "wanted config to be an object of Megatron's fields");
  const json& config = line.document["config"];
  set_revision_defaults(input.configuration);
  input.is_fragment = names_no_model(config);
  if (input.is_fragment) read_fields(plain_base(input.configuration.core_revision), input.configuration);
  read_fields(config, input.configuration);
  return std::nullopt;
}

std::optional<LineProblem> read_parts(const Line& line, const std::optional<std::string>& core_revision, CheckInput& input) {
  if (auto problem = read_revision(line, core_revision, input.configuration)) return problem;
  if (auto problem = read_version(line, "te_version", input.configuration.te_version)) return problem;
  if (auto problem = read_version(line, "torch_version", input.configuration.torch_version)) return problem;
  if (auto problem = read_surroundings(line, input.configuration.surroundings)) return problem;
  return read_config(line, input);
}

template <typename Test>
Names ids_where(const Judgement& judgement, const Test& test) {
  Names ids;
  for (const Violation& violation : judgement.violations)
    if (test(violation) && !contains(ids, violation.id)) ids.push_back(violation.id);
  return ids;
}

json resolved_json(const Configuration& configuration, const Resolved& resolved) {
  const MegatronConfig& config = configuration.config;
  json document = {{"recompute_granularity", nullptr},
                   {"recompute_modules", resolved.modules},
                   {"recompute_method", nullptr},
                   {"recompute_num_layers", nullptr}};
  if (resolved.granularity) document["recompute_granularity"] = *resolved.granularity;
  if (config.recompute_method) document["recompute_method"] = *config.recompute_method;
  if (config.recompute_num_layers) document["recompute_num_layers"] = *config.recompute_num_layers;
  return document;
}

json violation_json(const Violation& violation, Policy policy) {
  return {{"rule", violation.id},
          {"part", violation.part},
          {"effect", to_string(violation.effect)},
          {"origin", to_string(violation.origin)},
          {"refuses", refuses(violation, policy)},
          {"reason", violation.reason},
          {"detail", violation.detail}};
}

std::string_view heading(const Violation& violation, Policy policy) {
  switch (violation.effect) {
    case Effect::kRefuse: return refuses(violation, policy) ? "refused" : "refused elsewhere";
    case Effect::kIgnore: return "ignored";
    case Effect::kRewrite: return "rewritten";
    case Effect::kWarn: return "warning";
  }
  return "";
}

std::string resolved_text(const Configuration& configuration, const Resolved& resolved) {
  const json document = resolved_json(configuration, resolved);
  std::string text;
  for (const auto& [key, value] : document.items()) text += (text.empty() ? "" : ", ") + key + " " + value.dump();
  return text + "; " + "cuda_graph_impl " + resolved.graph_impl + ", graphed modules [" + joined(resolved.graph_modules) + "]";
}

}  // namespace

json plain_base(std::string_view core_revision) {
  json base = {{"num_layers", 8}, {"hidden_size", 256},           {"num_attention_heads", 8}, {"add_bias_linear", false},
               {"bf16", true},    {"pipeline_dtype", "bfloat16"}, {"attention_dropout", 0.0}, {"hidden_dropout", 0.0}};
  base[core_revision == protocol::kRelease0161 ? "cuda_graph_scope" : "cuda_graph_modules"] = json::array();
  return base;
}

std::variant<CheckInput, LineProblem> read_check_line(std::string_view text, const std::optional<std::string>& core_revision) {
  Line line{text, {}};
  try {
    line.document = json::parse(text);
  } catch (const json::parse_error& error) {
    return LineProblem{error.byte, "wanted one JSON object; the text breaks here"};
  } catch (const json::out_of_range&) {
    return LineProblem{1, "wanted numbers that fit; one is too large"};
  }
  if (!line.document.is_object()) return LineProblem{1, "wanted one JSON object, found " + std::string(line.document.type_name())};
  CheckInput input;
  if (auto problem = read_parts(line, core_revision, input)) return *problem;
  static const Names keys = {"revision", "te_version", "torch_version", "config", "surroundings"};
  for (const auto& [key, value] : line.document.items())
    if (!contains(keys, key)) input.keys_left.push_back(key);
  return input;
}

Judgement judge(const Configuration& configuration, Policy policy, const Rule* left_out) {
  Judgement judgement;
  judgement.violations = violations(configuration, left_out);
  for (const Violation& violation : judgement.violations)
    if (refuses(violation, policy)) judgement.accepted = false;
  return judgement;
}

json check_json(std::size_t line, const CheckInput& input, const Judgement& judgement, Policy policy) {
  const Resolved resolved = resolve(input.configuration);
  json document = {{"line", line},
                   {"core_revision", input.configuration.core_revision},
                   {"accepted", judgement.accepted},
                   {"rules", ids_where(judgement, [&](const Violation& violation) { return refuses(violation, policy); })},
                   {"warns", ids_where(judgement, [](const Violation& violation) { return violation.class_warns; })},
                   {"violations", json::array()},
                   {"resolved", nullptr},
                   {"resolved_graph", nullptr},
                   {"laid_over_plain_base", input.is_fragment},
                   {"fields_not_read", input.configuration.not_read}};
  for (const Violation& violation : judgement.violations) document["violations"].push_back(violation_json(violation, policy));
  if (!judgement.accepted) return document;
  document["resolved"] = resolved_json(input.configuration, resolved);
  document["resolved_graph"] = {{"impl", resolved.graph_impl}, {"modules", resolved.graph_modules}};
  return document;
}

std::string check_text(std::size_t line, const CheckInput& input, const Judgement& judgement, Policy policy) {
  const Configuration& configuration = input.configuration;
  std::string text =
      "line " + std::to_string(line) + " (" + configuration.core_revision + "): " + (judgement.accepted ? "accepted" : "refused") + "\n";
  for (const Violation& violation : judgement.violations)
    text += "- " + std::string(heading(violation, policy)) + " [" + std::string(to_string(violation.origin)) + "] " + to_string(violation) +
            "\n";
  if (judgement.accepted) text += "- resolves to " + resolved_text(configuration, resolve(configuration)) + "\n";
  if (!configuration.not_read.empty()) text += "- no rule reads " + joined(configuration.not_read) + "\n";
  return text;
}

}  // namespace rematch::compat
