// Arguments of the verbs that write into einkorn's own sources.

#include <memory>

#include "cli/verb_table.h"
#include "cli/version_verbs.h"

namespace einkorn::cli {
namespace {

void add_tree(CLI::App& app, std::string& tree) {
  app.add_option("--tree", tree, "root of the sources (default: around the working folder)")
      ->option_text("FOLDER");
}

void add_dirty(CLI::App& app, bool& allow_dirty) {
  app.add_flag("--allow-dirty", allow_dirty, "also where git says that files are changed");
}

void add_tree_options(CLI::App& app, TreeOptions& options) {
  add_tree(app, options.tree);
  app.add_flag("--dry-run", options.dry_run, "print the difference, write nothing");
  add_dirty(app, options.allow_dirty);
  app.add_flag("--json", options.json, "print JSON");
}

std::function<int()> set_up_new_op(CLI::App& app) {
  auto options = std::make_shared<NewOptions>();
  app.add_option("name", options->name, "folder and name, as norm/layer_norm")
      ->required()
      ->option_text("FAMILY/NAME");
  add_tree_options(app, options->tree);
  return [options] { return new_op(*options); };
}

std::function<int()> set_up_new_variant(CLI::App& app) {
  auto options = std::make_shared<NewOptions>();
  app.add_option("name", options->name, "as rms_norm/sm90/ring; its version is 1")
      ->required()
      ->option_text("OP/ARCH/DESIGN");
  add_tree_options(app, options->tree);
  return [options] { return new_variant(*options); };
}

constexpr Verb kNewVerbs[] = {
    {"op", "a folder with an op that builds and passes, to change from there",
     "  einkorn new op norm/layer_norm\n"
     "  einkorn new op norm/layer_norm --dry-run\n",
     set_up_new_op},
    {"variant", "files and line of a variant that refuses until it is written",
     "  einkorn new variant rms_norm/sm90/ring\n"
     "  einkorn new variant silu_mul/cpu/blocks --dry-run\n",
     set_up_new_variant},
};

}  // namespace

std::span<const Verb> new_verbs() { return kNewVerbs; }

std::function<int()> set_up_clone(CLI::App& app) {
  auto options = std::make_shared<CloneOptions>();
  app.add_option("variant", options->variant, "the one to start from, as rms_norm/cpu/rows_v1")
      ->required()
      ->option_text("VARIANT");
  app.add_option("version", options->version, "of the new one, as v3 (default: the next)")
      ->option_text("[vN]");
  add_tree_options(app, options->tree);
  return [options] { return clone_variant(*options); };
}

std::function<int()> set_up_devlog(CLI::App& app) {
  auto options = std::make_shared<DevlogOptions>();
  app.add_option("variant", options->variant, "as rms_norm/cpu/rows_v2")
      ->required()
      ->option_text("VARIANT");
  app.add_option("--results", options->results,
                 "a result file of bench; may be given again (default: all of bench/results)")
      ->allow_extra_args(false)
      ->option_text("FILE");
  app.add_flag("--write", options->write,
               "write docs/devlog/<date>-<op>-<design>_v<N>.md, freeze it");
  add_tree(app, options->tree);
  app.add_flag("--json", options->json, "print JSON");
  return [options] { return devlog(*options); };
}

}  // namespace einkorn::cli
