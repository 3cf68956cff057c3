// Arguments of the verbs on ops, and the table of all verbs.

#include <memory>

#include "cli/port.h"
#include "cli/verb_table.h"
#include "cli/verbs.h"

namespace einkorn::cli {
namespace {

void add_words(CLI::App& app, std::vector<std::string>& words) {
  app.add_option("words", words, "op or op/arch/variant, and key=value (see: einkorn list ops)")
      ->option_text("OP[/VARIANT] KEY=VALUE ...");
}

void add_device(CLI::App& app, std::string& device) {
  app.add_option("--device", device, "cpu or cuda:N (default: the best here)")
      ->option_text("DEVICE");
}

void add_seed(CLI::App& app, std::uint64_t& seed) {
  app.add_option("--seed", seed, "of the random inputs (default: 1)")->option_text("N");
}

void add_level(CLI::App& app, int& level) {
  app.add_option("--level", level, "check cases up to this level, 0 to 3 (CPU: 0, GPU: 1)")
      ->check(CLI::Range(0, 3))
      ->option_text("N");
}

void add_seconds(CLI::App& app, double& seconds) {
  app.add_option("--seconds", seconds,
                 "measuring time for each variant and case, 0.001 to 600 (default: 0.3)")
      ->check(CLI::Range(0.001, 600.0))
      ->option_text("S");
}

std::function<int()> set_up_list(CLI::App& app) {
  auto options = std::make_shared<ListOptions>();
  app.add_option("what", options->what, "variants, ops, arches or devices; none: ops by name")
      ->option_text("[variants|ops|arches|devices]");
  app.add_flag("--json", options->json, "print JSON");
  return [options] { return list(*options); };
}

std::function<int()> set_up_explain(CLI::App& app) {
  auto options = std::make_shared<ExplainOptions>();
  add_words(app, options->words);
  app.add_option("--device", options->device,
                 "cpu, cuda:N, or one that is not here, such as h100 (default: the best here)")
      ->option_text("DEVICE");
  app.add_flag("--json", options->json, "print JSON");
  return [options] { return explain_choice(*options); };
}

std::function<int()> set_up_check(CLI::App& app) {
  auto options = std::make_shared<CheckOptions>();
  add_words(app, options->words);
  app.add_flag("--all", options->all, "all ops, as when none is named");
  add_level(app, options->level);
  add_device(app, options->device);
  add_seed(app, options->seed);
  app.add_flag("--compile", options->compile,
               "also compile the CUDA variants for sm_80, sm_90a and sm_100a; needs no device");
  app.add_flag("--verbose", options->verbose, "one line for every case");
  app.add_flag("--json", options->json, "print JSON");
  return [options] { return check_variants(*options); };
}

std::function<int()> set_up_bench(CLI::App& app) {
  auto options = std::make_shared<BenchOptions>();
  add_words(app, options->words);
  // One value each time: otherwise an op named after it would be taken for another case.
  app.add_option("--case", options->cases, "a case of the op by name; may be given again")
      ->allow_extra_args(false)
      ->option_text("NAME");
  app.add_flag("--peers", options->peers, "other libraries beside it, on the same inputs");
  app.add_flag("--tilings", options->tilings, "every candidate tiling, not only the chosen one");
  app.add_flag("--all-variants", options->all_variants, "every variant that serves");
  app.add_flag("--versions", options->versions,
               "the versions of each design, or of the one named, each against the one before");
  app.add_flag("--call-cost", options->call_cost, "what one call costs on the CPU");
  add_seconds(app, options->seconds);
  add_seed(app, options->seed);
  add_device(app, options->device);
  app.add_option("--output", options->output, "also write the JSON to this file")
      ->option_text("FILE");
  app.add_flag("--json", options->json, "print JSON");
  return [options] { return bench_variants(*options); };
}

std::function<int()> set_up_run(CLI::App& app) {
  auto options = std::make_shared<RunOptions>();
  add_words(app, options->words);
  app.add_flag("--peers", options->peers, "other libraries beside it, on the same inputs");
  app.add_flag("--all-variants", options->all_variants, "measure every variant that serves");
  add_level(app, options->level);
  add_seconds(app, options->seconds);
  add_seed(app, options->seed);
  add_device(app, options->device);
  app.add_option("--output", options->output, "folder of the report (default: out/run/<op>-<date>)")
      ->option_text("FOLDER");
  app.add_flag("--json", options->json, "print JSON");
  return [options] { return run_op(*options); };
}

std::function<int()> set_up_doctor(CLI::App& app) {
  auto options = std::make_shared<DoctorOptions>();
  app.add_flag("--measure", options->measure, "copy bandwidth and matrix rates, measured here");
  app.add_flag("--json", options->json, "print JSON");
  return [options] { return doctor(*options); };
}

constexpr Verb kVerbs[] = {
    {"list", "ops and variants; `list variants`, `list ops` (problem keys), ...",
     "  einkorn list\n"
     "  einkorn list ops\n"
     "  einkorn list variants --json\n",
     set_up_list},
    {"explain", "which variant a problem gets, and why each other one lost",
     "  einkorn explain rms_norm rows=16384 cols=4096 dtype=bf16\n"
     "  einkorn explain rms_norm cols=4096 --device h100\n"
     "  einkorn explain rms_norm/smxx/rows_v1 dtype=f32 --json\n",
     set_up_explain},
    {"run", "the main job: explain, check, measure, compare with the roof, report",
     "  einkorn run rms_norm\n"
     "  einkorn run rms_norm rows=16384 cols=4096 dtype=bf16\n"
     "  einkorn run silu_mul --device cpu --all-variants\n",
     set_up_run},
    {"check", "every variant against its op's reference",
     "  einkorn check\n"
     "  einkorn check rms_norm silu_mul --level 1\n"
     "  einkorn check rms_norm/cpu/rows_v1 rows=3 cols=4097 dtype=f16\n"
     "  einkorn check --device cpu --compile\n",
     set_up_check},
    {"bench", "how fast, beside a plain copy of the same bytes and other libraries",
     "  einkorn bench rms_norm\n"
     "  einkorn bench rms_norm rows=16384 cols=1024 --all-variants --peers\n"
     "  einkorn bench silu_mul --seconds 1 --output silu_mul.json\n",
     set_up_bench},
    {"tune", "the fastest tiling of a variant for a problem, found and remembered",
     "  einkorn tune rms_norm rows=16384 cols=4096 dtype=bf16\n"
     "  einkorn tune rms_norm/smxx/rows_v1 --budget-seconds 60 --history tuning.csv\n"
     "  einkorn tune silu_mul --dry-run\n"
     "  einkorn tune rms_norm --export ops/norm/rms_norm/tunings/\n",
     set_up_tune},
    {"predict", "how long a plan would take, by its work and the device's peaks",
     "  einkorn predict rms_norm rows=16384 cols=4096 dtype=bf16 --device h100\n"
     "  einkorn predict gated_rms_norm --device h200 --json\n",
     set_up_predict},
    {"profile", "where the time goes: stages, hardware counters, or a timeline of kernels",
     "  einkorn profile gated_norm_pair rows=4096 cols=4096\n"
     "  einkorn profile rms_norm/sm90/bulk_v1 rows=16384 cols=4096 --mode counters\n"
     "  einkorn profile gated_norm_pair --mode timeline --output out/pair\n",
     set_up_profile},
    {"report", "what was measured, as one page with charts that opens offline",
     "  einkorn report\n"
     "  einkorn report bench/results --output report.html\n"
     "  einkorn report out/run/rms_norm-2026-11-28-101500/report.json --json\n",
     set_up_report},
    {"jit", "one kernel, any source: compile, run, disassemble, compare keys",
     "  einkorn jit run my.cuh --entry 'k<float>' --arg x=f32[1024] --arg n=1024 --block 256\n",
     nullptr, jit_verbs},
    {"cache", "the compiled kernels on this disk: list, verify, clear", "  einkorn cache stat\n",
     nullptr, cache_verbs},
    {"pack", "compile ahead into one folder that a program ships",
     "  einkorn pack --arch sm_80,sm_90a --output kernels.pack\n"
     "  einkorn pack rms_norm --arch sm_90a --level 1 --output kernels.pack\n"
     "  einkorn pack --manifest kernels.json --arch sm_90a --output kernels.pack\n",
     set_up_pack},
    {"warmup", "compile what a manifest lists into the cache",
     "  einkorn warmup kernels.json\n"
     "  einkorn warmup kernels.json --arch sm_90a\n",
     set_up_warmup},
    {"clangd", "write a .clangd, so that editors understand device sources",
     "  einkorn clangd\n"
     "  einkorn clangd --arch sm_80 --output ../my_kernels/.clangd\n",
     set_up_clangd},
    {"new", "an op or a variant to start from", "  einkorn new op norm/layer_norm\n", nullptr,
     new_verbs},
    {"clone", "the next version of a variant, renamed all through",
     "  einkorn clone rms_norm/cpu/rows_v1 --dry-run\n"
     "  einkorn clone rms_norm/cpu/rows_v1\n"
     "  einkorn clone rms_norm/smxx/rows_v1 v3\n",
     set_up_clone},
    {"devlog", "the log entry of a version, from what was measured",
     "  einkorn devlog rms_norm/smxx/rows_v1\n"
     "  einkorn devlog rms_norm/smxx/rows_v2 --results bench/results/rows_v2.json --write\n",
     set_up_devlog},
    {"port", "survey and bring over an operator of another repository",
     "  einkorn port survey ~/nunchaku --op gemm_w4a4 --out out/gemm_w4a4\n"
     "  einkorn port plan out/gemm_w4a4\n",
     nullptr, nullptr, port},
    {"doctor", "what is here: devices, driver, compiler, environment",
     "  einkorn doctor\n"
     "  einkorn doctor --measure --json\n",
     set_up_doctor},
};

}  // namespace

std::span<const Verb> all_verbs() { return kVerbs; }

}  // namespace einkorn::cli
