#include "orchestrator/plan/starter_text.h"

#include <nlohmann/json.hpp>

#include "orchestrator/base/shell_text.h"
#include "orchestrator/spec/sweep.h"

namespace rematch::plan {

namespace {

constexpr std::size_t kCommentColumn = 44;

// "  key: value        # comment"
std::string line(std::string text, const std::string& comment) {
  if (comment.empty()) return text + "\n";
  text.resize(std::max(text.size() + 2, kCommentColumn), ' ');
  return text + "# " + comment + "\n";
}

std::string line(const std::string& key, std::int64_t value, const std::string& comment) {
  return line("  " + key + ": " + std::to_string(value), comment);
}

bool on_gpus(const Starter& starter) { return starter.device == "cuda"; }

std::string head_text(const Starter& starter) {
  const std::string file = base::shell_quoted(starter.file);
  std::string text = "# What each recompute label saves and costs on " + starter.preset->name + " (" + starter.family->name + ": " +
                     starter.size + ").\n#\n#   rematch plan " + file + "        what would run, in which order\n";
  if (on_gpus(starter))
    text += "#   rematch run --simulate " + file + "        predicts it without a GPU: each distinct rank once, on the meta device\n";
  text += "#   rematch run " + file + "        runs it; run it again to go on where it stopped\n";
  const std::int64_t num_gpus = starter.layout.world_size;
  if (on_gpus(starter))
    text += "#\n# It wants " + std::to_string(num_gpus) + (num_gpus == 1 ? " GPU" : " GPUs") + " where it is not simulated.\n";
  if (!starter.layout.source.empty()) text += "# " + std::string(starter.layout.source) + "\n";
  return text +
         "#\n# Every run trains the same model on the same data; nothing but the recompute setting differs. Names are "
         "Megatron's.\nschema: " +
         spec::kSweepSchema + "\nname: " + starter.preset->name + "\n";
}

std::string model_text(const Starter& starter) {
  std::string text =
      "\n# The preset sets every field of the model. Write one of these below `preset` to replace its value.\nmodel:\n  preset: " +
      starter.preset->name + "\n";
  for (const protocol::FieldDescription& field : starter.family->fields) {
    const auto own = starter.preset->fields.find(field.name);
    const protocol::FieldValue& value = own == starter.preset->fields.end() ? field.default_value : own->second;
    text += line("  # " + field.name + ": " + protocol::to_json_value(value).dump(), field.meaning);
  }
  return text;
}

// Steps of one run.
struct Steps {
  int num_warmup;
  int num_steady;
  int num_spare;
};

Steps steps_of(const Starter& starter) { return on_gpus(starter) ? Steps{5, 10, 5} : Steps{3, 10, 1}; }

std::string training_text(const Starter& starter) {
  const Steps steps = steps_of(starter);
  return "\ntraining:\n" + line("seq_length", starter.layout.seq_length, "tokens of one sequence") +
         line("micro_batch_size", 1, "sequences that a rank takes at a time") +
         line("global_batch_size", starter.layout.global_batch_size, "sequences of one step, over all ranks") +
         line("train_iters", steps.num_warmup + steps.num_steady + steps.num_spare,
              "steps of one run: warm-up and steady ones, and " + std::to_string(steps.num_spare) + " to spare") +
         line("seed", 1234, "of weights and data") + line("  bf16: true", "weights, gradients and activations; fp32 otherwise");
}

std::string optimizer_text(const Starter& starter) {
  return "\noptimizer:\n" + line("  use_distributed_optimizer: true", "each rank keeps the optimizer state of its shard") +
         line("  grad_reduce_in_fp32: false", "gradients are summed in bf16") +
         (on_gpus(starter) ? line("  gradient_accumulation_fusion: true", "weight gradients are added where they are summed") : "");
}

std::string parallel_text(const StarterLayout& layout) {
  std::string text = "\nparallel:\n" + line("world_size", layout.world_size, "ranks");
  text += line("tensor_model_parallel_size", layout.tensor, "ranks that share each matrix");
  text += line("pipeline_model_parallel_size", layout.pipeline, "stages");
  if (layout.virtual_pipeline > 1)
    text += line("virtual_pipeline_model_parallel_size", layout.virtual_pipeline, "chunks of layers a rank holds");
  if (layout.first_stage_layers > 0)
    text += line("num_layers_in_first_pipeline_stage", layout.first_stage_layers, "the others share what is left") +
            line("num_layers_in_last_pipeline_stage", layout.last_stage_layers, "the loss stands here as well");
  text += line("context_parallel_size", 1, "ranks that share each sequence");
  if (layout.expert > 1)
    text += line("expert_model_parallel_size", layout.expert, "ranks that share the experts of a layer") +
            line("expert_tensor_parallel_size", 1, "ranks that share one expert");
  if (layout.tensor > 1) text += line("  sequence_parallel: true", "norms and dropout work on a share of the sequence");
  return text;
}

std::string backend_text(const Starter& starter) {
  const bool on_cpu = starter.device == "cpu";
  return "\nbackend:\n" +
         line("  device: " + starter.device,
              on_cpu ? "real computation and time on cores, memory by a modelled GPU allocator" : "GPUs; --simulate predicts without one") +
         line(on_cpu ? "  attention: unfused" : "  attention: fused",
              on_cpu ? "keeps scores and probabilities, which core_attn drops; or fused" : "keeps softmax statistics alone; or unfused") +
         line("  # memory_limit: 80GB", "of one rank; what needs more runs out of memory");
}

std::string labels_text(const Starter& starter) {
  std::string text =
      "  # Labels of Megatron Core " + starter.core_revision + " (recompute_modules), each alone against the control.\n  labels:\n";
  for (const StarterLabel& label : starter.labels)
    text += label.why_not.empty() ? line("    - " + label.label, "drops " + label.drops)
                                  : line("    # " + label.label, "not here: " + label.why_not);
  return text;
}

std::string recompute_text(const Starter& starter) {
  std::vector<std::string> arms;
  for (const StarterLabel& label : starter.labels)
    if (label.why_not.empty()) arms.push_back(label.label);
  const std::string pair = arms.size() > 1 ? "[" + arms[0] + ", " + arms[1] + "]" : "[" + (arms.empty() ? "" : arms[0]) + "]";
  return "\nrecompute:\n  # The control recomputes nothing, and says so: without recompute_modules Megatron takes core_attn.\n"
         "  control: {recompute_granularity: selective, recompute_modules: []}\n" +
         labels_text(starter) + line("  # sets: [" + pair + "]", "labels together") +
         line("  # full: [{recompute_method: uniform, recompute_num_layers: 1}]", "whole layers") +
         line("  core_revision: " + starter.core_revision, "whose labels and rules apply");
}

std::string measure_text(const Starter& starter) {
  const Steps steps = steps_of(starter);
  return "\n# Each block runs the control twice and every other arm once, in an order of its own.\nmeasure:\n" +
         line("blocks", on_gpus(starter) ? 3 : 2, "step times have an interval from 2 on, a narrower one with more; or auto") +
         line("warmup", steps.num_warmup, "steps that count for memory and not for time, at least") +
         line("steady_steps", steps.num_steady, "steps after warm-up that a pass wants") +
         line("  # smallest_effect: 2%", "of step time; less is called equal") +
         "\n# The answer is then the narrowest arm that stays within this.\n# budget:\n" +
         line("#   per_rank_memory: 64GB", "peak allocated of the fullest rank, at most");
}

std::string launch_text(const Starter& starter) {
  std::string text;
  if (on_gpus(starter)) text += "\nsimulate:\n" + line("  device: H100-80GB", "what --simulate stands for");
  return text + "\nlaunch:\n" + line("  kind: local", "or slurm") +
         line(std::string("  timeout: ") + (on_gpus(starter) ? "30min" : "2min"), "of one run");
}

}  // namespace

std::string text_of(const Starter& starter) {
  return head_text(starter) + model_text(starter) + training_text(starter) + optimizer_text(starter) + parallel_text(starter.layout) +
         backend_text(starter) + recompute_text(starter) + measure_text(starter) + launch_text(starter);
}

}  // namespace rematch::plan
