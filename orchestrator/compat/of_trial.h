// A trial as a Megatron Core configuration, and what only the trial's model and trainer tell: sites of labels, layers of a chunk. Pure.
// Internal to compat.
#pragma once

#include <string>
#include <string_view>

#include "orchestrator/compat/rules.h"

namespace rematch::compat {

// What the trial does not say stands as this trainer has it: no dropout, tokens dispatched by an all-to-all, no bias in linear layers.
Configuration configuration_of(const Setting& setting);

// Does any layer kind of the family have this label's boundary?
bool family_has(const Setting& setting, std::string_view label);
std::int64_t num_sites(const Setting& setting, const std::string& label);
std::int64_t num_layers_of_chunk(const Setting& setting);  // of the largest
std::string no_site_reason(const Setting& setting, const std::string& label);
Names reasons_without_site(const Setting& setting);  // of the labels that take effect, shared_experts left out

// Labels that the revision knows and no family of this trainer has; empty when there are none.
std::string labels_without_unit(const Setting& setting);
// Layers of a kind that this trainer does not split over an axis of the layout; empty when there are none.
std::string unsplit_layers(const Setting& setting);

}  // namespace rematch::compat
