// What the database keeps of an attempt: less than its records hold. Called by `ingest`, which judges what it has just stored. Pure.
#pragma once

#include "orchestrator/base/rows.h"

namespace rematch::store {

// Drops what put_attempt does not store, so that the rows are those that load_study would give back.
void drop_what_is_not_kept(base::AttemptRows& attempt);

}  // namespace rematch::store
