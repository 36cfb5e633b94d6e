// What the rule table asks of a setting, and what its rows say of the labels in question. Pure. Internal to compat.
#pragma once

#include <string>
#include <string_view>

#include "orchestrator/compat/rules.h"

namespace rematch::compat {

bool is_full(const Setting& setting);
bool is_selective(const Setting& setting);
bool selects(const Setting& setting, std::string_view label);

// Does any layer kind of the family have this label's boundary?
bool family_has(const Setting& setting, std::string_view label);
bool selects_without_boundary(const Setting& setting, std::string_view label);
std::string family_without_it(const Setting& setting);
// Megatron looks at the flag alone; a family without that field has other experts or none.
bool has_grouped_experts(const Setting& setting);
std::string why_no_grouped_experts(const Setting& setting);
bool has_shared_experts(const Setting& setting);
bool has_moe_layers(const Setting& setting);
bool has_layers_out_of_range(const Setting& setting);

// Labels whose replay communicates along the context-parallel axis, in this layout.
bool replays_context_traffic(const Setting& setting);
std::string replayed_context_traffic(const Setting& setting);
// Layers of a kind that this trainer does not split over an axis of the layout.
bool has_unsplit_layers(const Setting& setting);
std::string unsplit_layers(const Setting& setting);

bool has_unknown_label(const Setting& setting);
std::string unknown_labels(const Setting& setting);
// Labels that the revision knows and no family of this trainer has.
bool has_label_without_unit(const Setting& setting);
std::string labels_without_unit(const Setting& setting);
// Labels that this model has no layer for; shared_experts has a rule of its own.
bool has_label_without_site(const Setting& setting);
std::string labels_without_site(const Setting& setting);
std::string shared_experts_without_site(const Setting& setting);

std::string attention_backend(const Setting& setting);
std::string modules_under_full(const Setting& setting);
std::string layers_of_model(const Setting& setting);

}  // namespace rematch::compat
