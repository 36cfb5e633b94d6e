// Names of columns that hold a study's own figures beside those of another provenance: "predicted_peak_bytes", "predicted peak".
#pragma once

#include <algorithm>
#include <cctype>
#include <string>

#include "orchestrator/report/report_model.h"
#include "schemas/protocol/outcome.h"

namespace rematch::report {

class OwnColumns {
 public:
  explicit OwnColumns(protocol::Provenance provenance) : word_(protocol::to_string(provenance)) {}

  Column column(const std::string& key, const std::string& title, Place place = Place::kEverywhere) const {
    std::string prefix = word_;
    std::replace(prefix.begin(), prefix.end(), '-', '_');
    return {prefix + "_" + key, word_ + " " + title, place};
  }
  // "Predicted".
  std::string title() const {
    std::string text = word_;
    text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
    return text;
  }

 private:
  std::string word_;
};

}  // namespace rematch::report
