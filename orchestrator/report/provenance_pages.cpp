#include <array>

#include "orchestrator/report/pages.h"

namespace rematch::report {

namespace {

constexpr std::array kPages = {
    Page{"measured", "From the device itself.", "The trainer ran on cuda, and the allocator's own counters were read.",
         "This is what settles anything."},
    Page{"modelled-device", "The trainer ran on the CPU, and a model of the device's allocator followed every allocation.",
         "Bytes by the model, times by the CPU's clock.", "Trust bytes as far as the model; times order arms on this machine only."},
    Page{"predicted", "The trainer ran on the meta device: nothing was computed.", "Bytes by the allocator's model, times by roofline.",
         "It orders and warns; run the arms that matter on the device."},
    Page{"published", "From a table that somebody published.", "As the source prints it, with its rounding.",
         "Set it beside figures of the same setting only; `rematch report --published FILE` checks that."},
};

}  // namespace

std::span<const Page> provenance_pages() { return kPages; }

}  // namespace rematch::report
