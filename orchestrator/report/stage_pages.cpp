#include <array>

#include "orchestrator/report/pages.h"

namespace rematch::report {

namespace {

constexpr std::array kPages = {
    Page{"spawned", "The process has started.", "The first line of the rank's record.",
         "A failure here: see the launch message and `rematch logs`."},
    Page{"joined", "The rank has met the others.", "Rendezvous and process groups are made.",
         "A failure here: ports, host names, the network."},
    Page{"built", "Model, gradients' buffers and optimizer objects are there.", "The build's peak is recorded on leaving.",
         "Out of memory here: parameters do not fit; no label helps. Take more ranks."},
    Page{"first_forward", "Forward of the first step.", "Entered and left anew by each micro-batch.",
         "Out of memory here: activations; labels help."},
    Page{"first_backward", "Backward of the first step.", "Entered and left anew by each micro-batch; a pipeline has them by turns.",
         "Out of memory here: activations and replays; labels help, narrower ones more than wide ones that replay much."},
    Page{"first_grad_sync", "Gradients of the first step are reduced.", "Until the reduction has ended.",
         "Out of memory here: buffers of gradients; no label helps."},
    Page{"optimizer_init", "The first update, in which the moments are made.", "Left when the first update has ended.",
         "Out of memory here: see optimizer-bound."},
    Page{"warm", "The steps of warm-up after the first.", "Until as many steps as measure.warmup says are done.",
         "Out of memory here: new maxima by routing or by fragmentation."},
    Page{"steady", "The steps that are measured.", "Until the last step.", "Out of memory here: see whether the peak still grows."},
    Page{"done", "All steps are done and the record is closed.", "The last line of the rank's record.", "Nothing."},
};

}  // namespace

std::span<const Page> stage_pages() { return kPages; }

}  // namespace rematch::report
