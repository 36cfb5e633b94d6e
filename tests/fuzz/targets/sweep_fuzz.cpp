// Any bytes as a sweep file: every problem is a diagnostic with its place, and nothing is thrown.
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "orchestrator/spec/sweep.h"
#include "schemas/protocol/describe.h"

namespace {

const rematch::protocol::Describe& trainer() {
  static const auto described = [] {
    std::ifstream file(REMATCH_SOURCE_DIR "/schemas/examples/describe/valid-families.json");
    return rematch::protocol::parse_describe(nlohmann::json::parse(file));
  }();
  return described;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t num_bytes) {
  using namespace rematch::spec;  // NOLINT(google-build-using-namespace)
  const std::string text(reinterpret_cast<const char*>(bytes), num_bytes);
  for (const SweepUse use : {SweepUse::kRun, SweepUse::kSimulate})
    for (const Diagnostic& problem : parse_sweep(text, "sweep.yaml", trainer(), {}, use).problems)
      if (to_string(problem).empty()) std::abort();
  return 0;
}
