#include "schemas/protocol/rank_record.h"

#include <nlohmann/json.hpp>

#include "schemas/protocol/document_error.h"
#include "schemas/protocol/json_fields.h"
#include "schemas/protocol/recompute_fields.h"

namespace rematch::protocol {

using nlohmann::json;

namespace {

constexpr std::array kAllStageEvents = {StageEvent::kEnter, StageEvent::kLeave};
constexpr std::array kAllTrainExits = {TrainExit::kDone,     TrainExit::kOutOfMemory, TrainExit::kNumerics,    TrainExit::kCommunication,
                                       TrainExit::kBadTrial, TrainExit::kDeadline,    TrainExit::kInterrupted, TrainExit::kInternal};

}  // namespace

std::string_view to_string(StageEvent event) {
  switch (event) {
    case StageEvent::kEnter: return "enter";
    case StageEvent::kLeave: return "leave";
  }
  return "unknown";
}

void read_value(const Place& place, Stage& stage) { stage = read_named(place, kAllStages); }
void read_value(const Place& place, Phase& phase) { phase = read_named(place, kAllPhases); }
void read_value(const Place& place, FailureKind& kind) { kind = read_named(place, kAllFailureKinds); }
void read_value(const Place& place, Provenance& provenance) { provenance = read_named(place, kAllProvenances); }
void read_value(const Place& place, Role& role) { role = read_named(place, kAllRoles); }
void read_value(const Place& place, Pass& pass) { pass = read_named(place, kAllPasses); }
void read_value(const Place& place, CommOperation& operation) { operation = read_named(place, kAllCommOperations); }
void read_value(const Place& place, StageEvent& event) { event = read_named(place, kAllStageEvents); }

void read_value(const Place& place, TrainExit& exit_code) {
  std::int64_t code = 0;
  std::string wanted;
  read_value(place, code);
  for (const TrainExit known : kAllTrainExits) {
    if (static_cast<std::int64_t>(known) == code) {
      exit_code = known;
      return;
    }
    wanted += (wanted.empty() ? "" : ", ") + std::to_string(static_cast<int>(known));
  }
  fail_at(place, "an exit code of the trainer, one of " + wanted);
}

void write_value(Slot slot, TrainExit exit_code) { write_value(slot, static_cast<std::int64_t>(exit_code)); }

template <typename Visitor, Is<PhasePeak> Peak>
void visit_fields(Visitor& field, Peak& peak) {
  field("duration_ns", peak.duration_ns, at_least(0));
  field("peak_allocated_bytes", peak.peak_allocated_bytes, at_least(0));
  field("peak_reserved_bytes", peak.peak_reserved_bytes, at_least(0));
}

void read_value(const Place& place, PhasePeaks& peaks) {
  peaks.clear();
  for (const auto& [name, member] : members_of(place)) {
    const json name_json = name;
    read_value(member, peaks[read_named(Place{name_json, place.path + " (a phase)"}, kAllPhases)]);
  }
}

void write_value(Slot slot, const PhasePeaks& peaks) {
  const Slot object = make_object(slot);
  for (const auto& [phase, peak] : peaks) write_value(member_of(object, std::string(to_string(phase))), peak);
}

template <typename Visitor, Is<AttributedBytes> Part>
void visit_fields(Visitor& field, Part& part) {
  field("role", part.role);
  field("region", part.region);
  field("bytes", part.bytes, at_least(1));
}

template <typename Visitor, Is<CommCount> Count>
void visit_fields(Visitor& field, Count& count) {
  field("axis", count.axis, not_empty());
  field("pass", count.pass);
  field("operation", count.operation);
  field("num_calls", count.num_calls, at_least(1));
  field("bytes", count.bytes, at_least(0));
  field("duration_ns", count.duration_ns, at_least(0));
}

template <typename Visitor, Is<WorkCount> Count>
void visit_fields(Visitor& field, Count& count) {
  field("pass", count.pass);
  field("matmul_flops", count.matmul_flops, at_least(0));
  field("matmul_bytes", count.matmul_bytes, at_least(0));
  field("other_bytes", count.other_bytes, at_least(0));
  field("num_kernels", count.num_kernels, at_least(1));
}

template <typename Visitor, Is<PipelineSlot> Slot>
void visit_fields(Visitor& field, Slot& slot) {
  field("phase", slot.phase);
  field("micro_batch", slot.micro_batch, at_least(0));
  field("model_chunk", slot.model_chunk, at_least(0));
  field("duration_ns", slot.duration_ns, at_least(0));
  field("peak_allocated_bytes", slot.peak_allocated_bytes, at_least(0));
}

template <typename Visitor, Is<MachineSetting> Machine>
void visit_fields(Visitor& field, Machine& machine) {
  field("num_devices", machine.num_devices, at_least(0));
  field("device_id", machine.device_id);
  field("driver_version", machine.driver_version);
  field("cuda_version", machine.cuda_version);
  field("nccl_version", machine.nccl_version);
  field("link_types", machine.link_types);
  field("cpu_affinity", machine.cpu_affinity);
  field("allocator_settings", machine.allocator_settings);
  field("environment", machine.environment);
}

template <typename Visitor, Is<HelloRecord> Hello>
void visit_fields(Visitor& field, Hello& hello) {
  field.constant("schema", kRankSchema);
  field("trial_id", hello.trial_id, hex_digits(16));
  field("rank", hello.rank, at_least(0));
  field("world_size", hello.world_size, at_least(1));
  field("local_rank", hello.local_rank, at_least(0));
  field("host", hello.host);
  field("pid", hello.pid, at_least(0));
  field("unix_ns", hello.unix_ns, at_least(0));
  field("device", hello.device, one_of({"cpu", "cuda", "meta"}));
  field("device_name", hello.device_name);
  field("provenance", hello.provenance);
  field("build_id", hello.build_id);
  field("libtorch_version", hello.libtorch_version);
  field("comm_backend", hello.comm_backend, one_of({"gloo", "nccl", "fake", "single"}));
  field("omp_num_threads", hello.omp_num_threads, at_least(1));
  field("resolved_recompute", hello.resolved_recompute);
  field("machine", hello.machine);
}

template <typename Visitor, Is<ModelRecord> Model>
void visit_fields(Visitor& field, Model& model) {
  field("num_parameters_local", model.num_parameters_local, at_least(0));
  field("num_parameters_total", model.num_parameters_total, at_least(0));
  field("flops_per_step", model.flops_per_step, at_least(0));
  field("sites", model.sites);
  field("sites_available", model.sites_available);
  field("phases", model.phases);
}

template <typename Visitor, Is<StageRecord> Record>
void visit_fields(Visitor& field, Record& stage) {
  field("stage", stage.stage);
  field("event", stage.event);
  field("step", stage.step, at_least(0));
  field("unix_ns", stage.unix_ns, at_least(0));
  field("mono_ns", stage.mono_ns, at_least(0));
}

// Where nothing is computed there is no loss.
static auto hex_digits_or_none() {
  return Check{[](const Place& place, const std::string& value) {
    if (!value.empty()) check_hex(place, value, 8);
  }};
}

template <typename Visitor, Is<StepRecord> Step>
void visit_fields(Visitor& field, Step& step) {
  field("step", step.step, at_least(0));
  field("start_mono_ns", step.start_mono_ns, at_least(0));
  field("step_time_ns", step.step_time_ns, at_least(0));
  field("loss", step.loss);
  field("loss_bits", step.loss_bits, hex_digits_or_none());
  field("grad_norm", step.grad_norm, at_least(0));
  field("skipped", step.skipped);
  field("is_nan", step.is_nan);
  field("phases", step.phases);
  field("end_allocated_bytes", step.end_allocated_bytes, at_least(0));
  field("end_reserved_bytes", step.end_reserved_bytes, at_least(0));
  field("lifetime_peak_allocated_bytes", step.lifetime_peak_allocated_bytes, at_least(0));
  field("lifetime_peak_reserved_bytes", step.lifetime_peak_reserved_bytes, at_least(0));
  field("num_alloc_retries", step.num_alloc_retries, at_least(0));
  field("largest_free_block_bytes", step.largest_free_block_bytes, at_least(0));
  field("forward_end_allocated_bytes", step.forward_end_allocated_bytes, at_least(0));
  field("forward_end_requested_bytes", step.forward_end_requested_bytes, at_least(0));
  field("replays", step.replays);
  field("tokens_received", step.tokens_received);
  field("peak_attribution", step.peak_attribution);
  field("aux_losses", step.aux_losses);
  field("communication", step.communication);
  field("work", step.work);
  field("slots", step.slots);
}

template <typename Visitor, Is<OomRecord> Oom>
void visit_fields(Visitor& field, Oom& oom) {
  field("stage", oom.stage);
  field("step", oom.step, at_least(0));
  field("phase", oom.phase);
  field("requested_bytes", oom.requested_bytes, at_least(0));
  field("allocated_bytes", oom.allocated_bytes, at_least(0));
  field("reserved_bytes", oom.reserved_bytes, at_least(0));
  field("capacity_bytes", oom.capacity_bytes, at_least(0));
  field("largest_free_block_bytes", oom.largest_free_block_bytes, at_least(0));
  field("num_alloc_retries", oom.num_alloc_retries, at_least(0));
  field("scope", oom.scope);
  field("phases", oom.phases);
  field("attribution", oom.attribution);
  field("unix_ns", oom.unix_ns, at_least(0));
  field("mono_ns", oom.mono_ns, at_least(0));
  field("message", oom.message);
}

template <typename Visitor, Is<ErrorRecord> Error>
void visit_fields(Visitor& field, Error& error) {
  field("kind", error.kind);
  field("exit_code", error.exit_code);
  field("stage", error.stage);
  field("step", error.step, at_least(0));
  field("phase", error.phase);
  field("unix_ns", error.unix_ns, at_least(0));
  field("mono_ns", error.mono_ns, at_least(0));
  field("message", error.message);
  field("failed_rank", error.failed_rank, at_least(0));
}

template <typename Visitor, Is<ByeRecord> Bye>
void visit_fields(Visitor& field, Bye& bye) {
  field("exit_code", bye.exit_code);
  field("steps_completed", bye.steps_completed, at_least(0));
  field("lifetime_peak_allocated_bytes", bye.lifetime_peak_allocated_bytes, at_least(0));
  field("lifetime_peak_reserved_bytes", bye.lifetime_peak_reserved_bytes, at_least(0));
  field("unix_ns", bye.unix_ns, at_least(0));
}

namespace {

// In the order of RankRecord's alternatives.
constexpr std::array<const char*, 7> kKinds = {"hello", "model", "stage", "step", "oom", "error", "bye"};
static_assert(kKinds.size() == std::variant_size_v<RankRecord>);

template <std::size_t... kIndex>
RankRecord read_kind(const json& document, const std::string& kind, std::index_sequence<kIndex...>) {
  std::optional<RankRecord> record;
  const auto read_if = [&]<typename Alternative>(const char* name, std::type_identity<Alternative>) {
    if (kind == name) record = read_document<Alternative>(document, kind, UnknownKeys::kTolerate);
  };
  (read_if(kKinds[kIndex], std::type_identity<std::variant_alternative_t<kIndex, RankRecord>>{}), ...);
  return std::move(record).value();
}

json parse_object(const std::string& line) {
  try {
    return json::parse(line);
  } catch (const json::exception& error) {
    throw DocumentError(std::string("record: wanted one JSON object, found something else: ") + printable(error.what()));
  }
}

std::string kind_of(const json& document) {
  const Place place{document, "record"};
  for (const auto& [key, member] : members_of(place)) {
    if (key != "t") continue;
    std::string kind;
    read_value(member, kind);
    check_one_of(member, kind, {kKinds.begin(), kKinds.end()});
    return kind;
  }
  fail_at(place, "a key \"t\" with the record's kind");
}

}  // namespace

std::string to_line(const RankRecord& record) {
  json document = std::visit([](const auto& alternative) { return json_document(alternative); }, record);
  document["t"] = kKinds[record.index()];
  // A message may hold bytes that are not UTF-8; the line must be readable all the same.
  return document.dump(-1, ' ', false, json::error_handler_t::replace);
}

RankRecord parse_line(const std::string& line) {
  const json document = parse_object(line);
  return read_kind(document, kind_of(document), std::make_index_sequence<kKinds.size()>{});
}

}  // namespace rematch::protocol
