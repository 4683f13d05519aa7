#include "hgt/tables/row_pieces.h"

#include "hgt/parallel.h"

namespace hgt {

void PieceCutter::cut(uint64_t number, TextPiece& piece) {
  std::unique_lock lock(mutex_);
  turn_.wait(lock, [&] { return next_ == number; });
  FirstFailure failure;
  failure.watch([&] {
    if (ended_) {
      piece.text.clear();
      piece.last = true;
      return;
    }
    ended_ = true;  // should cutting fail
    source_.cut(piece);
    ended_ = piece.last;
  });
  ++next_;
  lock.unlock();
  turn_.notify_all();
  failure.rethrow();
}

void StoredRows::add(const Row& row) {
  if (row.well_formed()) {
    for (const std::string_view cell : row.cells) {
      texts_.append(cell);
      cells_.push_back({texts_.size(), is_null(cell)});
    }
  }
  rows_.push_back({cells_.size(), row.position, row.defect});
}

void StoredRows::clear() {
  texts_.clear();
  cells_.clear();
  rows_.clear();
}

std::string_view StoredRows::at(size_t cell) const {
  if (cells_[cell].null) return kNullCell;
  const size_t begin = cell == 0 ? 0 : cells_[cell - 1].end;
  return std::string_view(texts_).substr(begin, cells_[cell].end - begin);
}

}  // namespace hgt
