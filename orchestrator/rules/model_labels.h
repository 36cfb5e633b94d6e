// Which recompute labels have a region in a model: what of a model a label could reach at all. Asked of what the trainer says of its
// presets. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "schemas/protocol/describe.h"
#include "schemas/protocol/published.h"

namespace rematch::rules {

// The family's defaults, and over them the preset's fields.
protocol::FieldMap preset_fields(const protocol::FamilyDescription& family, const protocol::PresetDescription& preset);

// Of the table's preset with its changed fields, in the order of the label table. nullopt: the source's model is no preset of the
// trainer's, or its fields make no model.
std::optional<std::vector<std::string>> model_labels(const protocol::Describe& trainer, const protocol::PublishedSetting& setting);

}  // namespace rematch::rules
