// For tests without LibTorch: SentencePiece models trained by libsentencepiece itself.
#pragma once

#include <gtest/gtest.h>
#include <sentencepiece_trainer.h>

#include <string>

#include "hgt/disk/temporary_test_folder.h"

namespace hgt {

constexpr const char* kSpecialPieces = "--control_symbols=<cls>,<sep> ";

// `flags` are added to those that keep the model small and the trainer silent.
inline void write_spiece(const Path& file, const std::string& flags) {
  const Path text = file.string() + ".txt";
  std::string lines;
  for (int i = 0; i < 10; ++i) {
    lines += "graphs of 12 and 7 9 nodes\nnodes in graphs, many \"nodes\" - a caf\u00e9 at 8,\n";
    lines += "Heterogeneous graph transformer\nlearning on graphs and learning to rank\n";
  }
  write_bytes(text, lines);
  const Path prefix = file.parent_path() / file.stem();
  testing::internal::CaptureStderr();  // it speaks before it reads --minloglevel
  const auto status = sentencepiece::SentencePieceTrainer::Train(
      flags + " --minloglevel=4 --hard_vocab_limit=false --vocab_size=90 --num_threads=1 --input=" +
      text.string() + " --model_prefix=" + prefix.string());  // the first of two flags counts
  testing::internal::GetCapturedStderr();
  ASSERT_TRUE(status.ok()) << status.ToString();
}

}  // namespace hgt
