#include "domain/verdict.h"
#include "base/text.h"
#include <stdio.h>
#include <string.h>

#define WORD(word)                                                                                 \
    {                                                                                              \
        word, "", word                                                                             \
    }
#define REASON(word, reason)                                                                       \
    {                                                                                              \
        word, reason, word " (" reason ")"                                                         \
    }

static const struct {
    const char *word, *reason, *phrase;
} verdicts[VERDICT_COUNT] = {
    [VERDICT_PENDING] = {NULL, "", "not judged"},
    [VERDICT_RIGHT] = WORD("pass"),
    [VERDICT_RIGHT_NO_BOUND] = REASON("pass", "no bound"),
    [VERDICT_LIMIT] = REASON("type-limited", "inaccurate"),
    [VERDICT_LIMIT_CLASS] = REASON("type-limited", "wrong-class"),
    [VERDICT_INACCURATE] = REASON("fail", "inaccurate"),
    [VERDICT_WRONG_CLASS] = REASON("fail", "wrong-class"),
    [VERDICT_OVERRUN] = REASON("fail", "overrun"),
    [VERDICT_INPUT_MODIFIED] = REASON("fail", "input-modified"),
    [VERDICT_STATE_CHANGED] = REASON("fail", "state-changed"),
    [VERDICT_NONDETERMINISTIC] = REASON("fail", "nondeterministic"),
    [VERDICT_CRASHED] = REASON("fail", "crashed"),
    [VERDICT_TIMEOUT] = REASON("fail", "timeout"),
    [VERDICT_DECLINED] = WORD("unsupported"),
    [VERDICT_LOST] = WORD("missing"),
    [VERDICT_NOT_JUDGED] = {NULL, "", "not judged"},
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
    return kind == VERDICT_RIGHT || kind == VERDICT_RIGHT_NO_BOUND;
}

bool verdict_is_limit(verdict_kind kind)
{
    return kind == VERDICT_LIMIT || kind == VERDICT_LIMIT_CLASS;
}

bool verdict_is_judged(verdict_kind kind)
{
    return kind >= VERDICT_RIGHT && kind <= VERDICT_TIMEOUT;
}

bool verdict_is_fault(verdict_kind kind)
{
    return verdict_is_judged(kind) && !verdict_is_right(kind) && !verdict_is_limit(kind);
}

const char *verdict_describe(const case_verdict *verdict, char *buffer, size_t size)
{
    const char *phrase = verdict_phrase(verdict->kind);
    int length = (int)strlen(phrase);
    if (!verdict->detail[0] || verdict->kind == VERDICT_RIGHT)
        snprintf(buffer, size, "%s", phrase);
    else if (verdict_reason(verdict->kind)[0])
        snprintf(buffer, size, "%.*s: %s)", length - 1, phrase, verdict->detail);
    else
        snprintf(buffer, size, "%s (%s)", phrase, verdict->detail);
    return buffer;
}

const char *verdict_why(const case_verdict *verdict, char *buffer, size_t size)
{
    const char *reason = verdict_reason(verdict->kind);
    if (verdict->detail[0])
        snprintf(buffer, size, "%s (%s)", reason, verdict->detail);
    else
        snprintf(buffer, size, "%s", reason);
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
    switch (verdict->kind) {
    case VERDICT_INACCURATE:
    case VERDICT_WRONG_CLASS:
    case VERDICT_NONDETERMINISTIC:
        return strstr(detail, SAYS_MISTAKE) || strstr(detail, SAYS_UNWRITTEN) ||
                       strstr(detail, SAYS_FROM_GAP)
                   ? 4
               : strstr(detail, "column") ? 2
                                          : 1;
    default:
        return verdict_is_fault(verdict->kind) ? 4 : 0;
    }
}

exit_code verdict_exit_code(const case_verdict *verdict)
{
    switch (verdict->kind) {
    case VERDICT_INACCURATE:
    case VERDICT_WRONG_CLASS:
        return EXIT_CODE_ACCURACY;
    case VERDICT_OVERRUN:
    case VERDICT_INPUT_MODIFIED:
    case VERDICT_STATE_CHANGED:
    case VERDICT_NONDETERMINISTIC:
    case VERDICT_CRASHED:
    case VERDICT_TIMEOUT:
        return EXIT_CODE_KERNEL_FAILED;
    case VERDICT_NOT_JUDGED:
        return EXIT_CODE_INCONCLUSIVE;
    default:
        return EXIT_CODE_FINE;
    }
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
