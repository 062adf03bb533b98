/* A comparison for CI: JUnit XML and the annotations of GitHub Actions. */
#include "base/clean.h"
#include "compare/comparison.h"

static void add_xml(text_buffer *out, const char *string)
{
    clean_add(out, FORM_MARKUP, string);
}

/* A pair that is no failure but no answer either is an error in JUnit's sense. */
static void add_test_case(text_buffer *out, const run_comparison *comparison,
                          const comparison_pair *pair)
{
    exit_code code = pair_exit_code(pair, &comparison->settings);
    bool failure = code == EXIT_CODE_REGRESSION || code == EXIT_CODE_ACCURACY;
    const char *element = failure ? "failure" : "error";
    text_buffer summary = {0}, name = {0};
    add_pair_summary(&summary, comparison, pair);
    add_pair_name(&name, &pair->key);
    text_format(out, "  <testcase classname=\"%s\" name=\"", comparison->settings.tool);
    add_xml(out, name.bytes ? name.bytes : "");
    text_format(out, "\" time=\"%.3f\">\n", pair->seconds);
    if (code == EXIT_CODE_FINE) {
        text_add(out, "    <system-out>");
    } else {
        text_format(out, "    <%s type=\"%s\" message=\"", element, outcome_name(code));
        add_xml(out, summary.bytes ? summary.bytes : "");
        text_format(out, "\"/>\n    <system-out>");
    }
    add_xml(out, summary.bytes ? summary.bytes : "");
    text_add(out, "</system-out>\n  </testcase>\n");
    text_free(&summary);
    text_free(&name);
}

/* Whether cases that stand apart fail the gate. */
static bool fails(const run_comparison *comparison, const apart_cases *apart)
{
    return apart->kind == APART_LOST && !comparison->settings.allow_lost;
}

/* What is known of no pair: a context that differs or what is lost (errors), what only one side has
 * or both decline. */
static void add_other_cases(text_buffer *out, const run_comparison *comparison)
{
    for (size_t i = 0; i < comparison->differences.count; i++) {
        text_format(out,
                    "  <testcase classname=\"%s\" name=\"context %zu\"><error "
                    "type=\"not comparable\" message=\"",
                    comparison->settings.tool, i + 1);
        add_xml(out, comparison->differences.words[i]);
        text_add(out, "\"/></testcase>\n");
    }
    for (size_t i = 0; i < comparison->apart_count; i++) {
        const apart_cases *apart = &comparison->apart[i];
        text_buffer line = {0};
        add_apart(&line, apart);
        text_format(out, "  <testcase classname=\"%s\" name=\"", comparison->settings.tool);
        add_xml(out, line.bytes ? line.bytes : "");
        text_add(out, fails(comparison, apart)
                          ? "\"><error type=\"not comparable\" message=\"lost\"/></testcase>\n"
                          : "\"><skipped message=\"not compared\"/></testcase>\n");
        text_free(&line);
    }
}

void add_junit(text_buffer *out, const run_comparison *comparison)
{
    size_t failures = 0, errors = comparison->differences.count, skipped = comparison->apart_count;
    double seconds = 0;
    for (size_t i = 0; i < comparison->apart_count; i++) {
        errors += fails(comparison, &comparison->apart[i]);
        skipped -= fails(comparison, &comparison->apart[i]);
    }
    for (size_t i = 0; i < comparison->pair_count; i++) {
        exit_code code = pair_exit_code(&comparison->pairs[i], &comparison->settings);
        bool failure = code == EXIT_CODE_REGRESSION || code == EXIT_CODE_ACCURACY;
        failures += failure;
        errors += !failure && code != EXIT_CODE_FINE;
        seconds += comparison->pairs[i].seconds;
    }
    text_format(out,
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                "<testsuites>\n<testsuite name=\"lnbench %s\" tests=\"%zu\" failures=\"%zu\" "
                "errors=\"%zu\" skipped=\"%zu\" time=\"%.3f\">\n",
                comparison->settings.tool,
                comparison->pair_count + comparison->apart_count + comparison->differences.count,
                failures, errors, skipped, seconds);
    for (size_t i = 0; i < comparison->pair_count; i++)
        add_test_case(out, comparison, &comparison->pairs[i]);
    add_other_cases(out, comparison);
    text_add(out, "</testsuite>\n</testsuites>\n");
}

static void add_command(text_buffer *out, const char *command, const char *title,
                        const char *message)
{
    text_format(out, "::%s title=", command);
    clean_add(out, FORM_GITHUB_PROPERTY, title);
    text_add(out, "::");
    clean_add(out, FORM_GITHUB, message);
    text_add(out, "\n");
}

void add_github(text_buffer *out, const run_comparison *comparison)
{
    text_buffer conclusion = {0};
    char tool[32];
    for (size_t i = 0; i < comparison->pair_count; i++) {
        const comparison_pair *pair = &comparison->pairs[i];
        exit_code code = pair_exit_code(pair, &comparison->settings);
        text_buffer summary = {0}, title = {0};
        if (code == EXIT_CODE_FINE)
            continue;
        add_pair_summary(&summary, comparison, pair);
        text_format(&title, "%s: ", outcome_name(code));
        add_pair_name(&title, &pair->key);
        if (summary.bytes && title.bytes)
            add_command(out, code == EXIT_CODE_INCONCLUSIVE ? "warning" : "error", title.bytes,
                        summary.bytes);
        text_free(&summary);
        text_free(&title);
    }
    for (size_t i = 0; i < comparison->differences.count; i++)
        add_command(out, "error", "not comparable", comparison->differences.words[i]);
    for (size_t i = 0; i < comparison->apart_count; i++) {
        const apart_cases *apart = &comparison->apart[i];
        text_buffer line = {0};
        add_apart(&line, apart);
        add_command(out, fails(comparison, apart) ? "error" : "notice",
                    apart->kind == APART_LOST ? "lost" : "not compared",
                    line.bytes ? line.bytes : "");
        text_free(&line);
    }
    add_conclusion(&conclusion, comparison);
    snprintf(tool, sizeof tool, "lnbench %s", comparison->settings.tool);
    if (conclusion.bytes)
        add_command(out, "notice", tool, conclusion.bytes);
    text_free(&conclusion);
}
