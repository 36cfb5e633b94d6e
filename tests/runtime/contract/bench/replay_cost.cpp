// bench_replay_cost [ROUNDS] [PART]: what replay costs next to the work that it does again, on the CPU, as Markdown. Every tiny preset, or
// those with PART in their name, enlarged; both attention backends; the control twice, every label and the full modes interleaved in
// rounds.
#include <ATen/ATen.h>

#include <cstdlib>
#include <iomanip>
#include <iostream>

#include "probes/host/host_identity.h"
#include "runtime/models/presets.h"
#include "runtime/recompute/policy.h"
#include "runtime/recompute/region_times.h"
#include "tests/runtime/contract/bench/cost_table.h"
#include "tests/runtime/contract/model_runs.h"

namespace rematch::tests {
namespace {

constexpr std::int64_t kHiddenSize = 256, kLength = 512, kBatch = 1;
constexpr int kDefaultRounds = 15;

using Times = std::map<std::string, recompute::RegionTime>;

struct Arm {
  std::string name;
  std::string label;               // under which its replays are timed
  std::vector<std::string> parts;  // what it replays, by the labels that the control times
  std::unique_ptr<TrainedModel> model;
  ArmSamples samples;
};

struct TimedStep {
  ModelRun run;
  Times times;
};

TimedStep timed_step(TrainedModel& model) {
  const recompute::RegionTimes log;
  auto run = model.step();
  return {std::move(run), log.by_label()};
}

std::vector<Arm> arms_of(const ModelCase& model) {
  std::vector<Arm> arms;
  const auto add = [&](std::string name, std::string label, std::vector<std::string> parts, const protocol::RecomputeSpec& recompute) {
    auto built = std::make_unique<TrainedModel>(model, recompute);
    arms.push_back({name, std::move(label), std::move(parts), std::move(built), {.arm = name, .rounds = {}}});
  };
  const auto fields = resolved_fields(model.preset, model.overrides);
  const auto& family = family_of_preset(model.preset);
  for (const auto& row : family.labels)
    if (protocol::count_sites(family, fields, row.label) > 0) add(row.label, row.label, {row.label}, selective({row.label}));
  std::vector<std::string> layers;
  for (std::int64_t i = 0; i < std::get<std::int64_t>(fields.at("num_layers")); ++i) layers.push_back("layers." + std::to_string(i));
  add("full, uniform 1", recompute::kFullRecompute, layers, full("uniform", 1));
  add("full, block 1", recompute::kFullRecompute, {layers.front()}, full("block", 1));
  return arms;
}

double forward_ns(const Times& times, const std::vector<std::string>& parts) {
  double sum = 0;
  for (const auto& part : parts) sum += static_cast<double>(times.at(part).forward_ns);
  return sum;
}

bool equal_losses(const ModelRun& a, const ModelRun& b) {
  for (std::size_t i = 0; i < a.losses.size(); ++i)
    if (!at::equal(a.losses[i], b.losses[i])) return false;
  return true;
}

// Of all rounds, since gradients add up. Not in every round: reading them all would make the next step start with a cold cache.
bool equal_grads(const ModelRun& a, const ModelRun& b) {
  for (const auto& [name, grad] : a.grads) {
    const auto& other = b.grads.at(name);
    if (grad.defined() != other.defined() || (grad.defined() && !at::equal(grad, other))) return false;
  }
  return true;
}

struct Measured {
  double control_step_ns = 0;
  std::vector<double> aa_differences;  // of the round's second control from its first, relative
  std::vector<CostRow> rows;
};

// The round's control is the mean of its first step and its last: what drifts evenly through a round then weighs on an arm half.
Measured measure(const ModelCase& model, int num_rounds) {
  TrainedModel first(model, selective({})), last(model, selective({}));
  auto arms = arms_of(model);
  Measured measured;
  std::vector<double> control_steps_ns;
  for (int round = -1; round < num_rounds; ++round) {
    const auto before = timed_step(first);
    std::vector<TimedStep> steps;
    for (auto& arm : arms) steps.push_back(timed_step(*arm.model));
    const auto after = timed_step(last);
    for (std::size_t i = 0; i < arms.size(); ++i) {
      auto& equal = arms[i].samples.equal_bits;
      equal = equal && equal_losses(before.run, steps[i].run) && (round + 1 < num_rounds || equal_grads(before.run, steps[i].run));
      arms[i].samples.replays = steps[i].run.replays.at(arms[i].label);
    }
    if (round < 0) continue;  // warm-up: the first step allocates the gradients
    const auto first_ns = static_cast<double>(before.run.step_cpu_ns), last_ns = static_cast<double>(after.run.step_cpu_ns);
    const auto control_wall_ns = static_cast<double>(before.run.step_wall_ns + after.run.step_wall_ns) / 2;
    measured.aa_differences.push_back(last_ns / first_ns - 1);
    control_steps_ns.push_back((first_ns + last_ns) / 2);
    for (std::size_t i = 0; i < arms.size(); ++i)
      arms[i].samples.rounds.push_back({.wall_ratio = static_cast<double>(steps[i].run.step_wall_ns) / control_wall_ns,
                                        .step_ns = static_cast<double>(steps[i].run.step_cpu_ns),
                                        .control_step_ns = control_steps_ns.back(),
                                        .work_ns = (forward_ns(before.times, arms[i].parts) + forward_ns(after.times, arms[i].parts)) / 2,
                                        .replay_ns = static_cast<double>(steps[i].times.at(arms[i].label).replay_ns)});
  }
  measured.control_step_ns = median(control_steps_ns);
  for (const auto& arm : arms) measured.rows.push_back(cost_row(arm.samples));
  return measured;
}

void print(const ModelCase& model, const Measured& measured) {
  const auto bounds = median_bounds(measured.aa_differences);
  std::cout << "\n## " << model.preset << ", " << (model.backend == nn::AttentionBackend::kFused ? "fused" : "unfused") << " attention\n\n"
            << std::fixed << std::setprecision(1) << "Control: " << measured.control_step_ns / 1e6 << " ms a step. A/A: " << std::showpos
            << std::setprecision(2) << 100 * median(measured.aa_differences) << " % (" << 100 * bounds.low << " to " << 100 * bounds.high
            << ").\n\n"
            << std::noshowpos << cost_table(measured.rows, median(measured.aa_differences)) << std::flush;
}

int run(int num_rounds, const std::string& part) {
  std::cout << "- Machine: " << probes::cpu_model_name() << ", one thread.\n- Rounds: " << num_rounds << " and one to warm up; medians.\n"
            << "- Models: the tiny presets with hidden_size " << kHiddenSize << "; a step is one micro-batch of " << kLength
            << " tokens; no optimizer.\n";
  bool equal = true;
  for (const auto& preset : models::presets()) {
    if (preset.name.find("_tiny") == std::string::npos || preset.name.find(part) == std::string::npos) continue;
    for (const auto backend : {nn::AttentionBackend::kFused, nn::AttentionBackend::kUnfused}) {
      const ModelCase model{.preset = preset.name,
                            .overrides = {{"hidden_size", kHiddenSize}},
                            .backend = backend,
                            .length = kLength,
                            .batch = kBatch,
                            .num_microbatches = 1};
      const auto measured = measure(model, num_rounds);
      print(model, measured);
      for (const auto& row : measured.rows) equal = equal && row.equal_bits;
    }
  }
  return equal ? 0 : 1;
}

}  // namespace
}  // namespace rematch::tests

int main(int argc, char** argv) {
  return rematch::tests::run(argc > 1 ? std::atoi(argv[1]) : rematch::tests::kDefaultRounds, argc > 2 ? argv[2] : "");
}
