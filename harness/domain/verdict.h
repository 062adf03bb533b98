/* What became of a case: one word and a reason, the same in terminal, page, JSON, exports and store.
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
    VERDICT_TYPE_LIMITED, /* as far off as a textbook kernel of these types may be there: no fault, never taken */
    VERDICT_TYPE_LIMITED_CLASS, /* likewise of another class */
    VERDICT_INACCURATE,
    VERDICT_WRONG_CLASS,
    VERDICT_OVERRUN,
    VERDICT_INPUT_MODIFIED,
    VERDICT_STATE_CHANGED,
    VERDICT_NONDETERMINISTIC,
    VERDICT_CRASHED,
    VERDICT_TIMEOUT,
    VERDICT_UNSUPPORTED, /* the kernel does not take the problem, or cannot run here */
    VERDICT_MISSING,     /* asked for, without a result */
    VERDICT_NOT_JUDGED,  /* an output of which nothing can be said; never stored */
    VERDICT_COUNT,
} verdict_kind;

/* How the detail of a good verdict begins where the kernel slows others down. */
#define SPEED_TRAP "speed trap: "

/* How the detail of a wrong verdict goes on where the judge knows what the kernel computes. */
#define SAYS_MISTAKE "y is that of a kernel that "
#define SAYS_UNWRITTEN "nothing was written"
#define SAYS_FROM_GAP "NaN that it read between the rows of "
/* Of the least problem that shows a fault: whether it is so plain, or what the plain one is. */
#define SAYS_PLAIN ", plain"

typedef struct case_verdict {
    verdict_kind kind;
    char detail[DETAIL_MAX_LENGTH]; /* "SIGSEGV", "1 element behind y", "no AVX-512 on this CPU",
                                       ... */
} case_verdict;

/* "pass", "type-limited", "fail", "unsupported" or "missing"; NULL: not judged. */
const char *verdict_word(verdict_kind kind);
/* Of fail: "inaccurate", "crashed", ...; of type-limited: "inaccurate", "wrong-class"; of pass: "" or "no
 * bound"; else "". */
const char *verdict_reason(verdict_kind kind);
/* Both: "pass", "fail (inaccurate)", "not judged", ... */
const char *verdict_phrase(verdict_kind kind);
/* A word of NULL is a case that was not judged. False: there is no such verdict. */
bool verdict_from_words(const char *word, const char *reason, verdict_kind *kind);
/* Reads what verdict_describe() writes of a verdict without detail. */
bool verdict_from_phrase(const char *phrase, case_verdict *verdict);
bool verdict_is_right(verdict_kind kind);
bool verdict_is_limit(verdict_kind kind);
/* Right, limit or wrong: not declined, lost or not judged; and wrong alone. */
bool verdict_is_judged(verdict_kind kind);
bool verdict_is_fault(verdict_kind kind);
/* With the detail: "fail (crashed: SIGSEGV)", "unsupported (no AVX-512 on this CPU)",
 * "type-limited (inaccurate: ...)", ... */
const char *verdict_describe(const case_verdict *verdict, char *buffer, size_t size);
/* Its reason, where the word is known: "inaccurate", "crashed (SIGSEGV)". */
const char *verdict_why(const case_verdict *verdict, char *buffer, size_t size);
/* Its detail: printf() in the "C" locale. What does not fit ends with a whole word and "...". */
void verdict_say(case_verdict *verdict, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* How much its text tells of what a kernel does wrong (of a limit, 0): 4 what it computes instead, or that it ended or
 * disturbs memory; 2 which columns; 1 a number alone; 0 nothing, it is right. */
int verdict_telling(const case_verdict *verdict);
/* The exit code that this verdict alone would ask for. */
exit_code verdict_exit_code(const case_verdict *verdict);
/* Of two exit codes the one that wins: the first of 2, 7, 6, 4, 5, 1, 3, 0 (130 beats all). */
exit_code worse_exit_code(exit_code a, exit_code b);

#endif
