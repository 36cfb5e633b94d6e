#include "orchestrator/cli/output_file.h"

#include <ostream>
#include <system_error>

#include "schemas/protocol/record_file.h"

namespace rematch::cli {

Exit write_output(const std::string& text, const std::string& file, Streams streams) {
  if (file == "-") {
    streams.out << text;
    return Exit::kOk;
  }
  try {
    protocol::write_file_by_rename(file, text);
  } catch (const std::system_error& error) {
    streams.err << "rematch: not written: " << error.what() << "\n";
    return Exit::kEnvironment;
  }
  return Exit::kOk;
}

}  // namespace rematch::cli
