// The part of zip that torch.save uses: stored (uncompressed) entries, zip64 included.
#pragma once

#include <map>
#include <string>

#include "weights/bytes.h"

namespace soft {

using ZipEntries = std::map<std::string, Bytes>;

// Every entry's bytes, in place. Refuses compressed, encrypted, repeated or out-of-range entries
// and anything after the archive's end.
ZipEntries read_zip(Bytes file);

}  // namespace soft
