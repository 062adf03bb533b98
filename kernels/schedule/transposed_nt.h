/* transposed_nt: transposed, with y stored around the caches (stream.h) where every row begins a
 * line, and x fetched before the first look at it.
 *
 * For short rows in memory, which fused_nt leaves idle while it does all of a group's arithmetic.
 * Times over that of a non-temporal copy (Zen 5):
 *
 *     hidden            48      64     128     256     768
 *     transposed_nt    1.27    1.04    1.10    1.17    1.45
 *     fused_nt         2.2     1.64    1.21    1.09    1.0
 */
#define LN_NONTEMPORAL
#include "schedule/transposed.h"
