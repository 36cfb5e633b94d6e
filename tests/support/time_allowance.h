// How long a test may wait, in one place: times are written for a build without sanitizers, and CMake says by what factor a sanitised
// program may be slower (REMATCH_TEST_TIME_SCALE, see cmake/Sanitizers.cmake). For upper bounds alone: lower bounds hold in any build.
#pragma once

#ifndef REMATCH_TEST_TIME_SCALE
#define REMATCH_TEST_TIME_SCALE 1
#endif

namespace rematch::tests {

template <class Duration>
constexpr Duration time_allowance(Duration without_sanitizers) {
  return without_sanitizers * REMATCH_TEST_TIME_SCALE;
}

}  // namespace rematch::tests
