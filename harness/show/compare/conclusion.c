/* The sentences that sum a comparison up. */
#include "show/compare/comparison.h"
#include <math.h>
#include <string.h>

void add_plain(text_buffer *out, const char *string)
{
    for (; *string; string++) {
        char c = *string >= 0x20 && *string < 0x7f ? *string : '?';
        text_add_bytes(out, &c, 1);
    }
}

const char *accuracy_verdict_words(accuracy_verdict verdict)
{
    return verdict == ACCURACY_CHANGED ? "bits differ" : accuracy_verdict_name(verdict);
}

/* What the pairs come to; where there is no figure, that there is none. */
static void add_pairs(text_buffer *out, const run_comparison *comparison)
{
    const char *speed = speed_verdict_name(comparison_speed(comparison));
    const char *accuracy = accuracy_verdict_words(comparison_accuracy(comparison));
    if (comparison->pair_count == 0) {
        text_add(out, "nothing was compared");
        return;
    }
    text_format(out, "%s%s%s in %zu pair%s", speed ? speed : "", speed && accuracy ? ", " : "",
                accuracy ? accuracy
                : speed  ? ""
                         : "no result",
                comparison->pair_count, comparison->pair_count == 1 ? "" : "s");
}

void add_runs(text_buffer *out, const run_comparison *comparison, size_t room)
{
    text_buffer named[SIDES] = {0};
    for (int side = 0; side < SIDES; side++)
        text_format(&named[side], "%.60s (%s)", comparison->settings.files[side],
                    comparison->identity[side]);
    size_t length = named[BASE].length + strlen(" against ") + named[NEW].length;
    add_plain(out, named[BASE].bytes ? named[BASE].bytes : "");
    text_add(out, room > 0 && length > room ? "\nagainst " : " against ");
    add_plain(out, named[NEW].bytes ? named[NEW].bytes : "");
    text_free(&named[BASE]);
    text_free(&named[NEW]);
}

void add_outcome(text_buffer *out, const run_comparison *comparison)
{
    const coverage *covered = &comparison->covered;
    text_format(out, "%s: ", outcome_name(comparison_exit_code(comparison)));
    if (comparison->differences.count > 0) {
        text_format(out, "the contexts differ in %zu thing%s", comparison->differences.count,
                    comparison->differences.count == 1 ? "" : "s");
        if (comparison->settings.speed && comparison->same_rows)
            text_add(out, "; --only accuracy --allow-missing compares the errors of the cases that "
                          "both have");
        return;
    }
    size_t less = comparison_less_reproducible(comparison);
    double mean = comparison_mean(comparison);
    add_pairs(out, comparison);
    if (!isnan(mean))
        text_format(out, ", geometric mean %.4f", mean);
    if (less > 0)
        text_format(out, ", %zu kernel%s less reproducible", less, less == 1 ? "" : "s");
    if (covered->lost > 0)
        text_format(out, ", %zu of %zu missing%s", covered->lost, covered->asked,
                    comparison->settings.allow_missing ? " (allowed)" : "");
}

void add_worst(text_buffer *out, const run_comparison *comparison, const char *before,
               const char *behind)
{
    const comparison_pair *worst = NULL;
    size_t worse = 0;
    for (size_t i = 0; i < comparison->pair_count; i++) {
        const comparison_pair *pair = &comparison->pairs[i];
        worse += pair->tally.worse;
        if (pair->tally.worse > 0 && (!worst || pair->tally.worst_error > worst->tally.worst_error))
            worst = pair;
    }
    if (!worst)
        return;
    text_format(out, "%sworst: ", before);
    add_pair_name(out, &worst->key);
    text_add(out, ": ");
    add_plain(out, worst->tally.worst);
    if (worse > 1)
        text_format(out, "; %zu more inputs are worse", worse - 1);
    text_add(out, behind);
}

void add_settings(text_buffer *out, const run_comparison *comparison)
{
    const comparison_settings *settings = &comparison->settings;
    text_format(out, "threshold %g %%, confidence %g %%, accuracy %s", settings->threshold * 100,
                settings->confidence * 100,
                settings->accuracy ? accuracy_gate_name(settings->gate) : "not judged");
    if (strcmp(settings->tool, "compare") != 0 || !speed_verdict_name(comparison_speed(comparison)))
        return;
    if (comparison->noise.made[0])
        text_format(out, "; noise measured %s", comparison->noise.made);
    else
        text_add(out, "; decided by interval and rank test");
}

void add_coverage(text_buffer *out, const run_comparison *comparison)
{
    text_buffer line = {0};
    coverage_add_line(&line, &comparison->covered, "compared");
    add_plain(out, line.bytes ? line.bytes : "");
    text_free(&line);
}

void add_conclusion(text_buffer *out, const run_comparison *comparison)
{
    if (strcmp(comparison->settings.tool, "compare") == 0) {
        add_runs(out, comparison, 0);
        text_add(out, ": ");
    }
    add_outcome(out, comparison);
    add_worst(out, comparison, "; ", "");
    if (comparison->differences.count > 0)
        return;
    text_add(out, "; ");
    add_coverage(out, comparison);
    text_add(out, "; ");
    add_settings(out, comparison);
}
