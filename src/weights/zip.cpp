// Layout, from the end: end record; when one of its fields is saturated, the zip64 locator just
// before it points at the zip64 end record; either gives the central directory, whose entries point
// at local headers, each followed by the entry's bytes.
#include "weights/zip.h"

#include "weights/read.h"

namespace soft {
namespace {

constexpr uint32_t kLocalHeader = 0x04034b50;
constexpr uint32_t kCentralEntry = 0x02014b50;
constexpr uint32_t kEndRecord = 0x06054b50;
constexpr uint32_t kEnd64Locator = 0x07064b50;
constexpr uint32_t kEnd64Record = 0x06064b50;
constexpr uint16_t kExtra64 = 0x0001;
constexpr uint32_t kSaturated = 0xffffffff;  // the true value stands in a zip64 field
constexpr uint16_t kSaturated16 = 0xffff;

void expect(Cursor& cursor, uint32_t signature, std::string_view what) {
  if (cursor.read<uint32_t>() != signature) {
    fail("no {} where one should be; the zip archive is truncated, corrupt or has bytes appended",
         what);
  }
}

struct Directory {
  uint64_t entries = 0;
  uint64_t size = 0;
  uint64_t offset = 0;
};

constexpr uint64_t kEndBytes = 22;
constexpr uint64_t kLocatorBytes = 20;
constexpr uint64_t kEnd64Bytes = 56;

Directory find_directory64(Bytes file) {
  if (file.size < kEndBytes + kLocatorBytes) fail("the zip archive has no zip64 locator");
  Cursor locator(file.slice(file.size - kEndBytes - kLocatorBytes, kLocatorBytes, "zip64 locator"),
                 "the zip64 locator");
  expect(locator, kEnd64Locator, "zip64 locator");
  locator.take(4);  // disk
  const uint64_t record = locator.read<uint64_t>();
  Cursor end(file.slice(record, kEnd64Bytes, "zip64 end record"), "the zip64 end record");
  expect(end, kEnd64Record, "zip64 end record");
  end.take(8 + 2 + 2 + 4 + 4 + 8);  // size, versions, disks, entries on this disk
  Directory directory;
  directory.entries = end.read<uint64_t>();
  directory.size = end.read<uint64_t>();
  directory.offset = end.read<uint64_t>();
  return directory;
}

Directory find_directory(Bytes file) {
  if (file.size < kEndBytes) fail("the zip archive is truncated");
  Cursor end(file.slice(file.size - kEndBytes, kEndBytes, "end record"), "the zip end record");
  expect(end, kEndRecord, "zip end record");
  end.take(2 + 2 + 2);  // disks, entries on this disk
  Directory directory;
  directory.entries = end.read<uint16_t>();
  directory.size = end.read<uint32_t>();
  directory.offset = end.read<uint32_t>();
  const bool saturated = directory.entries == kSaturated16 || directory.size == kSaturated ||
                         directory.offset == kSaturated;
  return saturated ? find_directory64(file) : directory;
}

struct Entry {
  std::string name;
  uint16_t flags = 0;
  uint16_t method = 0;
  uint64_t packed_size = 0;
  uint64_t size = 0;
  uint64_t header_offset = 0;
};

// A zip64 extra field holds, in this order, those of the three numbers that are saturated.
void widen(Entry& entry, Bytes extra_fields) {
  Cursor extra(extra_fields, "a zip extra field");
  while (!extra.at_end()) {
    const uint16_t tag = extra.read<uint16_t>();
    const uint16_t length = extra.read<uint16_t>();
    Cursor field(extra.take(length), "a zip64 extra field");
    if (tag != kExtra64) continue;
    for (uint64_t* value : {&entry.size, &entry.packed_size, &entry.header_offset}) {
      if (*value == kSaturated) *value = field.read<uint64_t>();
    }
    return;
  }
}

Entry read_entry(Cursor& directory) {
  Entry entry;
  expect(directory, kCentralEntry, "zip directory entry");
  directory.take(2 + 2);  // versions
  entry.flags = directory.read<uint16_t>();
  entry.method = directory.read<uint16_t>();
  directory.take(2 + 2 + 4);  // time, date, CRC (which newer torch may leave unset)
  entry.packed_size = directory.read<uint32_t>();
  entry.size = directory.read<uint32_t>();
  const uint16_t name_length = directory.read<uint16_t>();
  const uint16_t extra_length = directory.read<uint16_t>();
  const uint16_t comment_length = directory.read<uint16_t>();
  directory.take(2 + 2 + 4);  // disk, attributes
  entry.header_offset = directory.read<uint32_t>();
  entry.name = directory.take(name_length).text();
  widen(entry, directory.take(extra_length));
  directory.take(comment_length);
  return entry;
}

void check_stored(const Entry& entry) {
  constexpr uint16_t kEncrypted = 1;
  if (entry.flags & kEncrypted) fail("'{}' in the archive is encrypted", printable(entry.name));
  if (entry.method != 0 || entry.packed_size != entry.size) {
    fail("'{}' in the archive is compressed, which torch.save never does; save it again with torch",
         printable(entry.name));
  }
}

Bytes content_of(Bytes file, const Entry& entry) {
  constexpr uint64_t kLocalBytes = 30;
  Cursor local(file.slice(entry.header_offset, kLocalBytes, "a zip local header"),
               "a zip local header");
  expect(local, kLocalHeader, "zip local header");
  local.take(kLocalBytes - 4 - 2 - 2);
  const uint64_t name_length = local.read<uint16_t>();
  const uint64_t extra_length = local.read<uint16_t>();
  const uint64_t begin = entry.header_offset + kLocalBytes + name_length + extra_length;
  return file.slice(begin, entry.size, "a zip entry");
}

}  // namespace

ZipEntries read_zip(Bytes file) {
  const Directory where = find_directory(file);
  Cursor directory(file.slice(where.offset, where.size, "the zip directory"), "the zip directory");
  ZipEntries contents;
  for (uint64_t i = 0; i < where.entries; ++i) {
    const Entry entry = read_entry(directory);
    check_stored(entry);
    if (!contents.emplace(entry.name, content_of(file, entry)).second) {
      fail("'{}' is in the archive twice", printable(entry.name));
    }
  }
  if (!directory.at_end()) fail("the zip directory holds more than its {} entries", where.entries);
  return contents;
}

}  // namespace soft
