/* The interface between a plugin (torch_plugin.c, xsmm_plugin.c) and the shared library that is linked with its peer
 * (torch.cpp, xsmm.c). Some peers take long to load, or change the process when they are loaded, so the plugin opens
 * that library when one of its kernels is prepared. */
#ifndef LAYERNORM_PEER_LATE_H
#define LAYERNORM_PEER_LATE_H

#include <dlfcn.h>
#include <layernorm_plugin.h>
#include <stdio.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The functions have the meaning of those in ln_kernel and ln_plugin_table. set_threads and run_out may be NULL. */
typedef struct late_peer {
    int (*set_threads)(unsigned threads);
    int (*prepare)(const ln_problem *problem, void **state);
    void (*release)(void *state);
    void (*run_call)(const void *state, const ln_tensors *tensors);
    void (*run_out)(const void *state, const ln_tensors *tensors);
} late_peer;

#define LATE_PEER_SYMBOL "late_peer_v1"

LN_API const late_peer *late_peer_v1(void);

/* Opens a library in the folder of this plugin and returns its functions; NULL: it cannot be loaded. */
static inline const late_peer *late_peer_open(const char *file)
{
    Dl_info own;
    char path[4096];
    static const char anchor = 0;
    if (dladdr(&anchor, &own) == 0 || !own.dli_fname)
        return NULL;
    const char *slash = strrchr(own.dli_fname, '/');
    int directory = slash ? (int)(slash - own.dli_fname) + 1 : 0;
    int length = snprintf(path, sizeof path, "%.*s%s", directory, own.dli_fname, file);
    void *library = length < (int)sizeof path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    const late_peer *(*entry)(void) = NULL;
    if (library)
        *(void **)&entry = dlsym(library, LATE_PEER_SYMBOL);
    return entry ? entry() : NULL;
}

#ifdef __cplusplus
}
#endif

#endif
