/* liblnjudge makes rows of families alone, and is asked for no file. */
#include "base/die.h"
#include "inputs/typed.h"

void input_rows_of_file(const char *path, ln_type type, size_t first, size_t count, size_t hidden,
                        void *x)
{
    (void)type, (void)first, (void)count, (void)hidden, (void)x;
    die(EXIT_CODE_USAGE, "%s: this library reads no files", path);
}
