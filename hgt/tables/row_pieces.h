// The rows of a source, read on several threads: its text is cut into pieces, each of which a
// worker reads as if it began with a row. That is not so after a line end within quotes; then the
// piece is read again, together with the beginning of that row.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "hgt/ordered_stream.h"
#include "hgt/tables/row_source.h"

namespace hgt {

// Lets threads cut pieces out of a source one after the other, in the order of their numbers.
class PieceCutter {
 public:
  explicit PieceCutter(RowSource& source) : source_(source) {}

  // The piece of this number; an empty one after the last. Pieces of all numbers before it must
  // have been asked for, too.
  void cut(uint64_t number, TextPiece& piece);

 private:
  RowSource& source_;
  std::mutex mutex_;
  std::condition_variable turn_;
  uint64_t next_ = 0;
  bool ended_ = false;
};

// What is found in one piece, in the order of the rows.
template <typename Found>
struct ReadPiece {
  Found found;
  uint64_t line = 1;  // that the piece was taken to begin with
  uint64_t end = 1;   // line after what has been read
  TextPiece piece;
  size_t unread = 0;
  bool failed = false;
};

// Calls read(worker, row, found) for all rows of the item's piece; what that threw.
template <typename Found, typename Read>
std::exception_ptr read_piece(PieceReader& reader, unsigned worker, const Read& read,
                              ReadPiece<Found>& item) noexcept {
  try {
    item.found.clear();
    reader.start(item.piece, item.line);
    for (Row row; reader.next(row);) read(worker, row, item.found);
    item.end = reader.next_line();
    item.unread = reader.unread();
    return nullptr;
  } catch (...) {
    return std::current_exception();
  }
}

// Calls read(worker, row, found) for each row on a worker's thread, where found is empty at the
// beginning of a piece and worker at most `threads`, and use(found, line, read_so_far) for each
// piece in order on the caller's: lines in `found` are counted from `line` as the first. Found
// needs clear(). Throws what reading or `read` throw, after all rows before have been used.
template <typename Found, typename Read, typename Use>
void read_in_pieces(RowSource& source, unsigned threads, const Read& read, const Use& use) {
  std::vector<std::unique_ptr<PieceReader>> readers;
  for (unsigned i = 0; i <= threads; ++i) readers.push_back(source.piece_reader());
  PieceCutter cutter(source);
  uint64_t line = source.next_line();
  OrderedStream<ReadPiece<Found>> stream({.count = std::numeric_limits<uint64_t>::max(),
                                          .workers = threads > 1 ? threads : 0,
                                          .queue = threads + 2},
                                         [&](unsigned worker, uint64_t i, ReadPiece<Found>& item) {
                                           cutter.cut(i, item.piece);
                                           item.line = 1;
                                           // A wrong guess may fail in any way.
                                           item.failed = read_piece(*readers[worker], worker, read,
                                                                    item) != nullptr;
                                         });
  std::string begun;  // the beginning of a row that goes on in the next piece
  ReadPiece<Found> item;
  do {
    stream.next(item);
    std::exception_ptr failure;
    if (item.failed || !begun.empty()) {
      item.piece.text.insert(0, begun);
      item.line = line;
      failure = read_piece(*readers[threads], threads, read, item);
    }
    use(item.found, line - item.line + 1, item.piece.read);
    if (failure) std::rethrow_exception(failure);
    line += item.end - item.line;
    begun = item.piece.text.substr(item.piece.text.size() - item.unread);
  } while (!item.piece.last);
}

// Rows kept beyond the life of their source's.
class StoredRows {
 public:
  void add(const Row& row);
  void clear();
  uint64_t size() const { return rows_.size(); }

  // Calls visit(row) for each of them, with lines counted from `line` as the first.
  template <typename Visit>
  void for_each(uint64_t line, const Visit& visit) const {
    Row row;
    std::vector<std::string_view> cells;
    size_t cell = 0;
    for (const Stored& stored : rows_) {
      cells.clear();
      for (; cell < stored.end; ++cell) cells.push_back(at(cell));
      row.cells = cells;
      row.position = {stored.position.before_number, stored.position.number + line - 1};
      row.defect = stored.defect;
      visit(row);
    }
  }

 private:
  struct Stored {
    size_t end = 0;  // of its cells
    RowPosition position;
    std::string defect;
  };
  struct Cell {
    size_t end = 0;  // of its text
    bool null = false;
  };
  std::string_view at(size_t cell) const;

  std::string texts_;  // of all cells
  std::vector<Cell> cells_;
  std::vector<Stored> rows_;
};

}  // namespace hgt
