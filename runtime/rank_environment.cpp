#include "runtime/rank_environment.h"

#include <cstdlib>
#include <stdexcept>

namespace rematch::runtime {

namespace {

std::string text_from(const char* variable, const std::string& otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : text;
}

int number_from(const char* variable, int otherwise) {
  const auto text = text_from(variable, "");
  if (text.empty()) return otherwise;
  try {
    return std::stoi(text);
  } catch (const std::exception&) {
    throw std::invalid_argument(std::string(variable) + ": wanted a number, found '" + text + "'");
  }
}

void require_within(const char* variable, int found, int least, int most, const char* why) {
  if (found >= least && found <= most) return;
  throw std::invalid_argument(std::string(variable) + ": wanted " + std::to_string(least) + " to " + std::to_string(most) + " (" + why +
                              "), found " + std::to_string(found));
}

// RANK against WORLD_SIZE is the trial's business.
void check(const RankEnvironment& environment) {
  require_within("LOCAL_WORLD_SIZE", environment.local_world_size, 1, environment.world_size, "at most WORLD_SIZE");
  require_within("LOCAL_RANK", environment.local_rank, 0, environment.local_world_size - 1, "below LOCAL_WORLD_SIZE");
}

}  // namespace

RankEnvironment read_rank_environment() {
  RankEnvironment environment{.rank = number_from("RANK", 0),
                              .world_size = number_from("WORLD_SIZE", 1),
                              .master_addr = text_from("MASTER_ADDR", "127.0.0.1"),
                              .master_port = number_from("MASTER_PORT", 29500)};
  // By hand on one host LOCAL_RANK and LOCAL_WORLD_SIZE may be left out.
  environment.local_world_size = number_from("LOCAL_WORLD_SIZE", environment.world_size);
  const bool one_host = environment.local_world_size == environment.world_size;
  environment.local_rank = number_from("LOCAL_RANK", one_host ? environment.rank : -1);
  if (text_from("TORCHELASTIC_USE_AGENT_STORE", "") == "True") {
    environment.store_host = comm::StoreHost::kAgent;
    environment.key_prefix = "rematch/start-" + text_from("TORCHELASTIC_RESTART_COUNT", "0");
  }
  check(environment);
  return environment;
}

}  // namespace rematch::runtime
