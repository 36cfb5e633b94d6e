#include "orchestrator/spec/slurm_options.h"

#include <vector>

#include "orchestrator/spec/keys.h"

namespace rematch::spec {

namespace {

constexpr auto kText = SlurmForm::kText;
constexpr auto kCount = SlurmForm::kCount;
constexpr auto kSwitch = SlurmForm::kSwitch;
constexpr auto kFlag = SlurmForm::kFlag;

const std::vector<SlurmOption>& table() {
  static const std::vector<SlurmOption> options = {
      {"partition", kText, "Partition of a job, or several separated by commas", ""},
      {"account", kText, "Account that is charged", ""},
      {"qos", kText, "Quality of service", ""},
      {"time", kText, "Time limit of a job, in Slurm's forms: minutes, H:MM:SS, D-HH:MM:SS", ""},
      {"nodes", kCount, "Nodes of a job", "world_size / ranks_per_node"},
      {"gpus-per-node", kText, "GPUs on each node, [TYPE:]NUMBER", ""},
      {"gres", kText, "Generic resources of each node, such as gpu:8", ""},
      {"ntasks-per-node", kCount, "Ranks on each node; the same as ranks_per_node", "world_size / nodes"},
      {"cpus-per-task", kCount, "CPUs for each rank", ""},
      {"mem", kText, "Host memory of each node, such as 64G; 0: all of it", "0 where a job has its nodes alone"},
      {"constraint", kText, "Features that the nodes must have", ""},
      {"exclude", kText, "Nodes that must not be used", ""},
      {"nodelist", kText, "Nodes that must be used", ""},
      {"reservation", kText, "Reservation to run in", ""},
      {"exclusive", kFlag, "Whether a job has its nodes alone: true, false, user or mcs", "true for shapes allocation and array"},
      {"dependency", kText, "What must have happened before a job starts, such as afterok:123", ""},
      {"comment", kText, "Comment of a job", "the job's name"},
      {"signal", kText, "How long before the time limit the runner is told, B:USR1@SECONDS", "B:USR1@120"},
      {"requeue", kSwitch, "Whether a job that was preempted or lost a node is queued again", "true"},
  };
  return options;
}

Kind kind_of(SlurmForm form) {
  switch (form) {
    case SlurmForm::kText: return Kind::kLine;
    case SlurmForm::kCount: return Kind::kInteger;
    case SlurmForm::kSwitch: return Kind::kBoolean;
    case SlurmForm::kFlag: return Kind::kFlag;
  }
  return Kind::kLine;
}

KeyRow row_of(const SlurmOption& option) {
  KeyRow row;
  row.key = "launch." + option.name;
  row.kind = kind_of(option.form);
  row.need = Need::kOptional;
  row.slot = [name = option.name](SweepSpec& spec) -> Slot { return NamedText{&spec.slurm.options, name}; };
  if (option.form == SlurmForm::kCount) row.range = {1};
  if (option.form == SlurmForm::kFlag) row.allowed = {"user", "mcs"};
  row.derived.rule = option.otherwise;
  row.of_slurm = true;
  return row;
}

KeyRow own_row(const std::string& name, Kind kind, std::function<Slot(SweepSpec&)> slot) {
  KeyRow row;
  row.key = "launch." + name;
  row.kind = kind;
  row.need = Need::kOptional;
  row.slot = std::move(slot);
  row.of_slurm = true;
  return row;
}

}  // namespace

std::span<const SlurmOption> slurm_options() { return table(); }

std::vector<KeyRow> slurm_key_rows() {
  std::vector<KeyRow> rows;
  for (const SlurmOption& option : table()) rows.push_back(row_of(option));
  rows.push_back(own_row("shape", Kind::kText, [](SweepSpec& spec) -> Slot { return &spec.slurm.shape; }));
  rows.back().allowed = {"allocation", "array", "trials"};
  rows.push_back(own_row("throttle", Kind::kInteger, [](SweepSpec& spec) -> Slot { return &spec.slurm.throttle; }));
  rows.back().range = {1};
  rows.push_back(own_row("slurm", Kind::kOptions, [](SweepSpec& spec) -> Slot { return &spec.slurm.pass_through; }));
  rows.push_back(own_row("srun", Kind::kOptions, [](SweepSpec& spec) -> Slot { return &spec.slurm.srun; }));
  rows.push_back(own_row("setup", Kind::kLines, [](SweepSpec& spec) -> Slot { return &spec.slurm.setup; }));
  return rows;
}

}  // namespace rematch::spec
