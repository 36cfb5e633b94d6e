#include "probes/host/build_id.h"

#include <link.h>

#include <cstring>
#include <span>
#include <stdexcept>

namespace rematch::probes {

namespace {

using Bytes = std::span<const unsigned char>;

std::string hex(Bytes bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const unsigned char byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

// Walks the notes of one segment; name and content are each padded to four bytes.
std::optional<std::string> build_id_among_notes(Bytes notes) {
  const auto padded = [](std::size_t num_bytes) { return (num_bytes + 3) / 4 * 4; };
  while (notes.size() >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) header;
    std::memcpy(&header, notes.data(), sizeof header);
    const std::size_t content_at = sizeof header + padded(header.n_namesz);
    const std::size_t next_at = content_at + padded(header.n_descsz);
    if (next_at > notes.size()) return std::nullopt;
    const bool is_gnu = header.n_namesz == 4 && std::memcmp(notes.data() + sizeof header, "GNU", 4) == 0;
    if (is_gnu && header.n_type == NT_GNU_BUILD_ID) return hex(notes.subspan(content_at, header.n_descsz));
    notes = notes.subspan(next_at);
  }
  return std::nullopt;
}

// The program itself comes first; a result of 1 ends the walk before the shared libraries.
int read_first_object(dl_phdr_info* object, std::size_t, void* result) {
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = object->dlpi_phdr[i];
    if (segment.p_type != PT_NOTE) continue;
    // The loader gives addresses as numbers.  NOLINTNEXTLINE(performance-no-int-to-ptr)
    const auto* start = reinterpret_cast<const unsigned char*>(object->dlpi_addr + segment.p_vaddr);
    if (auto build_id = build_id_among_notes({start, segment.p_memsz})) {
      *static_cast<std::optional<std::string>*>(result) = std::move(build_id);
      return 1;
    }
  }
  return 1;
}

}  // namespace

std::optional<std::string> program_build_id() {
  std::optional<std::string> build_id;
  ::dl_iterate_phdr(read_first_object, &build_id);
  return build_id;
}

std::string build_id() {
  if (auto id = program_build_id()) return *std::move(id);
  throw std::logic_error("build id: wanted a program linked with --build-id=sha1, found no such note");
}

}  // namespace rematch::probes
