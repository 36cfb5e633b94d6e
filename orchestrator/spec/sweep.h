// The sweep file: text -> SweepSpec plus every problem in it, each with its place. Called by the verbs; pure (no disk, no clock).
// A spec with problems must not be planned.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "orchestrator/spec/diagnostic.h"
#include "schemas/protocol/describe.h"
#include "schemas/protocol/trial.h"

namespace rematch::spec {

inline constexpr const char* kSweepSchema = "rematch/sweep/1";
inline constexpr const char* kSimulateOrigin = "--simulate";  // of values that a simulation lays over the file's

// What a sweep is read for.
enum class SweepUse {
  kRun,
  kSimulate,  // its ranks run on the meta device and stand for those of the device that is written
};

// A value that outranks the file's: key "training.seed", value as YAML text ("7", "[moe_act, moe]", "moe_act,moe").
struct Override {
  std::string key;
  std::string value;
  std::string origin = "--set";  // "--set", "environment REMATCH_TRAINING__SEED"
};

// Where a resolved value came from, for `plan --origin`.
struct ValueOrigin {
  std::string key;
  std::string value;
  std::string origin;  // "sweep.yaml:7:3", "--set", "preset moonlight_16b", "default"
};

// One setting to try against the control.
struct Candidate {
  std::string arm;
  protocol::RecomputeSpec recompute;  // labels in the order given
  Place place;
  bool by_applicable = false;  // of `labels: applicable`, which leaves out what a rule refuses
};

// What `run --simulate` assumes; the device's row of the device table says what is not written.
struct SimulateSpec {
  std::string device = "H100-80GB";
  std::optional<std::int64_t> device_memory_bytes;
  std::optional<std::int64_t> outside_allocator_bytes;
  std::optional<std::int64_t> workspace_bytes;
  std::int64_t graph_pool_bytes = 0;
  std::optional<std::string> expert_load;       // null: forced where the model forces it, else balanced
  std::optional<double> expert_imbalance;       // of expert_load: imbalance
  std::optional<std::string> expert_histogram;  // of expert_load: histogram; "120,80,...", tokens of each expert
  std::int64_t train_iters = 3;
  std::optional<std::string> note;  // of the author: what of the setting is inferred, and from what; the report prints it
};

// How a sweep runs under Slurm. Texts are handed to Slurm as they stand: it knows its sites' units and names, this program does not.
struct SlurmSpec {
  using Texts = std::vector<std::pair<std::string, std::string>>;

  std::string shape = "allocation";      // allocation | array | trials: protocol::SubmissionShape
  Texts options;                         // Slurm's option name without dashes -> its value; of exclusive and requeue also "true", "false"
  Texts pass_through;                    // of `slurm`: options of sbatch that have no key here; an empty value: without one
  Texts srun;                            // of `srun`: options of each job step
  std::vector<std::string> setup;        // shell that the batch script runs before anything else; one or more lines each
  std::optional<std::int64_t> throttle;  // of an array: blocks that run at a time; null: no limit of ours
  std::int64_t num_nodes = 1;            // of one job; num_nodes * ranks_per_node is the world size
  std::int64_t ranks_per_node = 1;
};

// Starts with the defaults of every optional key.
struct SweepSpec {
  SweepSpec();

  std::string schema;
  std::string path;        // the file's name as given
  std::string text;        // the file, whole
  protocol::Trial common;  // what every trial of the sweep shares: `study` is the name; ids, arm, block, slot unset
  protocol::RecomputeSpec control;
  Place control_place;
  std::vector<Candidate> candidates;  // `labels` first, then `sets`, then `full`, in the file's order; no two arms share a name
  bool sets_written = false;          // a strategy adds no unions of its own
  bool full_written = false;          // nor full settings
  std::int64_t num_blocks = 3;
  bool blocks_auto = false;                // looks after 3, 5 and 8
  std::optional<std::int64_t> order_seed;  // null: training.seed
  double smallest_effect = 0.02;           // fraction
  std::optional<std::int64_t> budget_per_rank_bytes;
  std::int64_t ranks_per_node = 0;    // 0: all ranks on the one node
  std::string launch_kind = "local";  // local | slurm
  SlurmSpec slurm;                    // of launch_kind slurm
  std::string strategy_kind = "one_label";
  SimulateSpec simulate;
  std::vector<ValueOrigin> origins;  // every key: those of fixed sections, then model, then recompute
};

struct ParsedSweep {
  SweepSpec spec;
  std::vector<Diagnostic> problems;  // any: the sweep is refused
  std::vector<Warning> warnings;
};

// For kSimulate the device is meta; the trainer then need not have the one that is written, which must still be a device.
ParsedSweep parse_sweep(const std::string& text, const std::string& file_name, const protocol::Describe& trainer,
                        const std::vector<Override>& overrides, SweepUse use = SweepUse::kRun);

}  // namespace rematch::spec
