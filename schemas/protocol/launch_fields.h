// Keys of parts that the launch record and the runner record share. Internal to protocol.
#pragma once

#include "schemas/protocol/json_fields.h"
#include "schemas/protocol/launch_record.h"

namespace rematch::protocol {

template <typename Visitor, Is<Allocation> Given>
void visit_fields(Visitor& field, Given& allocation) {
  field("job_id", allocation.job_id, at_least(1));
  field("array_job_id", allocation.array_job_id, at_least(1));
  field("array_task_id", allocation.array_task_id, at_least(0));
  field("restart_count", allocation.restart_count, at_least(0));
  field("runner", allocation.runner, hex_digits(16));
}

}  // namespace rematch::protocol
