/* Which file code comes from, by the loader's own word. */
#include "base/hash.h"
#include "worker/child/internal.h"
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <sys/stat.h>

static bool lies_in(const struct link_map *map, void *address)
{
    Dl_info info;
    struct link_map *found = NULL;
    return dladdr1(address, &info, (void **)&found, RTLD_DL_LINKMAP) != 0 && found == map;
}

bool worker_has_code(void *library, void *address)
{
    struct link_map *map;
    return address && dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 && lies_in(map, address);
}

/* ISO C has no cast from a function to void *; POSIX has both in one size. */
#define ADDRESS(function) (*(void *const *)&(function))

static const char *foreign_kernel(const struct link_map *map, const ln_kernel *kernel)
{
    if (!lies_in(map, ADDRESS(kernel->run)))
        return "run";
    if (kernel->bound && !lies_in(map, ADDRESS(kernel->bound)))
        return "bound";
    if (kernel->supports && !lies_in(map, ADDRESS(kernel->supports)))
        return "supports";
    if (kernel->prepare &&
        (!lies_in(map, ADDRESS(kernel->prepare)) || !lies_in(map, ADDRESS(kernel->release))))
        return "prepare";
    return NULL;
}

const char *worker_foreign_code(void *library, const char *path, const ln_plugin *plugin)
{
    static char text[REPLY_TEXT_LENGTH];
    struct link_map *map;
    struct stat loaded, wanted;
    if (dlinfo(library, RTLD_DI_LINKMAP, &map) != 0 || stat(map->l_name, &loaded) != 0 ||
        stat(path, &wanted) != 0 || loaded.st_dev != wanted.st_dev ||
        loaded.st_ino != wanted.st_ino)
        return "the loader gives another file for it";
    if (!worker_has_code(library, dlsym(library, LN_PLUGIN_SYMBOL)) &&
        !worker_has_code(library, dlsym(library, LN_PLUGIN_SYMBOL_V2)))
        return "its " LN_PLUGIN_SYMBOL " comes from a library that it loads, not from itself";
    for (size_t i = 0; i < plugin->count; i++) {
        const char *what = foreign_kernel(map, &plugin->kernels[i]);
        probable_bound *probable = worker_probable_bound(plugin, i);
        if (!what && probable && !lies_in(map, ADDRESS(probable)))
            what = "probable_bound";
        if (!what)
            continue;
        snprintf(text, sizeof text, "%s of kernel %.63s comes from another file", what,
                 plugin->kernels[i].name);
        return text;
    }
    return NULL;
}

typedef struct symbol_listing {
    bool counting;
    int64_t count;
} symbol_listing;

/* Counts the objects that are files (the program itself and the vDSO are none), or sends each. */
static int each_object(struct dl_phdr_info *info, size_t size, void *context)
{
    struct stat status;
    symbol_listing *listing = context;
    (void)size;
    if (!info->dlpi_name[0] || stat(info->dlpi_name, &status) != 0)
        return 0;
    if (listing->counting) {
        listing->count++;
        return 0;
    }
    if (listing->count-- == 0)
        return 1;
    uint64_t identity = hash_bytes(HASH_START, &status.st_dev, sizeof status.st_dev);
    identity = hash_bytes(identity, &status.st_ino, sizeof status.st_ino);
    worker_reply object = {.kind = REPLY_OBJECT, .value = (int64_t)identity};
    snprintf(object.text, sizeof object.text, "%s", info->dlpi_name);
    worker_send(&object);
    return 0;
}

void worker_list_objects(void)
{
    symbol_listing listing = {.counting = true};
    dl_iterate_phdr(each_object, &listing);
    worker_send_done("", listing.count);
    listing.counting = false;
    dl_iterate_phdr(each_object, &listing);
}
