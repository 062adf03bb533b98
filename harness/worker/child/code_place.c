/* Every process that maps a file has its code on the same physical pages: those of the page cache.
 * So a file can have bad luck that no fresh process mends: of two copies of one library, one was
 * 2.7 % slower at 16x4096 in every process, for as long as its file lay in the page cache. Pages
 * that are drawn anew in each process turn that bias, which no interval shows, into noise, which it
 * does.
 *
 * Why is not measured; a cache that is indexed by physical address and that contains the first
 * level would do it: data that falls on the code's sets evicts the code from both, since code that
 * runs from the first level looks old to the second. */
#include "worker/child/internal.h"
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

enum { CODE_PLACE_MOST = 16 << 20, MOST_OBJECTS = 16, UNUSED_PAGES = 64 };

typedef struct symbol_search {
    uintptr_t address;
    bool done;
} symbol_search;

static char *take_pages(size_t bytes)
{
    void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return map == MAP_FAILED ? NULL : map;
}

/* Whole pages, word by word: AddressSanitizer would stop memcpy() between a program's variables. */
__attribute__((no_sanitize("address"))) static void copy_pages(char *to, const void *from,
                                                               size_t bytes)
{
    const volatile uint64_t *words = from;
    for (size_t i = 0; i < bytes / sizeof(*words); i++)
        ((volatile uint64_t *)(void *)to)[i] = words[i];
}

/* The copy takes the segment's place in one step: code may be running in it. */
static bool move_segment(uintptr_t address, size_t bytes, int protection)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uintptr_t begin = address / page * page;
    size_t whole = (address + bytes - begin + page - 1) / page * page;
    void *place = (void *)begin; // NOLINT(performance-no-int-to-ptr)
    char *copy = take_pages(whole);
    if (!copy)
        return false;
    copy_pages(copy, place, whole);
    if (mprotect(copy, whole, protection) != 0 ||
        mremap(copy, whole, whole, MREMAP_MAYMOVE | MREMAP_FIXED, place) == MAP_FAILED) {
        munmap(copy, whole);
        return false;
    }
    __builtin___clear_cache(place, (char *)place + whole);
    return true;
}

static bool is_read_only(const ElfW(Phdr) * segment)
{
    return segment->p_type == PT_LOAD && segment->p_flags & PF_R && !(segment->p_flags & PF_W);
}

static int visit_object(struct dl_phdr_info *info, size_t size, void *context)
{
    static uintptr_t moved[MOST_OBJECTS]; /* objects, by where they are loaded */
    static size_t moved_count;
    symbol_search *search = context;
    bool found = false;
    size_t bytes = 0;
    (void)size;
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        found |= segment->p_type == PT_LOAD &&
                 search->address - (info->dlpi_addr + segment->p_vaddr) < segment->p_memsz;
        bytes += is_read_only(segment) ? segment->p_memsz : 0;
    }
    bool movable = found && bytes <= CODE_PLACE_MOST && moved_count < MOST_OBJECTS;
    for (size_t i = 0; i < moved_count; i++)
        movable &= moved[i] != info->dlpi_addr;
    if (!movable)
        return found;
    moved[moved_count++] = info->dlpi_addr;
    search->done = true;
    for (size_t i = 0; search->done && i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        int protection = PROT_READ | (segment->p_flags & PF_X ? PROT_EXEC : 0);
        if (is_read_only(segment))
            search->done =
                move_segment(info->dlpi_addr + segment->p_vaddr, segment->p_memsz, protection);
    }
    return found;
}

bool code_place_draw(void (*function)(void), uint64_t draw)
{
    symbol_search search = {.address = (uintptr_t)function};
    /* Pages that are touched and kept, so that what is taken next lies elsewhere. */
    size_t page = (size_t)sysconf(_SC_PAGESIZE), count = draw % UNUSED_PAGES;
    volatile char *unused = count > 0 ? take_pages(count * page) : NULL;
    for (size_t i = 0; unused && i < count; i++)
        unused[i * page] = 1;
    dl_iterate_phdr(visit_object, &search);
    return search.done;
}
