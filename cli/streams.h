// The streams of both programs. Data goes to stdout and must arrive, or the program has failed;
// what people read goes to stderr and may get lost.
#pragma once

#include <string_view>

namespace hgt::cli {

// At the start of a program. A reader that goes away is from then on an error of writing, and not a
// signal, which would leave partial files behind; and no file that is opened can become stdout or
// stderr, should the program have been started without them.
void prepare_streams();

void tell(std::string_view text) noexcept;  // to stderr, at once

// To stdout. Unlike fmt::print it throws nothing: with_output_written() tells.
void print_text(std::string_view text) noexcept;

// To be called last. Returns `code`, or 1 instead of 0 if something that was printed did not
// arrive.
int with_output_written(int code) noexcept;

}  // namespace hgt::cli
