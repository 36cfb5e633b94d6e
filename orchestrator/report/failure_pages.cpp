#include <array>

#include "orchestrator/report/pages.h"

namespace rematch::report {

namespace {

constexpr std::array kPages = {
    Page{"oom", "The device's allocator could not give what was asked for. A result, not an error.",
         "The rank's own record: what was asked for, allocated, reserved, and the limit.",
         "`rematch diagnose ARM`; take an arm with a lower peak."},
    Page{"host_oom", "The host ran out of memory and the kernel ended a rank.", "By the control group's count of kills.",
         "Fewer ranks a node, less on the host, or more of it: this says nothing about the device."},
    Page{"comm", "Communication failed.", "A rank's record names the operation, and its peers the rank that they lost.",
         "`rematch logs` of the rank that failed first; network and ports."},
    Page{"timeout", "The trial, or a rank of it, did not end or answer by its deadline.",
         "By launch.timeout, put to the rank with the least progress; or a rank that did not answer and that its peers name, or that says "
         "so "
         "by its own exit code; or one that went on after all others had ended, until the supervisor ended it.",
         "A longer launch.timeout, or look for a hang in `rematch logs`."},
    Page{"numerics", "A loss or gradient was not finite.", "The rank's own record.",
         "Check precision and seed: recompute does not change values."},
    Page{"crashed", "A rank died by a signal that nobody sent on purpose.", "By its wait status.",
         "`rematch logs`; a core file, if the system keeps any."},
    Page{"bad_exit", "A rank ended with a code that says nothing known.", "By its wait status.", "`rematch logs` of that rank."},
    Page{"launch", "Ranks could not be started, or were of another build of the trainer than the study was planned for.",
         "By the launcher's message, a rank that has no process, or the build that a rank's record names.",
         "`rematch doctor` checks trainer, devices, ports and Slurm; after a change of the trainer run again, which plans anew."},
    Page{"preempted", "The attempt was set aside and is not judged, though it may have ended well.",
         "By the mark superseded.json beside it: its job was ended while it ran, or another run repeats its block whole.",
         "Run again: it goes on where it stopped."},
    Page{"node_fail", "A node went away.", "By Slurm's state of the job, or a runner that is heard of no more.",
         "Run again; exclude the node if it happens twice."},
    Page{"interrupted", "The user or a time limit ended it.", "By the signal that the controller got.",
         "Run again: it goes on where it stopped."},
    Page{"lost", "Nobody knows how it ended.", "No launch record, and its supervisor is gone.",
         "Run again; `rematch doctor` looks for leftovers."},
};

}  // namespace

std::span<const Page> failure_pages() { return kPages; }

}  // namespace rematch::report
