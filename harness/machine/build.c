/* What this binary was made from, and the libraries it runs with. */
#include "machine/internal.h"
#include "build_info.h" /* made anew at each build, written only where it changed */
#include "certify/reference.h"
#include <jansson.h>
#include <sqlite3.h> /* for its version only: SQL is the store's */
#include <stdio.h>
#include <string.h>
#if defined(__GLIBC__)
#include <gnu/libc-version.h>
#endif

#if defined(__clang__)
#define COMPILER "clang " __clang_version__
#elif defined(__GNUC__)
#define COMPILER "gcc " __VERSION__
#else
#define COMPILER "unknown"
#endif

/* Takes "4.2.0" for "MPFR" out of "MPFR 4.2.0, GMP 6.2.1". */
static void add_version(fact_gather *gather, const char *name, const char *all, const char *library)
{
    char version[32] = "";
    const char *at = strstr(all, library);
    if (at)
        sscanf(at + strlen(library), " %31[^ ,]", version);
    add_fact(gather, name, version);
}

static const char *libc_version(void)
{
#if defined(__GLIBC__)
    return gnu_get_libc_version();
#else
    return NULL;
#endif
}

void gather_build(fact_gather *gather)
{
    const char *reference = ln_reference_versions();
    add_fact(gather, "lnbench_version", LNBENCH_VERSION);
    add_fact(gather, "git_commit", LNBENCH_GIT_COMMIT);
    add_fact(gather, "git_dirty", LNBENCH_GIT_DIRTY);
    add_fact(gather, "compiler", COMPILER);
    add_fact(gather, "compiler_flags", LNBENCH_COMPILER_FLAGS);
    add_fact(gather, "build_type", LNBENCH_BUILD_TYPE);
    add_fact(gather, "libc", libc_version());
    add_version(gather, "mpfr", reference, "MPFR");
    add_version(gather, "gmp", reference, "GMP");
    add_fact(gather, "google_benchmark", LNBENCH_BENCHMARK_VERSION);
    add_fact(gather, "google_benchmark_build", LNBENCH_BENCHMARK_BUILD);
    add_fact(gather, "sqlite", sqlite3_libversion());
    add_fact(gather, "jansson", jansson_version_str());
}
