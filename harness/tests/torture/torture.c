/* Every allocation fails once, and every I/O call, of each command of a list:
 *
 *     torture allocations|calls LIST LNBENCH fail_allocation.so [--most N] [--program NAME]
 *             [--only COMMAND] [--call NAME] [--seed S]
 *
 * in a directory that has what the commands need (torture_test.sh). --most N: only N of each
 * command's, evenly spread, of calls so many of each kind; --seed: which, so that 0, 1, 2, ... are
 * others each time; --call: of the calls named so, such as recv. Prints how many were tried; the
 * exit status is 0 when every outcome was right, and something failed at all. */
#include "trace.h"
#include "try.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECONDS = 90, SHORT = -1, CALLS = 100000 };

typedef struct torture_options {
    const char *program, *call;
    long most, seed;
} torture_options;

/* The calls that fail, and how. A count to shorten is the third argument. */
static const struct {
    long number;
    const char *name;
    int errors[5];
} kinds[] = {
    {SYS_read, "read", {EIO, EINTR, SHORT}},
    {SYS_pread64, "pread", {EIO, EINTR, SHORT}},
    {SYS_readv, "readv", {EIO, EINTR}},
    {SYS_write, "write", {EIO, ENOSPC, EINTR, SHORT}},
    {SYS_pwrite64, "pwrite", {EIO, ENOSPC, EINTR, SHORT}},
    {SYS_writev, "writev", {EIO, ENOSPC, EINTR}},
    {SYS_recvfrom, "recv", {EIO, EINTR}},
    {SYS_sendto, "send", {EIO, ENOBUFS, EINTR}},
    {SYS_openat, "open", {EIO, EMFILE, ENOSPC}},
    {SYS_close, "close", {EIO}},
    {SYS_fsync, "fsync", {EIO, ENOSPC}},
    {SYS_fdatasync, "fdatasync", {EIO, ENOSPC}},
    {SYS_ftruncate, "ftruncate", {EIO, ENOSPC}},
    {SYS_fallocate, "fallocate", {EIO, ENOSPC}},
    {SYS_rename, "rename", {EIO, ENOSPC}},
    {SYS_renameat2, "rename", {EIO, ENOSPC}},
    {SYS_unlink, "unlink", {EIO}},
    {SYS_unlinkat, "unlink", {EIO}},
    {SYS_rmdir, "rmdir", {EIO}},
    {SYS_mkdir, "mkdir", {EIO, ENOSPC}},
    {SYS_newfstatat, "stat", {EIO}},
    {SYS_fstat, "fstat", {EIO}},
    {SYS_lseek, "lseek", {EIO}},
    {SYS_getdents64, "getdents", {EIO}},
    {SYS_access, "access", {EIO}},
    {SYS_readlink, "readlink", {EIO}},
    {SYS_pipe2, "pipe", {EMFILE}},
    {SYS_socketpair, "socketpair", {EMFILE}},
    {SYS_memfd_create, "memfd_create", {EMFILE}},
    {SYS_mmap, "mmap", {ENOMEM}},
    {SYS_poll, "poll", {EINTR}},
    {SYS_clone, "clone", {EAGAIN}},
    {SYS_clone3, "clone", {EAGAIN}},
    {SYS_vfork, "vfork", {EAGAIN}},
    {SYS_execve, "exec", {EACCES}},
};

enum { KINDS = sizeof kinds / sizeof *kinds };

static int kind_of(long number)
{
    for (int i = 0; i < KINDS; i++)
        if (kinds[i].number == number)
            return i;
    return -1;
}

/* What the n-th counted call is, from the run that counts. */
typedef struct call_list {
    int *kinds;
    long count;
} call_list;

typedef struct fault_plan {
    long wanted, seen; /* calls from 1 on */
    int error;
    call_list *list; /* where to note them; NULL: none */
    char place[256]; /* the file of the call that failed */
} fault_plan;

