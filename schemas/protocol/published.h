// A table of measurements that others published, as data: what a prediction is set against. Written by hand, read by the controller.
// Bytes are bytes; each figure also stands as it was printed. Iterations count from 1, as training logs do: iteration k is step k - 1.
// "Not stated" is null. Failure: parse_published throws DocumentError with the JSON path; unknown keys are refused.
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schemas/protocol/field_value.h"
#include "schemas/protocol/outcome.h"

namespace rematch::protocol {

inline constexpr const char* kPublishedSchema = "rematch/published/1";

struct PublishedSource {
  std::string title;
  std::string section;
  std::optional<std::string> date;  // of the measurement
  std::optional<std::string> bridge_revision;
  std::optional<std::string> core_revision;  // of Megatron Core
  std::string hardware;
};

// Degrees, as far as they are stated.
struct PublishedLayout {
  std::int64_t world_size = 1;
  std::optional<std::int64_t> tensor_model_parallel_size;
  std::optional<std::int64_t> pipeline_model_parallel_size;
  std::optional<std::int64_t> virtual_pipeline_model_parallel_size;
  std::optional<std::int64_t> context_parallel_size;
  std::optional<std::int64_t> expert_model_parallel_size;
  std::optional<std::int64_t> data_parallel_size;
  std::optional<std::int64_t> expert_data_parallel_size;
};

struct PublishedSetting {
  std::string model;                              // by the source's name
  std::optional<std::string> preset;              // that it is here
  FieldMap changed_fields;                        // of the preset
  std::optional<std::int64_t> seq_length;         // tokens
  std::optional<std::int64_t> micro_batch_size;   // sequences
  std::optional<std::int64_t> global_batch_size;  // sequences
  std::optional<std::int64_t> train_iters;
  std::string precision;                 // by the source's words
  std::optional<std::string> attention;  // fused | unfused
  PublishedLayout layout;
  std::vector<std::string> remarks;
};

struct PublishedBytes {
  std::string as_published;  // "36.618 GB" (1e9), "72.9 GiB" (2^30): what the two below are made of
  std::int64_t bytes = 0;
  std::int64_t resolution_bytes = 1;  // one unit of the last digit
  bool is_approximate = false;        // "about"
};

// Of the allocator. The lifetime maximum is that since the process began.
struct PublishedPeak {
  PublishedBytes figure;
  std::optional<std::string> ranks;  // over which it is the maximum: "rank 0", "data-parallel rank 0" (each rank that has 0 there)
  std::optional<std::int64_t> after_iteration;
  std::optional<std::string> statistic;  // "lifetime maximum"
};

struct PublishedMean {
  double value = 0;
  std::int64_t decimal_places = 0;
  bool is_approximate = false;
  std::optional<std::int64_t> first_iteration;  // of those averaged
  std::optional<std::int64_t> last_iteration;
};

// A difference that the source prints, beside the figures that it was made of.
struct PublishedDelta {
  std::string of;                              // "peak_allocated" | "step_time_ms"
  std::string against;                         // the arm of another row
  std::optional<double> percent;               // less is negative
  std::optional<std::int64_t> decimal_places;  // of the percentage, null with it
  std::optional<PublishedBytes> magnitude;     // without its sign; this or the percentage is there
};

enum class PublishedEnd { kCompleted, kOutOfMemory, kNotStated };
inline constexpr std::array kAllPublishedEnds = {PublishedEnd::kCompleted, PublishedEnd::kOutOfMemory, PublishedEnd::kNotStated};

struct PublishedOutcome {
  PublishedEnd kind = PublishedEnd::kNotStated;
  std::optional<std::int64_t> iterations_completed;  // a failure is in the next
  std::optional<Stage> stage;                        // of the failure
  std::optional<PublishedBytes> requested;           // that could not be had
  std::optional<PublishedBytes> allocated;           // by the failing rank at that time
  std::string evidence;
};

// An arm's setting without what differs between revisions.
struct PublishedRecompute {
  std::optional<std::string> recompute_granularity;  // selective | full
  std::optional<std::vector<std::string>> recompute_modules;
  std::optional<std::string> recompute_method;  // uniform | block
  std::optional<std::int64_t> recompute_num_layers;
};

struct PublishedRow {
  std::optional<std::string> arm;  // null: the source names none
  std::optional<PublishedRecompute> recompute;
  std::string description;  // empty when the arm says it
  std::string precision;    // bf16 | fp8
  bool comparable = true;   // with a prediction of the same setting
  std::string reason;       // why not; empty when it is
  PublishedOutcome outcome;
  std::optional<PublishedPeak> peak_allocated;
  std::optional<PublishedPeak> peak_reserved;
  std::optional<PublishedMean> step_time_ms;    // milliseconds
  std::optional<PublishedMean> tflops_per_gpu;  // TFLOP/s
  std::vector<PublishedDelta> deltas;
};

struct Published {
  std::string name;  // of the sweep that it belongs to
  PublishedSource source;
  PublishedSetting setting;
  std::vector<PublishedRow> rows;  // each arm once
};

std::string_view to_string(PublishedEnd end);
nlohmann::json to_json(const Published& published);
Published parse_published(const nlohmann::json& document);
Published read_published(const std::string& path);  // the same, naming the file

// The row of this arm; nullptr: none.
const PublishedRow* find_row(const Published& published, std::string_view arm);

}  // namespace rematch::protocol
