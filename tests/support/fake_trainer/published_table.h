// A trainer that ends as others' runs ended: the environment variable REMATCH_FAKE_TABLE names a table of sweeps/published, and each arm
// has that row's peak, step time and outcome. The suffix of an arm's group is not part of its name there.
#pragma once

#include <string>

#include "tests/support/fake_trainer/behaviour.h"

namespace rematch::tests {

// Of one rank: rank 0 has the row's peak and runs out of memory where the row did, the others hold a little less. An arm that the table
// lacks runs out of memory in its first step. Throws protocol::DocumentError on a file that is no such table.
Behaviour replayed_behaviour(const std::string& table_path, const protocol::Trial& trial, std::int64_t rank);

}  // namespace rematch::tests
