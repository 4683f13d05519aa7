// An encoder with what a task puts on top of it: a classifier, or a scorer of pairs.
#pragma once

#include <cstdint>

#include "hgt/model/encoder.h"
#include "hgt/model/graph_batch.h"
#include "hgt/model/neural_tensor_network.h"
#include "hgt/model/torch.h"
#include "hgt/run/train_options.h"
#include "hgt/task/task.h"

namespace hgt {

class TaskModelImpl : public torch::nn::Module {
 public:
  // classes 0: pairs are scored. The weights come from torch's generator.
  TaskModelImpl(const TrainOptions& options, const ModelSchema& schema, uint32_t classes);

  // [examples, classes] or [pairs]. The batch was made of the question's request.
  at::Tensor scores(const GraphBatch& batch, const Question& question) const;

  at::Tensor class_scores(const at::Tensor& vectors) const;  // [n, d] -> [n, classes]
  at::Tensor pair_scores(const at::Tensor& left, const at::Tensor& right) const;  // [n, d] -> [n]

  const Encoder& encoder() const { return encoder_; }

 private:
  Encoder encoder_;
  torch::nn::Linear classifier_{nullptr};
  NeuralTensorNetwork tensor_network_{nullptr};
};
TORCH_MODULE(TaskModel);

// Mean over the examples, without those that have no pairs. `scores` as TaskModel made them of the
// question.
at::Tensor task_loss(const at::Tensor& scores, const Question& question, Loss loss);

}  // namespace hgt
