// Arguments of the verbs about single kernels, the cache and packs.

#include <charconv>
#include <cmath>
#include <memory>

#include <fmt/format.h>

#include "cli/jit_verbs.h"
#include "cli/verb_table.h"

namespace einkorn::cli {
namespace {

constexpr const char* kKernelCompilers =
    "nvrtc, nvrtc-worker or nvcc (default: the first that serves)";
constexpr const char* kAllCompilers =
    "nvrtc, nvrtc-worker, nvcc, or c++ with --cpu (default: the first that serves)";

/// A number from `least` on, or above it.
CLI::Validator number_from(double least, bool above) {
  return {[least, above](std::string& text) {
            double value = 0;
            const char* end = text.data() + text.size();
            const auto [after, error] = std::from_chars(text.data(), end, value);
            const bool ok = error == std::errc() && after == end && std::isfinite(value) &&
                            (above ? value > least : value >= least);
            return ok ? std::string()
                      : fmt::format("expected a number {} {}, got \"{}\"", above ? "above" : "from",
                                    least, text);
          },
          ""};
}

const CLI::Validator& not_empty() {
  static const CLI::Validator kCheck(
      [](std::string& text) { return text.empty() ? "expected a path, got an empty text" : ""; },
      "");
  return kCheck;
}

void add_json(CLI::App& app, bool& json) { app.add_flag("--json", json, "print JSON"); }

void add_archs(CLI::App& app, std::vector<std::string>& archs, const char* text) {
  app.add_option("--arch", archs, text)
      ->delimiter(',')
      ->allow_extra_args(false)
      ->transform([](const std::string& arch) {
        const std::size_t begin = arch.find_first_not_of(' ');
        if (begin == std::string::npos) return std::string();
        return arch.substr(begin, arch.find_last_not_of(' ') + 1 - begin);
      })
      ->option_text("ARCH[,ARCH...]");
}

void add_source(CLI::App& app, SourceOptions& source, const char* compilers) {
  app.add_option("--entry", source.entries,
                 "kernel to compile, as 'k<float, 4>'; may be given again")
      ->allow_extra_args(false)
      ->option_text("EXPRESSION");
  add_archs(app, source.archs, "sm_80, sm_90a, ... (default: the first GPU's, else sm_90a)");
  app.add_option("-I,--include", source.include_dirs, "folder with headers; may be given again")
      ->allow_extra_args(false)
      ->option_text("FOLDER");
  app.add_option("--option", source.options, "further option of the compiler; may be given again")
      ->allow_extra_args(false)
      ->option_text("OPTION");
  app.add_option("--compiler", source.compiler, compilers)->option_text("NAME");
  app.add_option("--time-limit", source.time_limit,
                 "seconds after which a compilation is ended (default: EINKORN_JIT_TIMEOUT, else "
                 "the compiler's own)")
      ->check(number_from(0, /*above=*/true))
      ->option_text("S");
}

void add_file(CLI::App& app, std::string& file) {
  app.add_option("file", file, "CUDA C++ source, or a shipped one by its path in the tree")
      ->required()
      ->option_text("FILE");
}

std::function<int()> set_up_compile(CLI::App& app) {
  auto options = std::make_shared<JitCompileOptions>();
  add_file(app, options->source.file);
  add_source(app, options->source, kAllCompilers);
  app.add_flag("--cpu", options->source.cpu, "C or C++ with C entry points, to a shared object");
  app.add_flag("--explain", options->explain, "every place asked, in order, and what it said");
  app.add_flag("--fail-on-spill", options->fail_on_spill,
               "exit status 1 when a kernel spills registers");
  add_json(app, options->json);
  return [options] { return jit_compile(*options); };
}

std::function<int()> set_up_jit_run(CLI::App& app) {
  auto options = std::make_shared<JitRunOptions>();
  add_file(app, options->source.file);
  add_source(app, options->source, kAllCompilers);
  app.add_flag("--cpu", options->source.cpu, "a C++ function that returns void, on the CPU");
  app.add_option("--arg", options->arguments,
                 "argument of the kernel, in its order: x=f32[1024], n=1024; may be given again")
      ->allow_extra_args(false)
      ->option_text("NAME=VALUE");
  app.add_option("--grid", options->grid, "blocks, as '(n+255)/256' or 'a,b,c' (default: 1)")
      ->option_text("X[,Y[,Z]]");
  app.add_option("--block", options->block, "threads a block (default: 256)")
      ->option_text("X[,Y[,Z]]");
  app.add_option("--cluster", options->cluster, "blocks a cluster")->option_text("X[,Y[,Z]]");
  app.add_option("--smem", options->smem, "bytes of dynamic shared memory (default: 0)")
      ->option_text("BYTES");
  app.add_option("--check", options->check,
                 "must hold for each element: 'y == x + 1'; x0 is x before the launch, i the index")
      ->option_text("EQUATION");
  app.add_option("--tolerance", options->tolerance,
                 "of --check, relative to the right side and its operands (default: 8 units in the "
                 "last place of the left side's dtype, 1 for 8-bit floats)")
      ->check(number_from(0, /*above=*/false))
      ->option_text("R");
  app.add_flag("--pdl", options->pdl, "programmatic dependent launch");
  app.add_flag("--cooperative", options->cooperative, "cooperative launch");
  app.add_option("--device", options->device, "cuda:N (default: cuda:0)")->option_text("DEVICE");
  app.add_option("--seed", options->seed, "of the random inputs (default: 1)")->option_text("N");
  add_json(app, options->json);
  return [options] { return jit_run(*options); };
}

std::function<int()> set_up_explain_key(CLI::App& app) {
  auto options = std::make_shared<ExplainKeyOptions>();
  app.add_option("first", options->first, "a key of the cache, or its beginning")
      ->required()
      ->option_text("KEY");
  app.add_option("second", options->second, "another")->required()->option_text("KEY");
  add_json(app, options->json);
  return [options] { return jit_explain_key(*options); };
}

std::function<int()> set_up_disasm(CLI::App& app) {
  auto options = std::make_shared<DisasmOptions>();
  app.add_option("what", options->what, "a source (with --entry), a cubin, or a key of the cache")
      ->required()
      ->option_text("FILE|KEY");
  add_source(app, options->source, kKernelCompilers);
  return [options] { return jit_disasm(*options); };
}

template <int (*kVerb)(const CacheOptions&)>
std::function<int()> set_up_cache(CLI::App& app) {
  auto options = std::make_shared<CacheOptions>();
  add_json(app, options->json);
  return [options] { return kVerb(*options); };
}

std::function<int()> set_up_gc(CLI::App& app) {
  auto options = std::make_shared<CacheOptions>();
  app.add_option("--max", options->max_bytes,
                 "room to keep within, as 512M or 10G (default: EINKORN_CACHE_MAX)")
      ->option_text("BYTES");
  add_json(app, options->json);
  return [options] { return cache_gc(*options); };
}

constexpr Verb kJitVerbs[] = {
    {"compile", "fill the cache, GPU or not; registers, shared memory, spills",
     "  einkorn jit compile my.cuh --entry 'k<float, 4>' --arch sm_90a\n"
     "  einkorn jit compile my.cuh --entry k --arch sm_80,sm_100a --explain\n"
     "  einkorn jit compile kernels.cc --cpu\n",
     set_up_compile},
    {"run", "try a kernel without writing a program",
     "  einkorn jit run my.cuh --entry 'k<float>' --arg x=f32[1048576] --arg n=1048576 \\\n"
     "      --grid '(n+255)/256' --block 256 --check 'x == x0 + 1'\n"
     "  einkorn jit run my.cc --cpu --entry 'f<float>' --arg x=f32[1024] --check 'x == 2 * x0'\n",
     set_up_jit_run},
    {"explain-key", "why two keys of the cache differ",
     "  einkorn cache ls\n"
     "  einkorn jit explain-key 14d5a3 9f02c1\n",
     set_up_explain_key},
    {"disasm", "the machine code of a kernel, where a disassembler is installed",
     "  einkorn jit disasm my.cuh --entry 'k<float>' --arch sm_90a\n"
     "  einkorn jit disasm 14d5a3\n",
     set_up_disasm},
};

constexpr Verb kCacheVerbs[] = {
    {"ls", "every kernel in the cache", "  einkorn cache ls --json\n", set_up_cache<cache_ls>},
    {"stat", "where it is and how full", "  einkorn cache stat\n", set_up_cache<cache_stat>},
    {"verify", "exit status 0 when every artifact is sound", "  einkorn cache verify\n",
     set_up_cache<cache_verify>},
    {"gc", "make room, longest unused first", "  einkorn cache gc --max 512M\n", set_up_gc},
    {"clear", "remove all of it", "  einkorn cache clear\n", set_up_cache<cache_clear>},
};

}  // namespace

std::span<const Verb> jit_verbs() { return kJitVerbs; }
std::span<const Verb> cache_verbs() { return kCacheVerbs; }

std::function<int()> set_up_pack(CLI::App& app) {
  auto options = std::make_shared<PackOptions>();
  app.add_option("words", options->words, "ops or op/arch/variant (default: all)")
      ->option_text("OP[/VARIANT] ...");
  add_archs(app, options->archs, "what to compile for (default: sm_80,sm_90a,sm_100a)");
  app.add_option("--output", options->output, "the folder to make")
      ->required()
      ->check(not_empty())
      ->option_text("FOLDER");
  app.add_option("--level", options->level,
                 "kernels of cases up to this level, 0 to 3 (default: 1)")
      ->check(CLI::Range(0, 3))
      ->option_text("N");
  app.add_flag("--tilings", options->tilings, "of every candidate tiling, not only the default");
  app.add_option("--manifest", options->manifest,
                 "what this file lists instead of shipped variants")
      ->check(not_empty())
      ->option_text("FILE");
  app.add_flag("--overwrite", options->overwrite, "replace the pack that is there");
  add_json(app, options->json);
  return [options] { return pack(*options); };
}

std::function<int()> set_up_warmup(CLI::App& app) {
  auto options = std::make_shared<WarmupOptions>();
  app.add_option("manifest", options->manifest, "kernels and problems, see docs/guide/jit.md")
      ->required()
      ->check(not_empty())
      ->option_text("FILE");
  add_archs(app, options->archs, "what to compile for (default: the GPUs here)");
  add_json(app, options->json);
  return [options] { return warmup(*options); };
}

std::function<int()> set_up_clangd(CLI::App& app) {
  auto options = std::make_shared<ClangdOptions>();
  app.add_option("--arch", options->arch, "whose instructions are known (default: sm_90a)")
      ->option_text("ARCH");
  app.add_option("--output", options->output, "the file to write (default: .clangd)")
      ->option_text("FILE");
  app.add_option("-I,--include", options->include_dirs, "folder with headers; may be given again")
      ->allow_extra_args(false)
      ->option_text("FOLDER");
  app.add_flag("--overwrite", options->overwrite, "replace a file that is there");
  return [options] { return clangd(*options); };
}

}  // namespace einkorn::cli
