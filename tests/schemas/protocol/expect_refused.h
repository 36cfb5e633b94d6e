// Runs `parse` and expects a DocumentError that says every one of `parts`.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>

#include "schemas/protocol/document_error.h"

namespace rematch::protocol {

template <typename Parse>
void expect_refused(Parse parse, std::initializer_list<std::string> parts) {
  try {
    parse();
    ADD_FAILURE() << "accepted";
  } catch (const DocumentError& error) {
    for (const std::string& part : parts) EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

}  // namespace rematch::protocol
