// The step times that a fake rank records. Nothing is slept for them.
#pragma once

#include <cstdint>

#include "schemas/protocol/trial.h"
#include "tests/support/fake_trainer/behaviour.h"

namespace rematch::tests {

// Nanoseconds; the same on every rank of the trial, and the same every time for the same seed of noise.
std::int64_t step_time_ns(const Behaviour& behaviour, const protocol::Trial& trial, std::int64_t step);

}  // namespace rematch::tests
