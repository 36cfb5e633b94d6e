// Every example document of a kind against the code that reads it: valid*.json must be read and written again the same, invalid-*.json must
// be refused. valid*-newer-*.json holds keys that a newer program may add; they are read, and left out on writing.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "schemas/protocol/document_error.h"
#include "schemas/protocol/record_file.h"

namespace rematch::protocol {

// rewrite(text) reads the document and writes it again; it throws DocumentError when it refuses.
template <typename Rewrite>
void expect_examples_read_right(const std::string& kind, Rewrite rewrite) {
  int num_valid = 0;
  int num_invalid = 0;
  for (const auto& entry : std::filesystem::directory_iterator(REMATCH_SOURCE_DIR "/schemas/examples/" + kind)) {
    SCOPED_TRACE(entry.path().string());
    const std::string text = read_whole_file(entry.path()).value();
    const std::string name = entry.path().filename().string();
    const bool is_valid = name.starts_with("valid");
    ++(is_valid ? num_valid : num_invalid);
    if (!is_valid) {
      EXPECT_THROW(rewrite(text), DocumentError);
    } else if (name.find("-newer-") != std::string::npos) {
      EXPECT_NO_THROW(rewrite(text));
    } else {
      EXPECT_EQ(rewrite(text), nlohmann::json::parse(text));
    }
  }
  EXPECT_GE(num_valid, 1);
  EXPECT_GE(num_invalid, 3);
}

}  // namespace rematch::protocol
