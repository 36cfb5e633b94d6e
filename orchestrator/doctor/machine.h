// What of this machine concerns a run: cores, memory, limits, ports, clocks, devices, Slurm. Reads the system, changes nothing, starts
// nothing. One thread. What the system does not tell is said so.
#pragma once

#include "orchestrator/doctor/finding.h"

namespace rematch::doctor {

Findings examine_limits();   // cores, memory, open files, processes, locked memory, the kernel's memory killer
Findings examine_machine();  // ports, clocks, devices, Slurm

}  // namespace rematch::doctor
