/* two_rstd: mean and rstd in two parts each, so that the rounding of neither is felt: checked.h
 * without its check. */
#ifndef LN_APPLY_TWO_RSTD_H
#define LN_APPLY_TWO_RSTD_H

#define CENTRE_UNCHECKED
#include "apply/checked.h"

#endif
