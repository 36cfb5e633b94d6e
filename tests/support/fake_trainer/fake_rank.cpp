#include "tests/support/fake_trainer/fake_rank.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "probes/host/clock.h"
#include "probes/host/host_identity.h"
#include "probes/host/recorded_environment.h"
#include "schemas/protocol/recompute_arm.h"
#include "schemas/protocol/recompute_labels.h"
#include "schemas/protocol/trial_paths.h"
#include "tests/support/fake_trainer/misdeeds.h"
#include "tests/support/fake_trainer/step_time.h"

namespace rematch::tests {

namespace {

using namespace protocol;  // NOLINT(google-build-using-namespace): every type here is a record of the protocol

constexpr std::int64_t kMiB = 1 << 20;
constexpr std::int64_t kParameterBytes = 40 * kMiB;
constexpr std::int64_t kActivationBytes = 160 * kMiB;

// By hand LOCAL_RANK may be left out.
std::int64_t local_rank(std::int64_t rank) {
  const char* text = std::getenv("LOCAL_RANK");  // NOLINT(concurrency-mt-unsafe): nothing sets the environment
  return text == nullptr ? rank : std::stoll(text);
}

float loss_at(const Trial& trial, std::int64_t step) {
  return 5.0F / static_cast<float>(step + 1) + 2.0F + static_cast<float>(trial.training.seed % 97) / 1000.0F;
}

std::string bits_of(float value) {
  std::array<char, 9> text{};
  std::snprintf(text.data(), text.size(), "%08x", std::bit_cast<std::uint32_t>(value));
  return text.data();
}

RankRecord with_fields(const HelloRecord& hello, const std::map<std::string, std::string>& fields) {
  auto document = nlohmann::json::parse(to_line(hello));
  for (const auto& [field, value] : fields) {
    std::string pointer = "/" + field;
    std::replace(pointer.begin(), pointer.end(), '.', '/');
    document.at(nlohmann::json::json_pointer(pointer)) = nlohmann::json::parse(value);
  }
  return parse_line(document.dump());
}

Phase phase_in(Stage stage) {
  switch (stage) {
    case Stage::kSpawned:
    case Stage::kJoined:
    case Stage::kDone: return Phase::kOther;
    case Stage::kBuilt: return Phase::kBuild;
    case Stage::kFirstForward:
    case Stage::kWarm:
    case Stage::kSteady: return Phase::kForward;
    case Stage::kFirstBackward: return Phase::kBackward;
    case Stage::kFirstGradSync: return Phase::kGradSync;
    case Stage::kOptimizerInit: return Phase::kOptimizerInit;
  }
  return Phase::kOther;
}

}  // namespace

FakeRank::FakeRank(const std::filesystem::path& attempt_folder, Trial trial, std::int64_t rank, Behaviour behaviour,
                   const Describe& describe)
    : folder_(attempt_folder),
      trial_(std::move(trial)),
      rank_(rank),
      behaviour_(std::move(behaviour)),
      writer_(AttemptPaths{attempt_folder}.rank_record(rank)),
      build_id_(describe.build_id) {
  for (const FamilyDescription& family : describe.families) {
    if (family.name != trial_.model.family) continue;
    for (const std::string& label : labels_of_revision(trial_.recompute.core_revision))
      sites_available_[label] = count_sites(family, trial_.model.fields, label);
    const auto num_layers = static_cast<std::int64_t>(layer_kinds(family, trial_.model.fields).of_layer.size());
    if (trial_.recompute.recompute_granularity == "full")
      sites_available_[kFullRecompute] = num_checkpointed_groups(trial_.recompute, num_layers);
  }
  for (const std::string& key : counted_keys(trial_.recompute)) sites_[key] = sites_available_[key];
}

int FakeRank::run() {
  hello();
  for (const Stage stage : {Stage::kSpawned, Stage::kJoined, Stage::kBuilt}) {
    enter(stage);
    if (early_exit_) return *early_exit_;
    if (stage == Stage::kBuilt)
      writer_.append(
          ModelRecord{1'000'000, 2'000'000, 4.0e9, sites_, sites_available_, {{Phase::kBuild, {1000, kParameterBytes, kParameterBytes}}}});
    leave();
  }
  first_step();
  const std::int64_t last = trial_.training.train_iters;
  for (const auto& [stage, begin, end] : {std::tuple{Stage::kWarm, std::int64_t{1}, trial_.measure.warmup_steps},
                                          std::tuple{Stage::kSteady, std::max<std::int64_t>(1, trial_.measure.warmup_steps), last}}) {
    if (early_exit_) break;
    enter(stage, begin);
    for (std::int64_t index = begin; index < end && !early_exit_; ++index) step(index);
    leave();
  }
  if (early_exit_) return *early_exit_;
  enter(Stage::kDone);
  leave();
  if (early_exit_) return *early_exit_;
  writer_.append(ByeRecord{TrainExit::kDone, last, lifetime_peak_bytes_, lifetime_peak_bytes_ + 8 * kMiB, probes::unix_ns()});
  return 0;
}

void FakeRank::enter(Stage stage, std::optional<std::int64_t> step) {
  if (early_exit_) return;
  stage_ = stage;
  step_ = step;
  writer_.append(StageRecord{stage_, StageEvent::kEnter, step_, probes::unix_ns(), probes::mono_ns()});
  misbehave();
}

void FakeRank::leave() {
  if (!early_exit_) writer_.append(StageRecord{stage_, StageEvent::kLeave, step_, probes::unix_ns(), probes::mono_ns()});
}

void FakeRank::misbehave() {
  for (const Misdeed& misdeed : behaviour_.misdeeds) {
    const bool here = (!misdeed.stage || misdeed.stage == stage_) && (!misdeed.step || misdeed.step == step_);
    if (here && !early_exit_) commit(misdeed);
  }
}

void FakeRank::commit(const Misdeed& misdeed) {
  const auto record = AttemptPaths{folder_}.rank_record(rank_);
  if (misdeed.what == "hang") hang(SigtermAnswer::kDie);
  if (misdeed.what == "hang_hard") hang(SigtermAnswer::kIgnore);
  if (misdeed.what == "exit") early_exit_ = static_cast<int>(misdeed.number);
  if (misdeed.what == "signal") ::kill(::getpid(), static_cast<int>(misdeed.number));
  if (misdeed.what == "flood") flood_stdout(misdeed.number);
  if (misdeed.what == "hog") fill_memory(misdeed.number);
  if (misdeed.what == "daemon") start_daemon(folder_ / ("daemon-" + std::to_string(rank_) + ".pid"));
  if (misdeed.what == "garbage") append_raw(record, "this is no record\n");
  if (misdeed.what == "replay") replays_without_label_ = true;
  if (misdeed.what == "oom") run_out_of_memory();
  if (misdeed.what == "torn") {
    append_raw(record, R"({"t":"step","step":)");
    early_exit_ = static_cast<int>(misdeed.number);
  }
}

void FakeRank::run_out_of_memory() {
  OomRecord oom;
  oom.stage = stage_;
  oom.step = step_;
  oom.phase = phase_in(stage_);
  oom.requested_bytes = 12 * kMiB;
  oom.allocated_bytes = peak_bytes();
  oom.reserved_bytes = peak_bytes() + 8 * kMiB;
  oom.capacity_bytes = trial_.backend.memory_limit_bytes.value_or(peak_bytes() + 10 * kMiB);
  oom.largest_free_block_bytes = 2 * kMiB;
  oom.num_alloc_retries = 1;
  oom.scope = "layer.1.mlp.experts";
  oom.phases = {{Phase::kForward, {1000, peak_bytes(), peak_bytes() + 8 * kMiB}}};
  oom.attribution = attribution();
  oom.unix_ns = probes::unix_ns();
  oom.mono_ns = probes::mono_ns();
  oom.message = "out of memory on purpose";
  writer_.append(oom);
  early_exit_ = static_cast<int>(TrainExit::kOutOfMemory);
}

void FakeRank::hello() {
  HelloRecord hello;
  hello.trial_id = trial_.trial_id;
  hello.rank = rank_;
  hello.world_size = trial_.parallel.world_size;
  hello.local_rank = local_rank(rank_);
  hello.host = probes::host_identity().hostname;
  hello.pid = ::getpid();
  hello.unix_ns = probes::unix_ns();
  hello.device = trial_.backend.device;
  hello.device_name = "fake device";
  hello.provenance = Provenance::kModelledDevice;
  hello.build_id = build_id_;
  hello.libtorch_version = "none";
  hello.comm_backend = "single";
  hello.omp_num_threads = trial_.omp_num_threads;
  hello.resolved_recompute = trial_.recompute;
  hello.machine.cpu_affinity = probes::cpu_affinity();
  hello.machine.environment = probes::recorded_environment();
  writer_.append(behaviour_.hello_fields.empty() ? RankRecord(hello) : with_fields(hello, behaviour_.hello_fields));
}

void FakeRank::first_step() {
  for (const Stage stage : {Stage::kFirstForward, Stage::kFirstBackward, Stage::kFirstGradSync, Stage::kOptimizerInit}) {
    enter(stage, 0);
    leave();
  }
  if (!early_exit_) step(0);
}

void FakeRank::step(std::int64_t index) {
  step_ = index;
  if (index > 0) misbehave();
  if (early_exit_) return;
  if (behaviour_.sleep_us > 0) ::usleep(static_cast<useconds_t>(behaviour_.sleep_us));
  const std::int64_t peak = peak_bytes();
  lifetime_peak_bytes_ = std::max(lifetime_peak_bytes_, peak);
  const float loss = loss_at(trial_, index);
  StepRecord record;
  record.step = index;
  record.start_mono_ns = probes::mono_ns();
  record.step_time_ns = step_time_ns(behaviour_, trial_, index);
  record.loss = static_cast<double>(loss);
  record.loss_bits = bits_of(loss);
  record.grad_norm = 1.0 + static_cast<double>(loss) / 10;
  const std::int64_t quarter = record.step_time_ns / 4;
  record.phases = {{Phase::kForward, {quarter, peak - 4 * kMiB, peak + 4 * kMiB}},
                   {Phase::kBackward, {quarter, peak, peak + 8 * kMiB}},
                   {Phase::kGradSync, {quarter, kParameterBytes, kParameterBytes + 8 * kMiB}},
                   {index == 0 ? Phase::kOptimizerInit : Phase::kOptimizer, {quarter, kParameterBytes, kParameterBytes + 8 * kMiB}}};
  record.end_allocated_bytes = kParameterBytes;
  record.end_reserved_bytes = peak + 8 * kMiB;
  record.lifetime_peak_allocated_bytes = lifetime_peak_bytes_;
  record.lifetime_peak_reserved_bytes = lifetime_peak_bytes_ + 8 * kMiB;
  record.forward_end_allocated_bytes = peak - 8 * kMiB;
  record.forward_end_requested_bytes = peak - 9 * kMiB;
  for (const auto& [label, sites] : sites_) record.replays[label] = sites * num_micro_batches();
  if (replays_without_label_) record.replays["moe"] = 1;
  record.tokens_received = {trial_.training.seq_length};
  record.peak_attribution = attribution();
  writer_.append(record);
}

// Each label takes its share of the activations away, the later ranks hold a little more.
std::int64_t FakeRank::peak_bytes() const {
  if (behaviour_.peak_bytes) return *behaviour_.peak_bytes;
  std::int64_t activations = kActivationBytes + rank_ * kMiB;
  for (const auto& [label, sites] : sites_) activations -= std::min<std::int64_t>(sites, 8) * (label == "moe" ? 12 : 2) * kMiB;
  return kParameterBytes + std::max<std::int64_t>(activations, 16 * kMiB);
}

// Of peak_bytes(): the MoE layers hold three eighths of the activations, a third of that in moe_act, unless their label is active.
Attribution FakeRank::attribution() const {
  const std::int64_t parameter_bytes = std::min(kParameterBytes, peak_bytes());
  const std::int64_t activation_bytes = peak_bytes() - parameter_bytes;
  const std::int64_t moe_bytes = sites_.contains("moe") ? 0 : activation_bytes / 4;
  const std::int64_t act_bytes = sites_.contains("moe") || sites_.contains("moe_act") ? 0 : activation_bytes / 8;
  Attribution parts = {{Role::kParameters, "", parameter_bytes},
                       {Role::kActivations, "", activation_bytes - moe_bytes - act_bytes},
                       {Role::kActivations, "moe", moe_bytes},
                       {Role::kActivations, "moe/moe_act", act_bytes}};
  std::erase_if(parts, [](const AttributedBytes& part) { return part.bytes == 0; });
  return parts;
}

std::int64_t FakeRank::num_micro_batches() const {
  const std::int64_t data_parallel = ParallelDims(trial_.parallel).data_parallel_size();
  return trial_.training.global_batch_size / (trial_.training.micro_batch_size * data_parallel);
}

}  // namespace rematch::tests
