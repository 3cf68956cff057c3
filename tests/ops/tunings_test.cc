// The tunings that ship: each names a variant, a problem and a tiling that its device can have.

#include <string>

#include <einkorn/cuda.h>
#include <einkorn/registry.h>
#include <gtest/gtest.h>

#include "src/trials/bundled.h"
#include "tests/unit/registry/environment.h"

namespace einkorn::test {
namespace {

/// A device of the table by the driver's name for it.
DeviceInfo device_titled(const std::string& title) {
  for (const std::string_view name : cuda::known_device_names()) {
    DeviceInfo info = cuda::known_device(name);
    if (info.name == title) return info;
  }
  ADD_FAILURE() << "no known device is called " << title;
  return {};
}

/// Whether this build has variants of the arch that an id names.
bool is_built(const Registry& view, const std::string& id) {
  const std::size_t begin = id.find('/') + 1;
  const std::string_view arch = std::string_view(id).substr(begin, id.find('/', begin) - begin);
  for (const OpEntry& entry : view.ops()) {
    for (const Variant* variant : entry.variants) {
      if (variant->arch == arch) return true;
    }
  }
  return false;
}

/// f(entry, trial, problem, device) for all that ship and whose arch this build has.
template <class F>
void for_each_shipped(F&& f) {
  const auto view = registry();
  int entries = 0;
  for (const OpEntry& entry : view->ops()) {
    const trials::Reading& reading = trials::bundled(entry.op->name);
    EXPECT_TRUE(reading.bad.empty()) << entry.op->name;
    for (const trials::Trial& trial : reading.trials) {
      if (!is_built(*view, trial.variant)) continue;
      SCOPED_TRACE(trial.variant + " " + trial.problem + " " + trial.tiling);
      const AnyProblem problem = entry.op->parse(split_key_values(trial.problem));
      f(entry, trial, problem.get(), device_titled(trial.place.device));
      ++entries;
    }
  }
  if (entries == 0) GTEST_SKIP() << "none is of an arch that this build has";
}

TEST(ShippedTunings, FitTheirProblemsAndDevices) {
  for_each_shipped([](const OpEntry& entry, const trials::Trial& trial, const void* problem,
                      const DeviceInfo& device) {
    EXPECT_EQ(device.cc, trial.place.cc);
    const Variant& variant = registry()->find_variant(entry, trial.variant);
    EXPECT_EQ(entry.op->print(problem), trial.problem) << "not as a look-up prints it";
    EXPECT_FALSE(refusal_of(variant, problem, device));
    EXPECT_FALSE(variant.validate(problem, device, trial.tiling));
  });
}

TEST(ShippedTunings, AreFound) {
  const ScopedVariable no_trials("EINKORN_TRIALS", "off");  // of whoever runs this
  for_each_shipped([](const OpEntry& entry, const trials::Trial& trial, const void* problem,
                      const DeviceInfo& device) {
    const std::string_view name = std::string_view(trial.variant).substr(entry.op->name.size() + 1);
    const Selection selection = explain(entry, problem, device, name);
    EXPECT_EQ(selection.quality, "exact")
        << "its sources have changed since: einkorn tune measures again and --export writes it";
    EXPECT_EQ(selection.tiling, trial.tiling);
  });
}

}  // namespace
}  // namespace einkorn::test
