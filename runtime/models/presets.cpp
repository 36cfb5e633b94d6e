#include "runtime/models/presets.h"

#include <nlohmann/json.hpp>

#include "runtime/models/preset_texts.h"  // generated: kPresetTexts, name and JSON of each file

namespace rematch::models {

std::vector<protocol::PresetDescription> presets() {
  std::vector<protocol::PresetDescription> all;
  for (const auto& [name, text] : kPresetTexts) {
    const auto document = nlohmann::json::parse(text);
    protocol::PresetDescription preset{.name = name, .family = document.at("family").get<std::string>(), .fields = {}};
    for (const auto& [field, value] : document.at("fields").items())
      preset.fields[field] = protocol::field_value_from_json(value, "presets." + preset.name + "." + field);
    all.push_back(std::move(preset));
  }
  return all;
}

}  // namespace rematch::models
