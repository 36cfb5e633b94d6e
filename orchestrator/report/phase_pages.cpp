#include <array>

#include "orchestrator/report/pages.h"

namespace rematch::report {

namespace {

constexpr std::array kPages = {
    Page{"build", "Making of the model.", "Peak between start and the first step.", "Lowered by more ranks or another split, by no label."},
    Page{"forward", "Forward of micro-batches.", "Peak folded at the end of forward.", "Labels lower it by what they drop."},
    Page{"backward", "Backward, with the replays of recompute.", "Peak folded at the end of backward.",
         "Labels lower it; a replay holds what it makes again until it is used."},
    Page{"grad_sync", "Reduction of gradients.", "Peak folded at the end of the reduction.",
         "No label lowers it: a saving here is at least what is shown."},
    Page{"optimizer_init", "Making of the moments, and of main weights that are not made with the model, once.",
         "Peak while they are made, in the midst of the first update.", "No label lowers it; see optimizer-bound."},
    Page{"optimizer", "Norm of the gradients and update, of every step, the first too.",
         "Peak folded at the end of the update; of the first one before and after optimizer_init.",
         "No label lowers it: a saving here is at least what is shown."},
    Page{"graph_capture", "Capture of CUDA graphs.", "Peak while graphs are captured.", "Capture fewer graphs, or of smaller scope."},
    Page{"other", "Outside of all of these.", "What remains of a step.", "Nothing; it is seldom the largest."},
};

}  // namespace

std::span<const Page> phase_pages() { return kPages; }

}  // namespace rematch::report
