// A number of bytes for people, by the name that reports use.
#pragma once

#include "orchestrator/base/number_text.h"

namespace rematch::report {

using base::bytes_text;
using base::ByteUnits;
using base::Sign;

}  // namespace rematch::report