static void place_of(const traced_call *call, char *place, size_t size)
{
    place[0] = '\0';
    switch (call->number) {
    case SYS_openat:
    case SYS_newfstatat:
        place[trace_read(call->process, call->arguments[1], place, size - 1)] = '\0';
        if (place[0])
            break; /* else fstat() of an open file */
        __attribute__((fallthrough));
    case SYS_read:
    case SYS_pread64:
    case SYS_readv:
    case SYS_write:
    case SYS_pwrite64:
    case SYS_fstat:
    case SYS_close:
    case SYS_lseek:
    case SYS_getdents64:
    case SYS_fsync:
    case SYS_fdatasync:
        trace_path(call->process, (int)call->arguments[0], place, size);
        break;
    case SYS_mmap:
        trace_path(call->process, (int)call->arguments[4], place, size);
        break;
    case SYS_access:
    case SYS_readlink:
    case SYS_unlink:
    case SYS_rename:
    case SYS_mkdir:
        place[trace_read(call->process, call->arguments[0], place, size - 1)] = '\0';
        break;
    default:
        break;
    }
}

/* A shorter read or write of two bytes or more; packets and pipes' closing reads have no half. */
static bool has_half(const traced_call *call)
{
    char path[64];
    trace_path(call->process, (int)call->arguments[0], path, sizeof path);
    return call->arguments[2] > 1 && strncmp(path, "socket:", 7) != 0;
}

static void on_enter(void *context, const traced_call *call, call_fault *fault)
{
    fault_plan *plan = context;
    int kind = call->counted ? kind_of(call->number) : -1;
    if (kind < 0)
        return;
    plan->seen++;
    fault->last = plan->seen == plan->wanted;
    if (plan->list && plan->list->count < CALLS)
        plan->list->kinds[plan->list->count++] = kind;
    if (plan->seen != plan->wanted)
        return;
    place_of(call, plan->place, sizeof plan->place);
    if (plan->error == SHORT && has_half(call))
        fault->length = call->arguments[2] / 2;
    else if (plan->error != SHORT)
        fault->error = plan->error;
}

static trace_outcome run_traced(const torture_options *options, const tried_command *command,
                                fault_plan *plan)
{
    trace_watch watch = {.program = options->program,
                         .input = "/dev/null",
                         .output = "stdout",
                         .errors = "stderr",
                         .enter = on_enter,
                         .context = plan};
    trace_outcome outcome;
    if (chdir("try") != 0 || !trace_run(command->arguments, &watch, SECONDS, &outcome)) {
        perror("ptrace");
        exit(errno == ENOSYS || errno == EPERM ? 77 : 99);
    }
    if (chdir("..") != 0)
        exit(99);
    return outcome;
}

static trace_outcome run_plain(const tried_command *command)
{
    trace_outcome outcome = {0};
    outcome.late = !try_wait(try_start(command->arguments, "stdout"), SECONDS, &outcome.status);
    return outcome;
}

/* What the system tells of itself may be unknown without being an error. */
static bool is_of_system(const char *place)
{
    static const char *const roots[] = {"/proc", "/sys", "/etc", "/usr", "/lib", "/dev/null"};
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++)
        if (strncmp(place, roots[i], strlen(roots[i])) == 0)
            return true;
    return false;
}

static long wrong, tried;

/* Not by the allocation that failed. */
static const char *judge_again(const tried_command *command, int status)
{
    char *number = getenv("TORTURE_ALLOCATION");
    char *kept = number ? strdup(number) : NULL;
    unsetenv("TORTURE_ALLOCATION");
    const char *why = try_judge_again(command, status);
    if (kept)
        setenv("TORTURE_ALLOCATION", kept, 1);
    free(kept);
    return why;
}

static void report(const tried_command *command, const char *what, long number, const char *place,
                   const trace_outcome *outcome, int reference)
{
    const char *why = outcome->late ? "did not end" : outcome->orphans ? "left a process" : NULL;
    tried++;
    if (!why)
        why = try_judge(command, outcome->status, reference);
    if (why && strstr(why, "other output"))
        why = judge_again(command, outcome->status);
    if (!why || (strstr(why, "success") && try_says_what_lacks()))
        return;
    if (is_of_system(place) && strstr(why, "other output"))
        return;
    wrong++;
    printf("WRONG %s: %s %ld %s: %s\n", command->name, what, number, place, why);
    try_show();
}

/* Of `count`, `most` evenly spread; the turn-th, from 1 on. Another seed takes their neighbours. */
static bool is_taken(const torture_options *options, long most, long turn, long count)
{
    most = most < count ? most : count;
    turn = (turn + options->seed) % count;
    return (turn + 1) * most / count != turn * most / count;
}

static void summarize(const tried_command *command, long count, const char *what)
{
    printf("%s: %ld %s; so far %ld failed, %ld wrong outcomes\n", command->name, count, what, tried,
           wrong);
}

