// A small valid sweep and the trainer of the example describe document, for the tests of spec, compat and plan.
#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "orchestrator/spec/sweep.h"
#include "schemas/protocol/describe.h"

namespace rematch::spec {

// "valid" has one family, mla_moe; "valid-families" also dense_gqa, hybrid and gdn_moe.
inline protocol::Describe example_trainer(const std::string& name = "valid") {
  std::ifstream file(REMATCH_SOURCE_DIR "/schemas/examples/describe/" + name + ".json");
  return protocol::parse_describe(nlohmann::json::parse(file));
}

inline const std::string kSampleSweep = R"(schema: rematch/sweep/1
name: sample
model:
  preset: moonlight_16b
  num_layers: 4
  hidden_size: 256
training:
  seq_length: 256
  micro_batch_size: 1
  global_batch_size: 4
  train_iters: 20
parallel:
  world_size: 2
  expert_model_parallel_size: 2
backend: {device: cpu, attention: fused, memory_limit: 2GiB}
recompute:
  control: {recompute_granularity: selective, recompute_modules: []}
  labels: [moe_act, mlp]
  sets: [[layernorm, moe_act]]
measure: {blocks: 2, smallest_effect: 3%}
launch: {kind: local, timeout: 90s}
)";

// The sample with one piece of it replaced. A piece that is not there is a mistake in the test.
inline std::string sample_with(const std::string& piece, const std::string& replacement, std::string text = kSampleSweep) {
  const auto at = text.find(piece);
  if (at == std::string::npos) throw std::invalid_argument("the sample sweep has no '" + piece + "'");
  return text.substr(0, at) + replacement + text.substr(at + piece.size());
}

inline ParsedSweep parse_sample(const std::string& text, const std::vector<Override>& overrides = {}) {
  return parse_sweep(text, "s.yaml", example_trainer(), overrides);
}

// The sample on a preset of the trainer with four families, as the preset is.
inline const std::string kOwnModel = "  preset: moonlight_16b\n  num_layers: 4\n  hidden_size: 256\n";
inline ParsedSweep parse_preset(const std::string& preset, const std::string& labels, const std::vector<Override>& overrides = {}) {
  std::string text = sample_with(kOwnModel, "  preset: " + preset + "\n");
  text = sample_with("  labels: [moe_act, mlp]\n  sets: [[layernorm, moe_act]]\n", "  labels: " + labels + "\n", text);
  text = sample_with("  expert_model_parallel_size: 2\n", "", text);
  return parse_sweep(text, "s.yaml", example_trainer("valid-families"), overrides);
}

inline std::string all_problems(const ParsedSweep& parsed) {
  std::string text;
  for (const auto& problem : parsed.problems) text += to_string(problem) + "\n";
  return text;
}

}  // namespace rematch::spec
