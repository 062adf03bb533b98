/* liblnjudge makes rows of families alone, and is asked for no file. */
#include "inputs/typed.h"

bool input_rows_of_file(const char *path, ln_type type, size_t first, size_t count, size_t hidden,
                        void *x, error *err)
{
    (void)type, (void)first, (void)count, (void)hidden, (void)x;
    return fail(err, EXIT_CODE_USAGE, "%s: this library reads no files", path);
}