static void torture_allocations(const torture_options *options, tried_command *command,
                                int reference)
{
    char number[32];
    long count = 0;
    unsetenv("TORTURE_ALLOCATION");
    setenv("TORTURE_COUNT", "../count", 1);
    remove("count");
    try_prepare();
    run_plain(command);
    FILE *file = fopen("count", "r");
    if (!file || fread(&count, sizeof count, 1, file) != 1)
        count = 0;
    if (file)
        fclose(file);
    unsetenv("TORTURE_COUNT");
    for (long turn = 1; turn <= count; turn++) {
        if (!is_taken(options, options->most, turn, count))
            continue;
        snprintf(number, sizeof number, "%ld", turn);
        setenv("TORTURE_ALLOCATION", number, 1);
        try_prepare();
        trace_outcome outcome = run_plain(command);
        report(command, "allocation", turn, "", &outcome, reference);
    }
    unsetenv("TORTURE_ALLOCATION");
    summarize(command, count, "allocations");
}

static const char *error_name(int error)
{
    return error == SHORT ? "short" : strerrorname_np(error);
}

static bool is_wanted(const torture_options *options, int kind, int error)
{
    return kinds[kind].errors[error] &&
           (!options->call || strcmp(options->call, kinds[kind].name) == 0);
}

/* How many of each kind of call, so that they are `most` faults of all kinds. */
static long share_of_kind(const torture_options *options, const long counts[KINDS])
{
    long share = 0;
    for (long sum = 0, before = -1; sum < options->most && sum != before; share++) {
        before = sum;
        sum = 0;
        for (int kind = 0; kind < KINDS; kind++)
            sum += counts[kind] < share + 1 ? counts[kind] : share + 1;
    }
    return share;
}

static void torture_calls(const torture_options *options, tried_command *command, int reference)
{
    call_list list = {calloc(CALLS, sizeof(int)), 0};
    fault_plan counting = {.list = &list};
    if (!list.kinds)
        exit(99);
    try_prepare();
    run_traced(options, command, &counting);
    long turns[KINDS] = {0}, counts[KINDS] = {0}, all = 0;
    for (long n = 0; n < list.count; n++)
        for (int i = 0; is_wanted(options, list.kinds[n], i); i++, all++)
            counts[list.kinds[n]]++;
    long share = share_of_kind(options, counts);
    for (long n = 1; n <= list.count; n++) {
        int kind = list.kinds[n - 1];
        for (int i = 0; is_wanted(options, kind, i); i++) {
            char what[64];
            if (!is_taken(options, share, ++turns[kind], counts[kind]))
                continue;
            fault_plan plan = {.wanted = n, .error = kinds[kind].errors[i]};
            try_prepare();
            trace_outcome outcome = run_traced(options, command, &plan);
            snprintf(what, sizeof what, "%s (%s) call", kinds[kind].name,
                     error_name(kinds[kind].errors[i]));
            report(command, what, n, plan.place, &outcome, reference);
        }
    }
    summarize(command, all, "faults of calls");
    free(list.kinds);
}

int main(int argc, char **argv)
{
    torture_options options = {"lnbench", NULL, LONG_MAX, 0};
    const char *only = NULL;
    size_t count;
    if (argc < 5)
        return 2;
    bool calls = strcmp(argv[1], "calls") == 0;
    for (int i = 5; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--most") == 0)
            options.most = atol(argv[i + 1]);
        else if (strcmp(argv[i], "--program") == 0)
            options.program = argv[i + 1];
        else if (strcmp(argv[i], "--seed") == 0)
            options.seed = atol(argv[i + 1]);
        else if (strcmp(argv[i], "--call") == 0)
            options.call = argv[i + 1];
        else
            only = argv[i + 1];
    }
    tried_command *list = commands_read(argv[2], argv[3], &count);
    setenv("LD_PRELOAD", argv[4], 1);
    setenv("TORTURE_PROGRAM", options.program, 1);
    for (size_t i = 0; i < count; i++) {
        if (only && strcmp(only, list[i].name) != 0)
            continue;
        int reference = try_undisturbed(&list[i]);
        (calls ? torture_calls : torture_allocations)(&options, &list[i], reference);
        fflush(stdout);
    }
    printf("%ld %s of %s failed once, %ld wrong outcomes\n", tried,
           calls ? "I/O calls" : "allocations", options.program, wrong);
    return wrong != 0 || tried == 0;
}
