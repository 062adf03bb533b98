/* Runs a command under a filter that refuses some system calls, as a container's filter does.
 * usage: refuse_calls NAME[,NAME...] COMMAND [ARGUMENT...]
 * The exit code is that of the command, or 77 if such a filter cannot be set. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
    const char *name;
    unsigned number;
} calls[] = {
    {"getrandom", SYS_getrandom},
    {"clone3", SYS_clone3},
    {"memfd_create", SYS_memfd_create},
    {"timer_create", SYS_timer_create},
    {"timer_settime", SYS_timer_settime},
    {"madvise", SYS_madvise},
    {"mremap", SYS_mremap},
    {"sched_setaffinity", SYS_sched_setaffinity},
    {"sigaltstack", SYS_sigaltstack},
    {"perf_event_open", SYS_perf_event_open},
    {"close_range", SYS_close_range},
};

int main(int argc, char **argv)
{
    enum { CALLS = sizeof calls / sizeof *calls, SKIPPED = 77 };
    struct sock_filter steps[2 * CALLS + 2];
    unsigned short count = 0;
    if (argc < 3)
        return 2;
    steps[count++] =
        (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (char *name = strtok(argv[1], ","); name; name = strtok(NULL, ","))
        for (size_t i = 0; i < CALLS; i++) {
            if (strcmp(name, calls[i].name) != 0)
                continue;
            steps[count++] =
                (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[i].number, 0, 1);
            steps[count++] =
                (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
        }
    steps[count++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog filter = {count, steps};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
        return SKIPPED;
    execvp(argv[2], argv + 2);
    perror(argv[2]);
    return 2;
}
