/* The floating-point state that a function must leave as it found it, and what a plugin may have used up. */
#include "worker/child/internal.h"
#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

static unsigned floating_point_control(void)
{
#if defined(__x86_64__)
    return _mm_getcsr() & ~0x3fu;
#elif defined(__aarch64__)
    unsigned long control;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    return (unsigned)control;
#else
    return (unsigned)fegetround();
#endif
}

#if defined(__x86_64__)
#define CONTROL "MXCSR"
enum { FLUSH = 0x8040, ROUNDING = 0x6000, X87_EMPTY = 0xffff };

/* Control word, and a bit pair a register: 3 where it is empty. */
static void read_x87(thread_state *state)
{
    unsigned environment[7] = {0};
    __asm__ volatile("fnstenv %0\n\tfldenv %0" : "+m"(environment));
    state->x87 = environment[0] & 0xffff;
    state->x87_empty = (environment[2] & 0xffff) == X87_EMPTY;
}
#else
#if defined(__aarch64__)
#define CONTROL "FPCR"
enum { FLUSH = 1 << 24 | 1 << 19, ROUNDING = 3 << 22 };
#else
#define CONTROL "floating-point control"
enum { FLUSH = 0, ROUNDING = -1 };
#endif

static void read_x87(thread_state *state)
{
    state->x87 = 0;
    state->x87_empty = true;
}
#endif

void floating_point_set(const thread_state *before)
{
#if defined(__x86_64__)
    unsigned short word = (unsigned short)before->x87;
    _mm_setcsr(before->floating_point);
    __asm__ volatile("fninit\n\tfldcw %0" : : "m"(word));
#elif defined(__aarch64__)
    unsigned long control = before->floating_point;
    __asm__ volatile("msr fpcr, %0" : : "r"(control));
#else
    fesetround((int)before->floating_point);
#endif
}

void floating_point_read(thread_state *state)
{
    *state = (thread_state){.floating_point = floating_point_control()};
    read_x87(state);
}

/* Of the control registers; NULL: nothing. */
static const char *control_change(const thread_state *before, const thread_state *after)
{
    unsigned changed = before->floating_point ^ after->floating_point;
    return changed & FLUSH             ? "changed " CONTROL ": flush to zero"
           : changed & ROUNDING        ? "changed " CONTROL ": rounding"
           : changed                   ? "changed " CONTROL ": exceptions"
           : after->x87 != before->x87 ? "changed the x87 control word"
                                       : NULL;
}

const char *floating_point_compare(const thread_state *before)
{
    thread_state after;
    floating_point_read(&after);
    const char *changed = control_change(before, &after);
    if (!changed && after.x87_empty != before->x87_empty)
        changed = "left the x87 registers in use (emms is missing)";
    if (changed)
        floating_point_set(before);
    return changed;
}

const char *floating_point_take(const thread_state *before, thread_state *loaded)
{
    floating_point_read(loaded);
    const char *changed = control_change(before, loaded);
    if (changed)
        floating_point_set(before);
    return changed;
}

const char *process_exhausted(void)
{
    struct rlimit space;
    int file = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (file < 0 && (errno == EMFILE || errno == ENFILE))
        return "left so many files open that the process can open no more";
    if (file >= 0)
        close(file);
    if (getrlimit(RLIMIT_AS, &space) != 0 || space.rlim_cur != RLIM_INFINITY)
        return NULL;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *map = mmap(NULL, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED)
        return "left so many mappings that the process can make no more";
    munmap(map, page);
    return NULL;
}
