/* Between the plugin (torch_plugin.c) and what needs PyTorch's library (torch.cpp). The library
 * takes long to load, so the plugin opens the second file when one of its kernels is prepared. */
#ifndef LAYERNORM_PEER_TORCH_H
#define LAYERNORM_PEER_TORCH_H

#include <layernorm_plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

/* As in ln_kernel and ln_plugin. */
typedef struct torch_peer {
    int (*set_threads)(unsigned threads);
    int (*prepare)(const ln_problem *problem, void **state);
    void (*release)(void *state);
    void (*run_call)(const void *state, const ln_tensors *tensors);
    void (*run_out)(const void *state, const ln_tensors *tensors);
} torch_peer;

#define TORCH_PEER_FILE "libpytorch_peer.so"
#define TORCH_PEER_SYMBOL "torch_peer_v1"

LN_API const torch_peer *torch_peer_v1(void);

#ifdef __cplusplus
}
#endif

#endif
