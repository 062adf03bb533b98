/* How long a duet measures. */
#include "compare/duet/duet.h"
#include <math.h>

enum { LEAST_CONFIRMATION = 20 };

unsigned duet_least_processes(double confidence)
{
    return (unsigned)ceil(1 + log2(1 / (1 - confidence)));
}

unsigned duet_confirmation(unsigned searched, unsigned least, double seconds_left,
                           double seconds_each)
{
    unsigned wanted = 2 * searched > LEAST_CONFIRMATION ? 2 * searched : LEAST_CONFIRMATION;
    double room = seconds_left / seconds_each;
    if (wanted < least)
        wanted = least;
    if (room < (double)wanted)
        wanted = room > 0 ? (unsigned)room : 0;
    return wanted < least ? 0 : wanted;
}
