/* transposed_nt: transposed, with y stored around the caches (stream.h) where every row begins a
 * line, and x fetched before the first look at it.
 *
 * For rows of up to KEPT vectors: at hidden 64 and 48, from memory, it takes 1.2 times what a
 * non-temporal copy does, where fused_nt, which leaves memory idle while it does all of a group's
 * arithmetic, takes 1.5 and 1.9. From hidden 128 on fused_nt is faster. */
#define LN_NONTEMPORAL
#include "schedule/transposed.h"
