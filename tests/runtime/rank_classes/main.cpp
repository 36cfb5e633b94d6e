// Which ranks of a trial are alike, as a launch takes them: a JSON list of lists of ranks on stdout.
// usage: rank_classes TRIAL.json
#include <cstdio>
#include <exception>
#include <nlohmann/json.hpp>

#include "schemas/protocol/prediction.h"
#include "schemas/protocol/trial.h"

int main(int argc, char** argv) {
  try {
    if (argc != 2) throw std::runtime_error("usage: rank_classes TRIAL.json");
    auto classes = nlohmann::json::array();
    for (const auto& alike : rematch::protocol::rank_classes(rematch::protocol::read_trial(argv[1]))) classes.push_back(alike.ranks);
    std::puts(classes.dump().c_str());
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
