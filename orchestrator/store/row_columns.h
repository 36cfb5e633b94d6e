// The columns of each table that holds protocol records, by member. The names are those of schemas/sql. See columns.h.
#pragma once

#include <concepts>
#include <type_traits>

#include "orchestrator/base/rows.h"
#include "orchestrator/store/columns.h"

namespace rematch::store {

// Row or const Row: reading fills it in, writing only looks.
template <typename R, typename Row>
concept RowOf = std::same_as<std::remove_const_t<R>, Row>;

inline constexpr std::int64_t kNoStep = -1;

struct PhaseRow {
  std::string source;  // model | step | oom
  std::int64_t step = kNoStep;
  protocol::Phase phase = protocol::Phase::kOther;
  protocol::PhasePeak peak;
};

struct AttributionRow {
  std::string source;  // step | oom
  std::int64_t step = kNoStep;
  protocol::AttributedBytes part;
};

struct CommunicationRow {
  std::int64_t step = kNoStep;
  protocol::CommCount count;
};

struct WorkRow {
  std::int64_t step = kNoStep;
  protocol::WorkCount count;
};

struct LabelCountRow {
  std::string count_of;  // sites | sites_available | replays
  std::int64_t step = kNoStep;
  std::string label;
  std::int64_t num = 0;
};

template <typename V>
void describe(V& column, RowOf<PhaseRow> auto& row) {
  column("source", row.source);
  column("step", row.step);
  column("phase", row.phase);
  column("duration_ns", row.peak.duration_ns);
  column("peak_allocated_bytes", row.peak.peak_allocated_bytes);
  column("peak_reserved_bytes", row.peak.peak_reserved_bytes);
}

template <typename V>
void describe(V& column, RowOf<AttributionRow> auto& row) {
  column("source", row.source);
  column("step", row.step);
  column("role", row.part.role);
  column("region", row.part.region);
  column("bytes", row.part.bytes);
}

template <typename V>
void describe(V& column, RowOf<CommunicationRow> auto& row) {
  column("step", row.step);
  column("axis", row.count.axis);
  column("pass", row.count.pass);
  column("operation", row.count.operation);
  column("num_calls", row.count.num_calls);
  column("bytes", row.count.bytes);
  column("duration_ns", row.count.duration_ns);
}

template <typename V>
void describe(V& column, RowOf<WorkRow> auto& row) {
  column("step", row.step);
  column("pass", row.count.pass);
  column("matmul_flops", row.count.matmul_flops);
  column("matmul_bytes", row.count.matmul_bytes);
  column("other_bytes", row.count.other_bytes);
  column("num_kernels", row.count.num_kernels);
}

template <typename V>
void describe(V& column, RowOf<LabelCountRow> auto& row) {
  column("count_of", row.count_of);
  column("step", row.step);
  column("label", row.label);
  column("num", row.num);
}

template <typename V>
void describe(V& column, RowOf<protocol::StageRecord> auto& row) {
  column("stage", row.stage);
  column("event", row.event);
  column("step", row.step);
  column("unix_ns", row.unix_ns);
  column("mono_ns", row.mono_ns);
}

// Its phases, replays, attribution, communication and work are rows of their own tables.
template <typename V>
void describe(V& column, RowOf<protocol::StepRecord> auto& row) {
  column("step", row.step);
  column("start_mono_ns", row.start_mono_ns);
  column("step_time_ns", row.step_time_ns);
  column("loss", row.loss);
  column("loss_bits", row.loss_bits);
  column("grad_norm", row.grad_norm);
  column("skipped", row.skipped);
  column("is_nan", row.is_nan);
  column("end_allocated_bytes", row.end_allocated_bytes);
  column("end_reserved_bytes", row.end_reserved_bytes);
  column("lifetime_peak_allocated_bytes", row.lifetime_peak_allocated_bytes);
  column("lifetime_peak_reserved_bytes", row.lifetime_peak_reserved_bytes);
  column("num_alloc_retries", row.num_alloc_retries);
  column("largest_free_block_bytes", row.largest_free_block_bytes);
  column("forward_end_allocated_bytes", row.forward_end_allocated_bytes);
  column("forward_end_requested_bytes", row.forward_end_requested_bytes);
  column("tokens_received", row.tokens_received);
  column("aux_losses", row.aux_losses);
}

template <typename V>
void describe(V& column, RowOf<protocol::OomRecord> auto& row) {
  column("stage", row.stage);
  column("step", row.step);
  column("phase", row.phase);
  column("requested_bytes", row.requested_bytes);
  column("allocated_bytes", row.allocated_bytes);
  column("reserved_bytes", row.reserved_bytes);
  column("capacity_bytes", row.capacity_bytes);
  column("largest_free_block_bytes", row.largest_free_block_bytes);
  column("num_alloc_retries", row.num_alloc_retries);
  column("scope", row.scope);
  column("unix_ns", row.unix_ns);
  column("mono_ns", row.mono_ns);
  column("message", row.message);
}

template <typename V>
void describe(V& column, RowOf<protocol::ErrorRecord> auto& row) {
  column("kind", row.kind);
  column("exit_code", row.exit_code);
  column("stage", row.stage);
  column("step", row.step);
  column("phase", row.phase);
  column("unix_ns", row.unix_ns);
  column("mono_ns", row.mono_ns);
  column("message", row.message);
  column("failed_rank", row.failed_rank);
}

template <typename V>
void describe(V& column, RowOf<base::Failure> auto& row) {
  column("kind", row.kind);
  column("stage", row.stage);
  column("step", row.step);
  column("phase", row.phase);
  column("rank", row.rank);
  column("host", row.host);
  column("requested_bytes", row.requested_bytes);
  column("allocated_bytes", row.allocated_bytes);
  column("reserved_bytes", row.reserved_bytes);
  column("capacity_bytes", row.capacity_bytes);
  column("message", row.message);
}

template <typename V>
void describe_exit(V& column, RowOf<protocol::RankExit> auto& exit) {
  column("pid", exit.pid);
  column("exit_code", exit.exit_code);
  column("signal", exit.signal);
  column("ended_by_supervisor", exit.ended_by_supervisor);
  column("start_mono_ns", exit.start_mono_ns);
  column("end_mono_ns", exit.end_mono_ns);
}

template <typename V>
void describe_hello(V& column, RowOf<protocol::HelloRecord> auto& hello) {
  column("host", hello.host);
  column("device", hello.device);
  column("device_name", hello.device_name);
  column("provenance", hello.provenance);
  column("build_id", hello.build_id);
  column("libtorch_version", hello.libtorch_version);
  column("comm_backend", hello.comm_backend);
  column("omp_num_threads", hello.omp_num_threads);
  column("local_rank", hello.local_rank);
  column("world_size", hello.world_size);
  column("record_trial_id", hello.trial_id);
  column("record_rank", hello.rank);
  column("record_pid", hello.pid);
  column("hello_unix_ns", hello.unix_ns);
  column("resolved_recompute", hello.resolved_recompute);
  column("num_devices", hello.machine.num_devices);
  column("device_id", hello.machine.device_id);
  column("driver_version", hello.machine.driver_version);
  column("cuda_version", hello.machine.cuda_version);
  column("nccl_version", hello.machine.nccl_version);
  column("link_types", hello.machine.link_types);
  column("cpu_affinity", hello.machine.cpu_affinity);
  column("allocator_settings", hello.machine.allocator_settings);
  column("environment", hello.machine.environment);
}

// Its stages, steps, sites and errors are rows of their own tables.
template <typename V>
void describe(V& column, RowOf<base::RankRows> auto& row) {
  column("rank", row.rank);
  column("record_complete", row.record_complete);
  column("record_problems", row.record_problems);
  describe_exit(column, row.exit);
  column.part("has_hello", row.hello, [](auto& inner, auto& hello) { describe_hello(inner, hello); });
  column.part("has_model", row.model, [](auto& inner, auto& model) {
    inner("num_parameters_local", model.num_parameters_local);
    inner("num_parameters_total", model.num_parameters_total);
    inner("flops_per_step", model.flops_per_step);
  });
  column.part("has_bye", row.bye, [](auto& inner, auto& bye) {
    inner("bye_exit_code", bye.exit_code);
    inner("steps_completed", bye.steps_completed);
    inner("lifetime_peak_allocated_bytes", bye.lifetime_peak_allocated_bytes);
    inner("lifetime_peak_reserved_bytes", bye.lifetime_peak_reserved_bytes);
    inner("bye_unix_ns", bye.unix_ns);
  });
}

}  // namespace rematch::store
