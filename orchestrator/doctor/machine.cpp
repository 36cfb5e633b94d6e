#include "orchestrator/doctor/machine.h"

#include <sys/timex.h>
#include <time.h>

#include <filesystem>
#include <fstream>

#include "orchestrator/launch/find_program.h"
#include "orchestrator/launch/reserved_port.h"

namespace rematch::doctor {

namespace {

namespace fs = std::filesystem;

Finding ports() {
  Finding finding{"ports", State::kOk, "a free port of the loopback address for the ranks' rendezvous", "", ""};
  const auto port = launch::ReservedPort::take();
  if (!port) {
    finding.state = State::kProblem;
    finding.found = port.error().message;
    finding.advice = "End what holds the ports, or bring the loopback interface up";
    return finding;
  }
  std::ifstream range("/proc/sys/net/ipv4/ip_local_port_range");
  int first = 0;
  int last = 0;
  finding.found = std::to_string(port.value().number());
  if (range >> first >> last) finding.found += ", of " + std::to_string(first) + " to " + std::to_string(last);
  return finding;
}

std::string resolution_text(clockid_t clock) {
  timespec resolution{};
  if (::clock_getres(clock, &resolution) != 0) return "not told";
  return std::to_string(resolution.tv_sec * 1'000'000'000 + resolution.tv_nsec) + " ns";
}

Finding clocks() {
  Finding finding{"clocks", State::kOk, "a monotonic clock of 1 us or finer; the wall clock synchronised", "", ""};
  timespec resolution{};
  const bool fine = ::clock_getres(CLOCK_MONOTONIC, &resolution) == 0 && resolution.tv_sec == 0 && resolution.tv_nsec <= 1000;
  timex state{};
  const int synchronised = ::adjtimex(&state);  // asks for nothing to be changed
  finding.found = "monotonic " + resolution_text(CLOCK_MONOTONIC) + ", wall " + resolution_text(CLOCK_REALTIME) + ", " +
                  (synchronised < 0             ? "synchronisation not told"
                   : synchronised == TIME_ERROR ? "not synchronised"
                                                : "synchronised");
  if (fine && synchronised != TIME_ERROR) return finding;
  finding.state = State::kWarning;
  finding.advice =
      fine ? "Start a time service where trials of several hosts are to be set side by side; durations are of the monotonic clock"
           : "Step times are no better than this clock";
  return finding;
}

Finding devices() {
  Finding finding{"devices", State::kOk, "a GPU for sweeps with device: cuda; none for cpu and for predictions", "", ""};
  std::error_code none;
  std::size_t num_devices = 0;
  for (const auto& entry : fs::directory_iterator("/proc/driver/nvidia/gpus", none)) {
    ++num_devices;
    std::ifstream file(entry.path() / "information");
    for (std::string line; std::getline(file, line);)
      if (line.rfind("Model:", 0) == 0)
        finding.found += (finding.found.empty() ? "" : ", ") + line.substr(line.find_first_not_of(" \t", 6));
  }
  if (num_devices > 0) finding.found = std::to_string(num_devices) + " NVIDIA: " + finding.found;
  if (num_devices > 0) return finding;
  finding.found = "no NVIDIA GPU";
  if (!launch::find_program("nvidia-smi")) return finding;
  finding.state = State::kWarning;
  finding.found += ", though nvidia-smi is there";
  finding.advice = "Load the driver if this machine has a GPU";
  return finding;
}

Finding slurm() {
  std::string found;
  std::string missing;
  for (const char* command : {"sbatch", "srun", "squeue", "sacct", "scancel", "scontrol"}) {
    std::string& list = launch::find_program(command) ? found : missing;
    list += (list.empty() ? "" : ", ") + std::string(command);
  }
  Finding finding{"slurm", State::kOk, "its commands, where trials are to run on a cluster", "", ""};
  finding.found = found.empty() ? "not found" : "found " + found + (missing.empty() ? "" : "; not found " + missing);
  if (found.empty() || missing.empty()) return finding;
  finding.state = State::kWarning;
  finding.advice = "Put the missing commands on PATH";
  return finding;
}

}  // namespace

Findings examine_machine() { return {ports(), clocks(), devices(), slurm()}; }

}  // namespace rematch::doctor
