/* The table of verdicts, and everything that is read from it. */
#include "domain/verdict.h"
#include "base/text.h"
#include <stdio.h>
#include <string.h>

/* For each verdict its word, its reason, both as a phrase, and the exit code if it is the only finding. */
#define WORD(word) word, "", word
#define REASON(word, reason) word, reason, word " (" reason ")"
static const struct {
    const char *word, *reason, *phrase;
    exit_code code;
} verdicts[VERDICT_COUNT] = {
    [VERDICT_PENDING] = {NULL, "", "not judged", EXIT_CODE_FINE},
    [VERDICT_PASS] = {WORD("pass"), EXIT_CODE_FINE},
    [VERDICT_PASS_NO_BOUND] = {REASON("pass", "no bound"), EXIT_CODE_FINE},
    [VERDICT_TYPE_LIMITED] = {REASON("type-limited", "inaccurate"), EXIT_CODE_FINE},
    [VERDICT_TYPE_LIMITED_CLASS] = {REASON("type-limited", "wrong-class"), EXIT_CODE_FINE},
    [VERDICT_INACCURATE] = {REASON("fail", "inaccurate"), EXIT_CODE_ACCURACY},
    [VERDICT_WRONG_CLASS] = {REASON("fail", "wrong-class"), EXIT_CODE_ACCURACY},
    [VERDICT_OVERRUN] = {REASON("fail", "overrun"), EXIT_CODE_KERNEL_FAILED},
    [VERDICT_INPUT_MODIFIED] = {REASON("fail", "input-modified"), EXIT_CODE_KERNEL_FAILED},
    [VERDICT_STATE_CHANGED] = {REASON("fail", "state-changed"), EXIT_CODE_KERNEL_FAILED},
    [VERDICT_NONDETERMINISTIC] = {REASON("fail", "nondeterministic"), EXIT_CODE_KERNEL_FAILED},
    [VERDICT_CRASHED] = {REASON("fail", "crashed"), EXIT_CODE_KERNEL_FAILED},
    [VERDICT_TIMEOUT] = {REASON("fail", "timeout"), EXIT_CODE_KERNEL_FAILED},
    [VERDICT_UNSUPPORTED] = {WORD("unsupported"), EXIT_CODE_FINE},
    [VERDICT_MISSING] = {WORD("missing"), EXIT_CODE_FINE},
    [VERDICT_NOT_JUDGED] = {NULL, "", "not judged", EXIT_CODE_INCONCLUSIVE},
};

const char *verdict_word(verdict_kind kind)
{
    return verdicts[kind].word;
}

const char *verdict_reason(verdict_kind kind)
{
    return verdicts[kind].reason;
}

const char *verdict_phrase(verdict_kind kind)
{
    return verdicts[kind].phrase;
}

bool verdict_from_words(const char *word, const char *reason, verdict_kind *kind)
{
    *kind = VERDICT_PENDING;
    if (!word)
        return true;
    for (int i = 0; i < VERDICT_COUNT; i++) {
        *kind = (verdict_kind)i;
        if (verdicts[i].word && strcmp(word, verdicts[i].word) == 0 &&
            strcmp(reason, verdicts[i].reason) == 0)
            return true;
    }
    return false;
}

bool verdict_is_right(verdict_kind kind)
{
    return kind == VERDICT_PASS || kind == VERDICT_PASS_NO_BOUND;
}

bool verdict_is_limit(verdict_kind kind)
{
    return kind == VERDICT_TYPE_LIMITED || kind == VERDICT_TYPE_LIMITED_CLASS;
}

bool verdict_is_judged(verdict_kind kind)
{
    return kind >= VERDICT_PASS && kind <= VERDICT_TIMEOUT;
}

bool verdict_is_fault(verdict_kind kind)
{
    return verdict_is_judged(kind) && !verdict_is_right(kind) && !verdict_is_limit(kind);
}

const char *verdict_describe(const case_verdict *verdict, char *buffer, size_t size)
{
    const char *phrase = verdict_phrase(verdict->kind);
    bool reason = verdict_reason(verdict->kind)[0] != '\0';
    if (!verdict->detail[0] || verdict->kind == VERDICT_PASS)
        snprintf(buffer, size, "%s", phrase);
    else /* put the detail into the brackets of the reason */
        snprintf(buffer, size, "%.*s%s%s)", (int)strlen(phrase) - reason, phrase,
                 reason ? ": " : " (", verdict->detail);
    return buffer;
}

const char *verdict_why(const case_verdict *verdict, char *buffer, size_t size)
{
    bool more = verdict->detail[0] != '\0';
    snprintf(buffer, size, "%s%s%s%s", verdict_reason(verdict->kind), more ? " (" : "",
             verdict->detail, more ? ")" : "");
    return buffer;
}

bool verdict_from_phrase(const char *phrase, case_verdict *verdict)
{
    char described[64];
    for (int i = 0; i < VERDICT_COUNT; i++) {
        *verdict = (case_verdict){.kind = (verdict_kind)i};
        if (strcmp(phrase, verdict_describe(verdict, described, sizeof described)) == 0)
            return true;
    }
    return false;
}

void verdict_say(case_verdict *verdict, const char *format, ...)
{
    static const char more[] = "...";
    char *detail = verdict->detail, text[2 * DETAIL_MAX_LENGTH]; /* the detail may be an argument */
    va_list arguments;
    va_start(arguments, format);
    number_print_list(text, sizeof text, format, arguments);
    va_end(arguments);
    size_t length = strlen(text), end = DETAIL_MAX_LENGTH - sizeof more;
    memcpy(detail, text, length < DETAIL_MAX_LENGTH ? length + 1 : end + 1);
    if (length < DETAIL_MAX_LENGTH)
        return;
    while (end > 0 && detail[end] != ' ')
        end--;
    memcpy(detail + end, more, sizeof more);
}

int verdict_telling(const case_verdict *verdict)
{
    const char *detail = verdict->detail;
    if (verdicts[verdict->kind].code != EXIT_CODE_ACCURACY &&
        verdict->kind != VERDICT_NONDETERMINISTIC)
        return verdict_is_fault(verdict->kind) ? 4 : 0;
    if (strstr(detail, SAYS_MISTAKE) || strstr(detail, SAYS_UNWRITTEN) ||
        strstr(detail, SAYS_FROM_GAP))
        return 4;
    return strstr(detail, "column") ? 2 : 1;
}

exit_code verdict_exit_code(const case_verdict *verdict)
{
    return verdicts[verdict->kind].code;
}

exit_code worse_exit_code(exit_code a, exit_code b)
{
    static const exit_code order[] = {
        EXIT_CODE_INTERRUPTED,   EXIT_CODE_USAGE,          EXIT_CODE_ENVIRONMENT,
        EXIT_CODE_KERNEL_FAILED, EXIT_CODE_NOT_COMPARABLE, EXIT_CODE_ACCURACY,
        EXIT_CODE_REGRESSION,    EXIT_CODE_INCONCLUSIVE,
    };
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        if (a == order[i] || b == order[i])
            return order[i];
    return EXIT_CODE_FINE;
}
