// What this build of the trainer can do: the document that `rematch-train --describe` prints.
#pragma once

#include "schemas/protocol/describe.h"

namespace rematch::runtime {

protocol::Describe describe();

}  // namespace rematch::runtime
