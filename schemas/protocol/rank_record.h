// The lines of rank-NNNNN.jsonl: what one rank of the trainer says of itself. One JSON object a line, key "t" names the kind.
// Written by the trainer, read by the controller's collect stage. All bytes are bytes, all *_ns are nanoseconds.
// "Not measured" is null. unix_ns is the wall clock, mono_ns the machine's monotonic clock (comparable between ranks of one host only).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "schemas/protocol/attribution.h"
#include "schemas/protocol/communication.h"
#include "schemas/protocol/outcome.h"
#include "schemas/protocol/trial.h"
#include "schemas/protocol/work.h"

namespace rematch::protocol {

inline constexpr const char* kRankSchema = "rematch/rank/1";

// What of a rank's machine and environment a comparison holds fixed. Null: the device has none, or does not tell.
struct MachineSetting {
  std::optional<std::int64_t> num_devices;         // visible to this process
  std::optional<std::string> device_id;            // "GPU-<uuid>", or the PCI bus id
  std::optional<std::string> driver_version;       // of the GPU
  std::optional<std::string> cuda_version;         // runtime, "13.0"
  std::optional<std::string> nccl_version;         // "2.28.3"
  std::optional<std::string> link_types;           // between this rank's device and the host's others: "nvlink:18", "pcie", ...
  std::string cpu_affinity;                        // list of CPUs, as in /proc: "0-3,8"
  std::optional<std::string> allocator_settings;   // PYTORCH_CUDA_ALLOC_CONF or its newer name, as found
  std::map<std::string, std::string> environment;  // recorded variables that are set: probes/host/recorded_environment.h
};

struct HelloRecord {
  std::string trial_id;
  std::int64_t rank = 0;
  std::int64_t world_size = 0;
  std::int64_t local_rank = 0;
  std::string host;
  std::int64_t pid = 0;
  std::int64_t unix_ns = 0;
  std::string device;       // cpu | cuda | meta
  std::string device_name;  // "modelled device on AMD EPYC", "NVIDIA H200", ...
  Provenance provenance = Provenance::kModelledDevice;
  std::string build_id;  // of the trainer
  std::string libtorch_version;
  std::string comm_backend;  // gloo | nccl | fake | single
  std::int64_t omp_num_threads = 1;
  RecomputeSpec resolved_recompute;  // what the trainer made of the trial's recompute section
  MachineSetting machine;
};

struct PhasePeak {
  std::int64_t duration_ns = 0;
  std::int64_t peak_allocated_bytes = 0;
  std::int64_t peak_reserved_bytes = 0;
};
using PhasePeaks = std::map<Phase, PhasePeak>;
using LabelCounts = std::map<std::string, std::int64_t>;

// Written once, when the model is built.
struct ModelRecord {
  std::int64_t num_parameters_local = 0;  // elements held by this rank
  std::int64_t num_parameters_total = 0;  // elements of the whole model
  double flops_per_step = 0;              // of the whole job, Megatron's formula; replay not counted
  LabelCounts sites;                      // label -> regions wrapped; active labels only
  LabelCounts sites_available;            // label -> regions the model has, wrapped or not; every label
  PhasePeaks phases;                      // build
};

enum class StageEvent { kEnter, kLeave };

struct StageRecord {
  Stage stage = Stage::kSpawned;
  StageEvent event = StageEvent::kEnter;
  std::optional<std::int64_t> step;  // 0-based; null before the first step
  std::int64_t unix_ns = 0;
  std::int64_t mono_ns = 0;
};

// One forward or backward of a micro-batch through one model chunk of a pipeline rank, in the order of the schedule.
struct PipelineSlot {
  Phase phase = Phase::kForward;  // kForward or kBackward
  std::int64_t micro_batch = 0;   // 0-based, of the step
  std::int64_t model_chunk = 0;   // 0-based, of this rank
  std::int64_t duration_ns = 0;
  std::int64_t peak_allocated_bytes = 0;
};

struct StepRecord {
  std::int64_t step = 0;  // 0-based
  std::int64_t start_mono_ns = 0;
  std::int64_t step_time_ns = 0;
  std::optional<double> loss;       // null when not finite
  std::string loss_bits;            // the fp32 loss as 8 hex digits: comparison to the bit
  std::optional<double> grad_norm;  // null when not finite
  bool skipped = false;
  bool is_nan = false;  // a loss or gradient norm that is not finite
  PhasePeaks phases;
  std::int64_t end_allocated_bytes = 0;
  std::int64_t end_reserved_bytes = 0;
  std::int64_t lifetime_peak_allocated_bytes = 0;
  std::int64_t lifetime_peak_reserved_bytes = 0;
  std::int64_t num_alloc_retries = 0;                       // since the process began
  std::int64_t largest_free_block_bytes = 0;                // cached and unused
  std::int64_t forward_end_allocated_bytes = 0;             // at the end of the last micro-batch's forward: what is held for backward
  std::optional<std::int64_t> forward_end_requested_bytes;  // at the same moment, without the allocator's rounding; null: an older record
  LabelCounts replays;                                      // label -> replays in this step
  std::vector<std::int64_t> tokens_received;                // per MoE layer, tokens this rank's experts got (last micro-batch)
  // Live bytes at the step's largest allocated peak, which they add up to; null where the device cannot tell.
  std::optional<Attribution> peak_attribution;
  std::map<std::string, std::optional<double>> aux_losses;  // by name; null when not finite
  std::vector<CommCount> communication;                     // sorted by axis, pass, operation; none without calls
  std::vector<WorkCount> work;                              // sorted by pass; none without kernels
  std::vector<PipelineSlot> slots;                          // empty without pipeline parallelism
};

struct OomRecord {
  Stage stage = Stage::kSpawned;
  std::optional<std::int64_t> step;
  Phase phase = Phase::kOther;
  std::int64_t requested_bytes = 0;
  std::int64_t allocated_bytes = 0;
  std::int64_t reserved_bytes = 0;
  std::optional<std::int64_t> capacity_bytes;
  std::int64_t largest_free_block_bytes = 0;
  std::int64_t num_alloc_retries = 0;
  std::string scope;                       // module path open at the request, "layer.2.mlp.experts"
  PhasePeaks phases;                       // of the step that failed, as far as it got
  std::optional<Attribution> attribution;  // live bytes at the request, allocated_bytes in all; null where the device cannot tell
  std::int64_t unix_ns = 0;
  std::int64_t mono_ns = 0;
  std::string message;
};

struct ErrorRecord {
  FailureKind kind = FailureKind::kBadExit;
  TrainExit exit_code = TrainExit::kInternal;
  Stage stage = Stage::kSpawned;
  std::optional<std::int64_t> step;
  Phase phase = Phase::kOther;
  std::int64_t unix_ns = 0;
  std::int64_t mono_ns = 0;
  std::string message;
  std::optional<std::int64_t> failed_rank;  // of a victim: the rank that failed or did not come, where this one knows it
};

struct ByeRecord {
  TrainExit exit_code = TrainExit::kDone;
  std::int64_t steps_completed = 0;
  std::int64_t lifetime_peak_allocated_bytes = 0;
  std::int64_t lifetime_peak_reserved_bytes = 0;
  std::int64_t unix_ns = 0;
};

using RankRecord = std::variant<HelloRecord, ModelRecord, StageRecord, StepRecord, OomRecord, ErrorRecord, ByeRecord>;

// One line without its newline. Never contains NaN or infinity.
std::string to_line(const RankRecord& record);
// Throws DocumentError on anything that is not such a line. An unknown key is tolerated (a newer trainer), an unknown kind is not.
RankRecord parse_line(const std::string& line);

}  // namespace rematch::protocol
