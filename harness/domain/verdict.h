/* The verdict on a case: one word and a reason, the same in terminal, page, JSON, exports and store.
 *
 *     case_verdict verdict = {.kind = VERDICT_CRASHED, .detail = "SIGSEGV"};
 *     char said[256];
 *     verdict_word(verdict.kind);                         "fail"
 *     verdict_reason(verdict.kind);                       "crashed"
 *     verdict_describe(&verdict, said, sizeof said);      "fail (crashed: SIGSEGV)"
 */
#ifndef LNBENCH_VERDICT_H
#define LNBENCH_VERDICT_H

#include "base/die.h"
#include <stddef.h>

enum { DETAIL_MAX_LENGTH = 512, VERDICT_MAX_LENGTH = DETAIL_MAX_LENGTH + 64 };

typedef enum verdict_kind {
    VERDICT_PENDING, /* not judged yet */
    VERDICT_PASS,
    VERDICT_PASS_NO_BOUND,
    VERDICT_TYPE_LIMITED, /* no kernel of these types is accurate on this input: no failure, never recommended */
    VERDICT_TYPE_LIMITED_CLASS, /* the same for NaN or infinity instead of a number, or the reverse */
    VERDICT_INACCURATE,
    VERDICT_WRONG_CLASS,
    VERDICT_OVERRUN,
    VERDICT_INPUT_MODIFIED,
    VERDICT_STATE_CHANGED,
    VERDICT_NONDETERMINISTIC,
    VERDICT_CRASHED,
    VERDICT_TIMEOUT,
    VERDICT_UNSUPPORTED, /* the kernel does not support the problem, or cannot run here */
    VERDICT_MISSING,     /* requested, but without a result */
    VERDICT_NOT_JUDGED,  /* an output that cannot be judged; never stored */
    VERDICT_COUNT,
} verdict_kind;

/* The beginning of a good verdict's detail if the kernel slows other code down. */
#define SPEED_TRAP "speed trap: "

/* Parts of a failure's detail that explain the failure. */
#define SAYS_MISTAKE "y is that of a kernel that "
#define SAYS_UNWRITTEN "nothing was written"
#define SAYS_FROM_GAP "NaN that it read between the rows of "
/* Follows the size of a minimized problem: all settings are defaults, or (", default: pass") the verdict with them. */
#define SAYS_DEFAULT ", default"

typedef struct case_verdict {
    verdict_kind kind;
    char detail[DETAIL_MAX_LENGTH]; /* "SIGSEGV", "1 element behind y", "no AVX-512 on this CPU",
                                       ... */
} case_verdict;

/* "pass", "type-limited", "fail", "unsupported" or "missing"; NULL: not judged. */
const char *verdict_word(verdict_kind kind);
/* Returns the reason. For fail: "inaccurate", "crashed", ...; for type-limited: "inaccurate" or "wrong-class"; for
 * pass: "" or "no bound"; otherwise "". */
const char *verdict_reason(verdict_kind kind);
/* Returns word and reason: "pass", "fail (inaccurate)", "not judged", ... */
const char *verdict_phrase(verdict_kind kind);
/* Finds the verdict of a word and a reason; word NULL: the case was not judged. False: there is no such verdict. */
bool verdict_from_words(const char *word, const char *reason, verdict_kind *kind);
/* Reads the text of verdict_describe() for a verdict without detail. */
bool verdict_from_phrase(const char *phrase, case_verdict *verdict);
bool verdict_is_right(verdict_kind kind);  /* pass */
bool verdict_is_limit(verdict_kind kind);  /* type-limited */
bool verdict_is_judged(verdict_kind kind); /* pass, type-limited or fail */
bool verdict_is_fault(verdict_kind kind);  /* fail */
/* Returns the phrase with the detail: "fail (crashed: SIGSEGV)", "unsupported (no AVX-512 on this CPU)",
 * "type-limited (inaccurate: ...)", ... */
const char *verdict_describe(const case_verdict *verdict, char *buffer, size_t size);
/* Returns the reason and detail without the word: "inaccurate", "crashed (SIGSEGV)". */
const char *verdict_why(const case_verdict *verdict, char *buffer, size_t size);
/* Sets the detail like printf() in the "C" locale. A text that is too long is cut after a word and ends with "...". */
void verdict_say(case_verdict *verdict, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Returns how informative the detail of a failure is. 4: it says what the kernel computes instead, or the failure is
 * a crash or another broken rule of the call; 2: it names columns; 1: it has only numbers; 0: no failure. */
int verdict_telling(const case_verdict *verdict);
/* Returns the exit code of a command whose only finding is this verdict. */
exit_code verdict_exit_code(const case_verdict *verdict);
/* Returns the exit code that takes precedence: the first of 130, 2, 7, 6, 4, 5, 1, 3, 0. */
exit_code worse_exit_code(exit_code a, exit_code b);

#endif
