// Where sequences come from: one function per kind.
#pragma once

#include <string>

#include "data/sequence.h"

namespace soft {

// Lines "SOURCE<tab>TARGET" under that header. Every expression is evaluated while it is read, so
// that a damaged or foreign file shows at once.
SequenceSet open_listops(const std::string& file, int64_t length);

// A folder per class with a file per text: DIR/train/CLASS/… and DIR/val|dev|test/CLASS/…, or
// DIR/CLASS/…, undivided. Texts are read when asked for.
SequenceSet open_text_folder(const std::string& folder, SequencePart part, int64_t length);

// The same layout inside a .tar.gz, below any folder; the texts are kept in memory, cut.
SequenceSet open_text_archive(const std::string& file, SequencePart part, int64_t length);

// Lines "LABEL<tab>TEXT", undivided; labels are the class names.
SequenceSet open_text_lines(const std::string& file, int64_t length);

// Lines "LABEL<tab>ID<tab>ID<tab>TEXT<tab>TEXT", label 0 or 1, texts plain or as Python's bytes
// literals.
SequenceSet open_pairs(const std::string& file, int64_t length);

// CIFAR-10's pictures as rows of grey pixels; the last tenth of the training pictures is for
// development.
SequenceSet open_grey_pixels(const std::string& folder, SequencePart part, bool black_is_padding);

}  // namespace soft
