// The part of LibTorch that the model and training need. <torch/torch.h> includes all of it, and
// every source would instantiate its templates again: twice the time to compile.
#pragma once

#include <torch/csrc/autograd/custom_function.h>
#include <torch/nn/module.h>
#include <torch/nn/modules/linear.h>
#include <torch/utils.h>
