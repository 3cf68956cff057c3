// A program that brings an op of its own: registered by explicit calls, then explained and run like
// the built-in ones.

#include <cstdio>
#include <exception>
#include <string>

#include <einkorn/error.h>
#include <einkorn/registry.h>

#include "examples/outside_op/scale_add.h"

namespace {

void explain_and_run() {
  einkorn::register_op(scale_add::kDefinition);
  einkorn::register_variant(scale_add::kSimple);

  const auto view = einkorn::registry();
  const einkorn::OpEntry& entry = view->find("scale_add");
  for (const char* keys : {"n=4", "n=100000000"}) {
    const einkorn::AnyProblem problem = entry.op->parse(einkorn::split_key_values(keys));
    const auto selection = einkorn::explain(entry, problem.get(), einkorn::cpu_info());
    std::printf("%s\n", keys);
    for (const einkorn::Attempt& attempt : selection.tried) {
      const std::string state = attempt.refusal                       ? attempt.refusal->reason
                                : attempt.variant == selection.chosen ? "chosen"
                                                                      : "would serve";
      std::printf("  %s: %s\n", attempt.variant->name().c_str(), state.c_str());
    }
  }

  einkorn::Rng rng(1);
  const auto inputs = scale_add::ScaleAdd::make_inputs({4}, rng);
  scale_add::run(inputs.args, einkorn::Stream::cpu());
  const auto* x = inputs.args.x.data_as<const float>();
  const auto* y = inputs.args.y.data_as<const float>();
  for (int i = 0; i < 4; ++i) {
    std::printf("1.5 * %.4f + 0.25 = %.4f\n", static_cast<double>(x[i]), static_cast<double>(y[i]));
  }
}

}  // namespace

int main() {
  try {
    explain_and_run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
