/* Replaces libFuzzer: runs each file of the given directories once. */
#include "fuzz.h"
#include <dirent.h>

static int replay(const char *directory, const char *name)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "rb");
    if (!file)
        return 0;
    static uint8_t bytes[1 << 20];
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    uint8_t *own = malloc(size ? size : 1); /* so that a read beyond the end is detected */
    if (!own)
        abort();
    memcpy(own, bytes, size);
    fprintf(stderr, "%s\n", path); /* the last printed path is the one that failed */
    LLVMFuzzerTestOneInput(own, size);
    free(own);
    return 1;
}

int main(int argc, char **argv)
{
    int count = 0;
    for (int i = 1; i < argc; i++) {
        DIR *directory = opendir(argv[i]);
        for (struct dirent *entry; directory && (entry = readdir(directory));)
            if (entry->d_name[0] != '.')
                count += replay(argv[i], entry->d_name);
        if (directory)
            closedir(directory);
    }
    printf("%d inputs\n", count);
    return count == 0;
}
