// Between the two matrices of a feed-forward part.
#pragma once

namespace hgt {

enum class FeedActivation { gelu, gelu_new, relu };  // gelu_new: the approximation with tanh

}  // namespace hgt
