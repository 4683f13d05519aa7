// A model on disk: weights, options and schema in one .safetensors file, which other tools read
// too.
//
//   save_encoder("venue.safetensors", *encoder);
//   HgtEncoder again = load_encoder("venue.safetensors", model_schema(graph.schema()));
#pragma once

#include "hgt/graph/types.h"
#include "hgt/model/hgt_encoder.h"
#include "hgt/model/model_schema.h"

namespace hgt {

// Written beside and renamed at the end: a file that is there is whole.
void save_encoder(const Path& file, const HgtEncoderImpl& encoder);

// Throws Error when the file is damaged, no model of ours, or made for another schema; then it says
// which type or relation does not fit.
HgtEncoder load_encoder(const Path& file, const ModelSchema& graph);
HgtEncoder load_encoder(const Path& file);  // whatever it was made for

}  // namespace hgt
