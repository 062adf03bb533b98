/* A hunt's file: its settings, a line each, then its finds. Two hunts with the same settings make
 * the same bytes. */
#include "base/files.h"
#include "referee/hunt/hunt.h"
#include "base/number.h"
#include <math.h>
#include <stdlib.h>

/* 0: the kernel failed; 1: a wrong class; 2: an error. */
static int rank(const worst_row *find)
{
    if (verdict_exit_code(&find->verdict) == EXIT_CODE_KERNEL_FAILED)
        return 0;
    return find->score == INFINITY ? 1 : 2;
}

static bool comes_before(const worst_row *a, const worst_row *b)
{
    if (rank(a) != rank(b))
        return rank(a) < rank(b);
    if (a->score != b->score)
        return a->score > b->score;
    return a->restart < b->restart;
}

bool hunt_keep(hunt_state *hunt, worst_row *find, error *err)
{
    worst_row *grown = realloc(hunt->finds, (hunt->find_count + 1) * sizeof *grown);
    if (!grown) {
        worst_row_free(find);
        return fail_memory(err, "finds");
    }
    hunt->finds = grown;
    size_t at = hunt->find_count++;
    for (; at > 0 && comes_before(find, &grown[at - 1]); at--)
        grown[at] = grown[at - 1];
    grown[at] = *find;
    *find = (worst_row){0};
    if (hunt->find_count > hunt->settings.keep)
        worst_row_free(&grown[--hunt->find_count]);
    return true;
}

/* The command that makes this hunt, whole. */
static void add_command(const hunt_settings *s, text_buffer *out)
{
    char number[32];
    text_format(out,
                "# lnbench hunt --kernel %s --convention %s --hidden %zu --seed %llu --keep %llu",
                s->kernel, s->convention, s->hidden, (unsigned long long)s->seed,
                (unsigned long long)s->keep);
    if (s->restarts)
        text_format(out, " --restarts %llu", (unsigned long long)s->restarts);
    else
        text_format(out, " --time %s", number_format(s->seconds, number));
    if (isfinite(s->max_kappa))
        text_format(out, " --max-kappa %s", number_format(s->max_kappa, number));
    text_add(out, "\n");
}

bool hunt_save(const hunt_state *hunt, const char *state, const char *path, error *err)
{
    const hunt_settings *s = &hunt->settings;
    char kappa[32], seconds[32];
    text_buffer out = {0};
    text_add(&out, "# Rows on which a kernel is worst, found by lnbench hunt (docs/accuracy.md).\n"
                   "# Again, bit for bit: lnbench replay --from THIS-FILE\n");
    add_command(s, &out);
    text_format(&out, "kernel %s\nconvention %s\ndtype %s\n", s->kernel, s->convention,
                dtype_name(s->storage));
    if (s->param != s->storage)
        text_format(&out, "param %s\n", dtype_name(s->param));
    text_format(&out, "hidden %zu\nseed %llu\n", s->hidden, (unsigned long long)s->seed);
    text_format(&out, "max_kappa %s\nkeep %llu\nrestarts %llu\nseconds %s\n",
                isinf(s->max_kappa) ? "inf" : number_format(s->max_kappa, kappa),
                (unsigned long long)s->keep, (unsigned long long)s->restarts,
                number_format(s->seconds, seconds));
    text_format(&out, "state %s\ndone %llu\nrows %llu\n", state, (unsigned long long)hunt->done,
                (unsigned long long)hunt->rows);
    for (size_t i = 0; i < hunt->find_count; i++) {
        text_add(&out, "\n");
        worst_row_format(&hunt->finds[i], &out);
    }
    bool fine = out.failed ? fail_memory(err, path) : write_whole_file(path, &out, err);
    text_free(&out);
    return fine;
}
