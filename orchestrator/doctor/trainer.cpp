#include "orchestrator/doctor/trainer.h"

#include <string>
#include <vector>

#include "orchestrator/launch/trainer.h"

namespace rematch::doctor {

namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text.empty() ? "none" : text;
}

}  // namespace

Findings examine_trainer(const std::optional<std::filesystem::path>& given) {
  Finding trainer{"trainer", State::kProblem, "rematch-train, of this version", "", "Build it, or name it with --trainer"};
  const auto place = launch::locate_trainer(given);
  if (!place) {
    trainer.found = place.error().message;
    return {trainer};
  }
  const auto described = launch::describe_trainer(place.value());
  if (!described) {
    trainer.found = described.error().message;
    trainer.advice = "See there; `rematch-train --describe` by hand may say more";
    return {trainer};
  }
  const protocol::Describe& known = described.value();
  trainer.state = State::kOk;
  trainer.advice.clear();
  trainer.found =
      place.value().string() + ", version " + known.version + ", build " + known.build_id + ", LibTorch " + known.libtorch_version;
  return {trainer,
          {"trainer_devices", State::kOk, "the device of the sweep", joined(known.devices), ""},
          {"communication", State::kOk, "gloo for several ranks on cpu, nccl for several GPUs", joined(known.comm_backends), ""}};
}

}  // namespace rematch::doctor
