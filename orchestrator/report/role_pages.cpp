#include <array>

#include "orchestrator/report/pages.h"

namespace rematch::report {

namespace {

constexpr std::array kPages = {
    Page{"parameters", "Parameter buffers.", "Allocated when the model is made.", "More ranks to share them; no label."},
    Page{"gradients", "Gradient buffers and copies of gradients in fp32.", "Allocated with the model, or with the first backward.",
         "Lower precision of gradients; more ranks; no label."},
    Page{
        "optimizer_state", "Main weights in fp32, or what stands for them, and moments.",
        "Main weights in fp32 are allocated with the model; moments, and main weights of a precision-aware optimizer, in the first update.",
        "Distributed or precision-aware optimizer; no label."},
    Page{"activations", "What forward, or a replay of it, keeps for backward.", "Allocated in forward or in a replay.",
         "This is what labels lower; `rematch show ARM` says how much each could."},
    Page{"logits_and_loss", "The head's logits and the cross-entropy.", "Allocated in the head.",
         "cross_entropy_gradient: in_place; shorter sequences; no label."},
    Page{"communication", "Buffers of collectives that nothing keeps.", "Allocated in a collective.",
         "Fewer or smaller messages at once; no label."},
    Page{"temporaries", "Allocated in backward outside of replays, and the rest.", "What no other role has.", "No label lowers them."},
};

}  // namespace

std::span<const Page> role_pages() { return kPages; }

}  // namespace rematch::report
