/* SPDX-License-Identifier: Apache-2.0 */
/* A locale that writes 0,5 for a half, which a host may have set. Debian's base system has none, so
 * its file (glibc's LC_NUMERIC) is made here. */
#ifndef HAYAI_TESTS_COMMA_LOCALE_H
#define HAYAI_TESTS_COMMA_LOCALE_H

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static inline void comma_locale_set(void)
{
    static const char numeric[] = "\x14\x11\x03\x20\6\0\0\0\x20\0\0\0\x22\0\0\0\x24\0\0\0\x28\0\0\0"
                                  "\x2c\0\0\0\x30\0\0\0,\0.\0\3\3\0\0,\0\0\0.\0\0\0UTF-8";
    char folder[64], part[80], path[96], half[8];
    snprintf(folder, sizeof folder, "/tmp/comma-locale-%ld", (long)getpid());
    snprintf(part, sizeof part, "%s/comma", folder);
    snprintf(path, sizeof path, "%s/LC_NUMERIC", part);
    FILE *file = mkdir(folder, 0700) || mkdir(part, 0700) ? NULL : fopen(path, "w");
    if (!file || fwrite(numeric, sizeof numeric, 1, file) != 1 || fclose(file) ||
        setenv("LOCPATH", folder, 1) || !setlocale(LC_NUMERIC, "comma") ||
        snprintf(half, sizeof half, "%.1f", 0.5) != 3 || half[1] != ',')
        abort();
    unlink(path);
    rmdir(part);
    rmdir(folder);
}

#endif
